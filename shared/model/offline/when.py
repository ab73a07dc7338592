"""Finds the time in a reminder's words: "llamar a Ana mañana a las 7" is "llamar a Ana" at "mañana a las 7"."""

import re

import msgspec

from shared.model.offline.patterns import expand, fold_aligned
from shared.model.tables import load_table


class _Pieces(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pieces: list[str]


class _Glue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: str
    after: str


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    words: dict[str, str]
    clock: _Pieces
    day: _Pieces
    glue: _Glue


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """What to be reminded of, and when: each in the user's own words, empty when it was not said."""

    text: str = ""
    when: str = ""


def _compile() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    table = load_table("shared.model.offline", "when.toml", _Table)
    clock = "|".join(expand(piece, table.words) for piece in table.clock.pieces)
    day = "|".join(expand(piece, table.words) for piece in table.day.pieces)
    piece = rf"(?:{day}|{clock})(?!\w)"
    when = rf"(?<!\w){piece}(?:,?\s+{piece})*"
    return (
        re.compile(when),
        re.compile(rf"(?:{clock})(?!\w)"),
        re.compile(table.glue.before),
        re.compile(rf"{table.glue.after}$"),
    )


_when, _clock, _before, _after = _compile()


def split_when(words: str) -> Errand:
    """Split a reminder's words into errand and time.

    A time counts at the beginning and at the end, both together when one is a day and the other a clock time; in the
    middle only when there is none elsewhere.
    """
    words = _unglued(words)
    folded = fold_aligned(words)
    spans = [match.span() for match in _when.finditer(folded)]
    end = len(folded.rstrip(" .!?"))
    first = next((span for span in spans if span[0] == 0), None)
    last = next((span for span in spans if span[1] >= end and span != first), None)
    chosen = [span for span in (first, last) if span is not None]
    if len(chosen) == 2 and _has_clock(folded, chosen[0]) == _has_clock(folded, chosen[1]):
        chosen = chosen[:1]
    if not chosen and spans:
        chosen = [max(spans, key=lambda span: span[1] - span[0])]
    kept, at = [], 0
    for start, stop in chosen:
        kept.append(words[at:start])
        at = stop
    kept.append(words[at:])
    text = " ".join(part for part in (_unglued(part) for part in kept) if part)
    return Errand(text=text.rstrip(" .?!"), when=" ".join(words[start:stop] for start, stop in chosen))


def is_when(words: str) -> bool:
    """Whether the words are a time and nothing else."""
    return _when.fullmatch(fold_aligned(words).strip(" .!?¿¡,")) is not None


def _has_clock(folded: str, span: tuple[int, int]) -> bool:
    return _clock.search(folded, *span) is not None


def _unglued(words: str) -> str:
    words = words.strip()
    head = _before.match(fold_aligned(words))
    words = words[head.end() :] if head else words
    tail = _after.search(fold_aligned(words))
    return (words[: tail.start()] if tail else words).strip()
