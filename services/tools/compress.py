"""Noise is compressed: a tool's result is cut to what a model needs, at item borders, and never silently."""

from typing import Any

import msgspec

from shared.text import cut


class Shrunk(msgspec.Struct, frozen=True, kw_only=True):
    """A result that fits, and whether anything was left out."""

    value: Any
    truncated: bool


def size(value: Any) -> int:
    """Characters a value takes as JSON."""
    return len(msgspec.json.encode(value).decode())


def shrink(value: Any, limit: int, *, ref: str) -> Shrunk:
    """`value` in at most about `limit` characters of JSON.

    The longest list of an object loses items from its end, `shown` and `total` say how many are left; a long text is
    cut and says how long it was. `ref` is what `read_result` takes to page through the whole.
    """
    if size(value) <= limit:
        return Shrunk(value=value, truncated=False)
    if isinstance(value, dict):
        key = max(value, key=lambda k: size(value[k]))
        if isinstance(value[key], list) and value[key]:
            return Shrunk(value=_fewer_items(value, key, limit, ref), truncated=True)
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    note = {"truncated": True, "shown_chars": 0, "total_chars": len(text), "ref": ref, "text": ""}
    shown = cut(text, max(0, limit - size(note)))
    return Shrunk(value={**note, "shown_chars": len(shown), "text": shown}, truncated=True)


def _fewer_items(value: dict[str, Any], key: str, limit: int, ref: str) -> dict[str, Any]:
    items = value[key]
    note = {"truncated": True, "shown": 0, "total": value.get("total", len(items)), "ref": ref}
    room = limit - size({**value, key: [], **note})
    kept = 0
    for item in items:
        room -= size(item) + 1
        if room < 0:
            break
        kept += 1
    if kept == 0:
        first = msgspec.json.encode(items[0]).decode()
        return {**value, key: [cut(first, max(0, limit // 2))], **note, "shown": 1}
    return {**value, key: items[:kept], **note, "shown": kept}
