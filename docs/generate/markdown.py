"""The little Markdown that the generated pages need."""

from collections.abc import Iterable, Sequence
from pathlib import Path

_HEADS = Path(__file__).with_name("heads")


def head(page: str) -> str:
    """The hand-written beginning of a page."""
    return (_HEADS / f"{page}.md").read_text("utf-8")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold anything, line ends aside."""
    lines = [_row(columns), "|" + "---|" * len(columns), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """A code span; nothing for an empty text."""
    return f"`{text}`" if text else ""


def sentence(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((docstring or "").strip().split("\n\n")[0].split())


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"
