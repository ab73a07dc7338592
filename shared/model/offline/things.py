"""Things that results speak of (notes, reminders), and which of them the user means."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from shared.model.offline.chat import Result
from shared.model.tables import load_table
from shared.text import fold


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """A note or a reminder as a result showed it."""

    kind: str
    id: str
    text: str
    fields: dict[str, Any] = {}


class _Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str
    gone: bool = False


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: list[_Key]
    places: dict[str, int]


_table = load_table("shared.model.offline", "things.toml", _Table)
LAST = -1
_digits = re.compile(r"\d+")
_id_like = re.compile(r"(?=.*\d)[a-z]?[0-9a-f]{3,40}", re.IGNORECASE)
_word = re.compile(r"\w+")


def things_of(result: Result) -> list[Thing]:
    """Return the things a result shows as existing, in its order."""
    return [thing for key in _table.key if not key.gone for thing in _under(result, key)]


def last_shown(results: Sequence[Result]) -> list[Thing]:
    """Return what the newest result with things shows, without what later results deleted."""
    gone: set[str] = set()
    for result in reversed(results):
        gone.update(thing.id for key in _table.key if key.gone for thing in _under(result, key))
        shown = [thing for thing in things_of(result) if thing.id not in gone]
        if shown:
            return shown
    return []


def number_of(word: str) -> int | None:
    """Return the number that digits, a number word or an ordinal stands for; -1 for the last."""
    folded = fold(word)
    digits = _digits.match(folded)
    return int(digits[0]) if digits else _table.places.get(folded)


def at_place(word: str, things: Sequence[Thing]) -> Thing | None:
    """Return the thing at a place named by an ordinal or a number from 1."""
    place = number_of(word)
    if place is None or not things or place == 0 or place > len(things):
        return None
    return things[place - 1 if place > 0 else -1]


def newest(things: Sequence[Thing]) -> Thing | None:
    """Return the thing written last, as its times (RFC 3339) say; `None` when not all have one."""
    times = [str(thing.fields.get("updated_at") or thing.fields.get("created_at") or "") for thing in things]
    if not times or not all(times):
        return None
    return things[max(range(len(times)), key=times.__getitem__)]


def matching(target: str, things: Iterable[Thing]) -> list[Thing]:
    """Return the things whose id is `target`, else those whose text holds it, else all of its words."""
    things = list(things)
    same_id = [thing for thing in things if thing.id == target]
    if same_id:
        return same_id
    folded = fold(target)
    holding = [thing for thing in things if folded in fold(thing.text)]
    if holding:
        return holding
    words = {word for word in _word.findall(folded) if len(word) > 2}
    return [thing for thing in things if words and words <= set(_word.findall(fold(thing.text)))]


def looks_like_id(target: str) -> bool:
    """Whether a target is written like an id (hexadecimal after at most one letter, with a digit), not like words."""
    return _id_like.fullmatch(target) is not None and not target.isdecimal()


def _under(result: Result, key: _Key) -> list[Thing]:
    value = result.data.get(key.name)
    nodes = value if isinstance(value, list) else [value]
    return [
        Thing(kind=key.kind, id=str(node["id"]), text=str(node.get("text", "")), fields=node)
        for node in nodes
        if isinstance(node, dict) and "id" in node
    ]
