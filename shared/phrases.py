"""A group's routing phrases, kept as one TOML file a language: `<folder>/es.toml`, `<folder>/en.toml`."""

import re
import tomllib
from pathlib import Path

import msgspec

from shared.errors import Permanent
from shared.messages.tools import Phrases

_LANGUAGE = re.compile("[a-z]{2}")


def load_phrases(folder: Path) -> dict[str, Phrases]:
    """Load the phrases in `folder` by language (ISO 639-1, from the file's name).

    `Permanent` names the file and what is wrong: no file at all, no TOML, an unknown key, a value that is no list of
    texts, a name that is no language.
    """
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise Permanent(f"{folder}: no phrases; every tool group states its own in <language>.toml")
    return {path.stem: _load(path) for path in paths}


def _load(path: Path) -> Phrases:
    if not _LANGUAGE.fullmatch(path.stem):
        raise Permanent(f"{path}: the file's name must be a two-letter language code")
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        phrases = msgspec.convert(tree, Phrases)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as exc:
        raise Permanent(f"{path}: {exc}") from exc
    unknown = sorted(tree.keys() - set(Phrases.__struct_fields__))
    if unknown:
        raise Permanent(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(Phrases.__struct_fields__)}")
    return phrases
