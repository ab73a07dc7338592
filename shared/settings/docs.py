"""`docs/settings.md` and `jada.example.toml`, made from the schema.

`python -m shared.settings.docs --write` writes both, `--check` fails when one is out of date.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from shared.secret import Secret
from shared.settings.fields import Field, all_fields
from shared.settings.schema import Settings
from shared.settings.sources import ALIASES, RESERVED

_ROOT = Path(__file__).parents[2]
_HERE = Path(__file__).parent
_UNITS = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))


def documents() -> dict[str, str]:
    """Both documents' text by their path in the repository."""
    return {"docs/settings.md": page(), "jada.example.toml": example()}


def page() -> str:
    """Render a table per section, in Markdown."""
    parts = [(_HERE / "page_head.md").read_text("utf-8")]
    for section, fields in _sections():
        parts.append(f"\n## {section}\n\n{_meaning(section)}\n\n{_table(fields)}")
    aliases = {name: f"The same as `{all_fields()[key].variable}`." for name, key in ALIASES.items()}
    rows = [f"| `{name}` | {meaning} |" for name, meaning in (RESERVED | aliases).items()]
    parts.append("\n## Other variables\n\n" + "\n".join(["| variable | meaning |", "|---|---|", *rows]) + "\n")
    return "".join(parts)


def example() -> str:
    """Render a TOML file with every setting in a comment, at its default."""
    parts = [(_HERE / "example_head.toml").read_text("utf-8")]
    for section, fields in _sections():
        parts.append(f"\n# {_meaning(section)}\n[{section}]\n")
        for field in fields:
            limits = f" ({field.allowed})" if field.range else ""
            parts.append(f"\n# {field.meta.description}{limits}\n# {field.name} = {_toml(field.default)}\n")
    return "".join(parts)


def _sections() -> list[tuple[str, list[Field]]]:
    return [(name, list(group)) for name, group in groupby(all_fields().values(), key=lambda field: field.section)]


def _meaning(section: str) -> str:
    kinds = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    return inspect.getdoc(kinds[section]) or ""


def _table(fields: Sequence[Field]) -> str:
    lines = ["| name | TOML key | variable | type | default | range | meaning |", "|---|---|---|---|---|---|---|"]
    for field in fields:
        cells = (
            field.name,
            f"`{field.key}`",
            f"`{field.variable}`",
            field.type_name,
            _default(field),
            f"`{field.range}`" if field.meta.pattern else field.range,
            field.meta.description or "",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _default(field: Field) -> str:
    if field.default in ("", Secret()):
        return "empty"
    written = f"`{_toml(field.default)}`"
    if field.name.endswith("_bytes"):
        for unit, size in _UNITS:
            if field.default % size == 0:
                return f"{written} ({field.default // size} {unit})"
    return written


def _toml(value: Any) -> str:
    # JSON writes text, numbers and booleans as TOML reads them.
    return json.dumps(str(value) if isinstance(value, Secret) else value, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None, root: Path = _ROOT) -> int:
    """Write or check the documents under `root`; the exit status: 1 when `--check` finds one out of date."""
    parser = argparse.ArgumentParser(prog="python -m shared.settings.docs", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the documents")
    mode.add_argument("--check", action="store_true", help="fail when a document is out of date")
    write: bool = parser.parse_args(arguments).write
    stale = [name for name, text in documents().items() if _read(root / name) != text]
    for name in stale:
        if write:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(documents()[name], "utf-8")
        sys.stdout.write(f"{name}: {'written' if write else 'out of date'}\n")
    return 1 if stale and not write else 0


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
