"""The words of time of each language, read once from the TOML files beside this module."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = ("es", "en")


class Part(msgspec.Struct, frozen=True):
    """A part of the day: spans of hours counted from its midnight, and the hour meant when none is said.

    An hour over 24 belongs to the small hours of the next day, as in "tonight at 1".
    """

    name: str
    spans: tuple[tuple[int, int], ...]
    hour: int | None = None

    def has(self, hour: int) -> bool:
        """Whether `hour`, counted from midnight, lies in this part."""
        return any(first <= hour <= last for first, last in self.spans)


Value = int | str | bool | Part
Roles = dict[str, Value]


class Texts(msgspec.Struct, frozen=True):
    """What a user reads, as format strings."""

    weekdays: list[str]
    months: list[str]
    date: str
    remedy: str
    duration_remedy: str
    refused: dict[str, str]
    assumed: dict[str, str]


class Lexicon(msgspec.Struct, frozen=True):
    """One language: its conventions, its phrases by first word (longest first) with their roles, its texts."""

    language: Language
    day_first: bool
    weekday_takes_day: bool
    phrases: dict[str, list[tuple[tuple[str, ...], Roles]]]
    texts: Texts


@cache
def lexicon(language: Language) -> Lexicon:
    """The words and texts of `language`."""
    words = tomllib.loads(_read(f"{language}.toml"))
    roles: dict[str, Roles] = {}
    for kind, phrase, value in _entries(words):
        roles.setdefault(phrase, {})[kind] = value
    phrases: dict[str, list[tuple[tuple[str, ...], Roles]]] = {}
    for phrase, meant in roles.items():
        parts = tuple(phrase.split())
        phrases.setdefault(parts[0], []).append((parts, meant))
    for same_start in phrases.values():
        same_start.sort(key=lambda entry: -len(entry[0]))
    return Lexicon(
        language=language,
        day_first=words["day_first"],
        weekday_takes_day=words["weekday_takes_day"],
        phrases=phrases,
        texts=msgspec.convert(tomllib.loads(_read(f"texts.{language}.toml")), Texts),
    )


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _entries(words: dict[str, Any]) -> list[tuple[str, str, Value]]:
    """Every (role, phrase, value) of a word file."""
    entries: list[tuple[str, str, Value]] = []
    for kind, phrases in words["words"].items():
        entries += [(kind, phrase, True) for phrase in phrases]
    for kind, table in words.items():
        if isinstance(table, dict) and kind not in {"words", "part"}:
            entries += [(kind, phrase, value) for phrase, value in table.items()]
    for name, table in words["part"].items():
        part = Part(name, tuple((first, last) for first, last in table["spans"]), table.get("hour"))
        for kind in ("after_hour", "words", "today"):
            role = {"after_hour": "after_hour", "words": "part", "today": "part_today"}[kind]
            entries += [(role, phrase, part) for phrase in table.get(kind, [])]
    return entries + _compound_numbers(words["number"], words["tens_join"])


def _compound_numbers(numbers: dict[str, int], join: str) -> list[tuple[str, str, Value]]:
    """Number words from 21 to 99 that are written as tens and units: "treinta y cinco", "thirty five"."""
    return [
        ("number", f"{tens} {join} {unit}", ten + one)
        for tens, ten in numbers.items()
        if ten % 10 == 0 and ten >= (30 if join else 20)
        for unit, one in numbers.items()
        if 1 <= one <= 9 and " " not in unit
    ]
