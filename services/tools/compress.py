"""Noise is compressed: a tool's result is cut to what a model needs, at item borders, and never silently."""

import bisect
import itertools
from typing import Any

import msgspec

from shared.text import cut

_NOTE = ("truncated", "shown", "total", "ref")
_WORTH_SHOWING = 80


class Shrunk(msgspec.Struct, frozen=True, kw_only=True):
    """A result that fits, and whether anything was left out."""

    value: Any
    truncated: bool


def size(value: Any) -> int:
    """Characters a value takes as JSON."""
    return len(msgspec.json.encode(value).decode())


def shrink(value: Any, limit: int, *, ref: str) -> Shrunk:
    """`value` in at most `limit` characters of JSON (of which the note on what was left out takes some hundred).

    The longest list of an object loses items from its end, `shown` and `total` say how many are left; a long text is
    cut and says how long it was. `ref` is what `read_result` takes to page through the whole.
    """
    if size(value) <= limit:
        return Shrunk(value=value, truncated=False)
    fewer = _fewer_items(value, limit, ref) if isinstance(value, dict) else None
    return Shrunk(value=fewer or _start(value, limit, ref), truncated=True)


def _start(value: Any, limit: int, ref: str) -> dict[str, Any]:
    """The start of a value, as text: of itself if it is one, else of its JSON."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    note = {"truncated": True, "shown_chars": len(text), "total_chars": len(text), "ref": ref}
    shown = fitting(text, limit - size({**note, "text": ""}))
    return {**note, "shown_chars": len(shown), "text": shown}


def _fewer_items(value: dict[str, Any], limit: int, ref: str) -> dict[str, Any] | None:
    """The value with a shorter longest list; None when its longest field is no list or the others are too long."""
    key = max(value, key=lambda k: size(value[k]))
    items = value[key]
    if not isinstance(items, list) or not items or key in _NOTE:
        return None
    rest = {
        **value,
        key: [],
        "truncated": True,
        "shown": len(items),
        "total": value.get("total", len(items)),
        "ref": ref,
    }
    room = limit - size(rest)
    ends = itertools.accumulate(size(item) + 1 for item in items)
    kept = sum(1 for _ in itertools.takewhile(lambda end: end <= room, ends))
    if kept:
        return {**rest, key: items[:kept], "shown": kept}
    if room < _WORTH_SHOWING:
        return None
    return {**rest, key: [fitting(msgspec.json.encode(items[0]).decode(), room - 2)], "shown": 1}


def fitting(text: str, room: int) -> str:
    """The longest start of `text` that takes at most `room` characters between the quotes of JSON."""
    lengths = range(max(0, min(len(text), room)) + 1)
    return cut(text, max(0, bisect.bisect_right(lengths, room + 2, key=lambda n: size(text[:n])) - 1))
