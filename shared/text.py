"""Text from outside, made safe to store and to send: work is done on code points, never on bytes."""

import re
import unicodedata

# C0 and C1 controls but tab and newline; unpaired surrogates; non-characters that JSON parsers choke on.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MAX_MARKS = 30
_NEWLINES = re.compile("\r\n?|\u2028|\u2029")


def clean(text: str) -> str:
    """`text` without control characters and unpaired surrogates, line ends unified, in NFC."""
    return unicodedata.normalize("NFC", _without_towers(_UNSAFE.sub("", _NEWLINES.sub("\n", text))))


def _without_towers(text: str) -> str:
    """`text` with at most 30 combining marks in a row (UAX #15, stream-safe text): sorting them is quadratic."""
    if text.isascii():
        return text
    kept = []
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def cut(text: str, limit: int) -> str:
    """At most `limit` code points of `text`, never ending inside a surrogate pair or before a combining mark."""
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    return text[:end]


def fold(text: str) -> str:
    """`text` for comparing: case folded, accents dropped (`ñ` becomes `n`), as people type in chat."""
    # Decomposed twice: a mathematical bold A has a lower case only once it is taken apart; others come apart in it.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def estimate_tokens(text: str) -> int:
    """A cheap upper-leaning estimate of a text's tokens: four characters each, plus one."""
    return len(text) // 4 + 1
