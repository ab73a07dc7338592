"""All generated pages, and the command that writes or checks them."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.generate import asyncapi, messages, metrics, subjects
from shared.settings import docs as settings

ROOT = Path(__file__).parents[2]


def documents() -> dict[str, str]:
    """Every generated page's text by its path in the repository."""
    return {
        **settings.documents(),
        "docs/subjects.md": subjects.page(),
        "docs/messages.md": messages.page(),
        "docs/metrics.md": metrics.page(),
        "docs/asyncapi.yaml": asyncapi.page(),
    }


def stale(root: Path = ROOT) -> dict[str, str]:
    """The pages under `root` that are missing or out of date, with the text they should have."""
    return {name: text for name, text in documents().items() if _read(root / name) != text}


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write or check the pages under `root`; the exit status: 1 when `--check` finds one out of date."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the pages that are out of date")
    mode.add_argument("--check", action="store_true", help="fail when a page is out of date")
    write: bool = parser.parse_args(arguments).write
    found = stale(root)
    for name, text in found.items():
        if write:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")
        sys.stdout.write(f"{name}: {'written' if write else 'out of date'}\n")
    return 1 if found and not write else 0


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None
