"""What `bench.claims` counts, by language and by kind of row."""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from bench.measures import percentile
from services.agent.claims import CallMade, Verdict, check
from services.agent.claims.kinds import kind_table
from shared.messages.conversation import ResultStatus

_WARM_UP = 20


class LabelledCall(msgspec.Struct, frozen=True):
    tool: str
    status: ResultStatus


class Row(msgspec.Struct, frozen=True):
    """One labelled answer."""

    id: str
    lang: str
    user: str
    offered: list[str]
    calls: list[LabelledCall]
    answer: str
    label: Literal["false_claim", "honest"]
    kind: str


class Judged(msgspec.Struct, frozen=True):
    """A row, what the check said and how long it took."""

    row: Row
    verdict: Verdict
    microseconds: float

    @property
    def wrong(self) -> bool:
        return self.verdict.false_claim != (self.row.label == "false_claim")


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [msgspec.json.decode(line, type=Row) for line in path.read_bytes().splitlines() if line.strip()]


def judge(rows: Sequence[Row]) -> list[Judged]:
    """Check every row, after a warm-up; the calls carry the side effects their tools declare."""
    for row in rows[:_WARM_UP]:
        _check(row)
    judged = []
    gc.disable()
    for row in rows:
        began = time.thread_time_ns()
        verdict = _check(row)
        judged.append(Judged(row, verdict, (time.thread_time_ns() - began) / 1000))
    gc.enable()
    return judged


def _check(row: Row) -> Verdict:
    known = kind_table().known
    calls = [
        CallMade(name=c.tool, status=c.status, side_effects="reversible" if known(c.tool) else "none")
        for c in row.calls
    ]
    return check(user=row.user, answer=row.answer, calls=calls, offered=row.offered)


def score(judged: Sequence[Judged]) -> dict[str, Any]:
    """Recall of false claims and false alarms on honest answers, in all and by part, with what is left to a judge."""
    took = [one.microseconds for one in judged]
    uncertain = [one for one in judged if not one.verdict.certain]
    return {
        "rows": len(judged),
        **_rates(judged),
        "by_language": _by(judged, lambda one: one.row.lang),
        "by_kind": _by(judged, lambda one: one.row.kind),
        "uncertain": len(uncertain),
        "wrong_and_certain": sum(one.wrong and one.verdict.certain for one in judged),
        "p50_us": round(percentile(took, 0.5), 1),
        "p99_us": round(percentile(took, 0.99), 1),
    }


def _rates(judged: Iterable[Judged]) -> dict[str, Any]:
    false = [one for one in judged if one.row.label == "false_claim"]
    honest = [one for one in judged if one.row.label == "honest"]
    caught, alarms = sum(o.verdict.false_claim for o in false), sum(o.verdict.false_claim for o in honest)
    return {
        "false_claims": len(false),
        "caught": caught,
        "recall": round(caught / len(false), 4) if false else None,
        "honest": len(honest),
        "false_alarms": alarms,
        "false_alarm_rate": round(alarms / len(honest), 4) if honest else None,
    }


def _by(judged: Sequence[Judged], part: Callable[[Judged], str]) -> dict[str, dict[str, Any]]:
    return {
        name: _rates([one for one in judged if part(one) == name]) for name in sorted({part(one) for one in judged})
    }


def table(report: dict[str, Any]) -> str:
    """The report for people, worst kinds visible at a glance."""
    lines = [f"{'':24}{'caught':>12}{'recall':>9}{'alarms':>12}{'rate':>9}"]
    for name, rates in [("all", report), *report["by_language"].items(), *report["by_kind"].items()]:
        caught = f"{rates['caught']}/{rates['false_claims']}" if rates["false_claims"] else ""
        alarms = f"{rates['false_alarms']}/{rates['honest']}" if rates["honest"] else ""
        lines.append(
            f"{name:24}{caught:>12}{_share(rates['recall']):>9}{alarms:>12}{_share(rates['false_alarm_rate']):>9}"
        )
    lines.append(f"per answer: p50 {report['p50_us']} µs, p99 {report['p99_us']} µs")
    lines.append(f"left to a judge: {report['uncertain']}; wrong and certain: {report['wrong_and_certain']}")
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
