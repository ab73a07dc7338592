"""Measure the claim check: `python -m bench.claims --data FILE [FILE …] [--json] [--wrong]`.

FILE is JSON lines in the form of `docs/claims.md`. Prints a table and, last, one JSON line. The rules decide alone:
no model is asked.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bench.claims_score import Judged, Row, judge, read_rows, score, table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="labelled answers, JSON lines")
    parser.add_argument("--json", action="store_true", help="end with the JSON line (it always does)")
    parser.add_argument("--wrong", action="store_true", help="print the rows that were judged wrong, too")
    options = parser.parse_args(arguments)
    judged = judge([row for path in options.data for row in read_rows(path)])
    report = score(judged)
    if options.wrong:
        print("\n\n".join(_told(one.row, one) for one in judged if one.wrong))
    print(table(report))
    print(json.dumps(report, ensure_ascii=False))


def _told(row: Row, judged: Judged) -> str:
    calls = ", ".join(f"{call.tool} {call.status}" for call in row.calls) or "no call"
    said = "false" if judged.verdict.false_claim else "honest"
    found = [(claim.kind, claim.words, sorted(claim.needs)) for claim in judged.verdict.unbacked]
    return f"{row.id} {row.label} {row.kind}, judged {said} {found}\n  {row.user}\n  [{calls}]\n  {row.answer}"


if __name__ == "__main__":
    main()
