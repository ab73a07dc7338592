"""From a phrase to typed tokens. Every token keeps its words as written, for a refusal to show."""

import itertools
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from shared.text import fold
from shared.when.words import Lexicon, Roles, Value

_DIGITS = frozenset("0123456789")
_LONGEST_NUMBER = 8
_SEPARATORS = frozenset(".,:/-")  # mean something between two digits
_PUNCTUATION = frozenset('.,:;!?¡¿"()«»“”…')  # mean nothing elsewhere
_PLAIN_QUOTE = str.maketrans({"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{ACUTE ACCENT}": "'", "`": "'"})


class Piece(msgspec.Struct, frozen=True):
    """A word, number or symbol as written; `glued` when nothing stands between it and the one before."""

    text: str
    glued: bool


class Token(msgspec.Struct, frozen=True):
    """Words of the phrase and what they may mean: role to value. No role at all means not understood."""

    text: str
    roles: dict[str, Value | date | timedelta | ZoneInfo]
    glued: bool = False


def written(tokens: list[Token]) -> tuple[str, ...]:
    """The words of `tokens` as they were written."""
    words: list[str] = []
    for token in tokens:
        if token.glued and words:
            words[-1] += token.text
        else:
            words.append(token.text)
    return tuple(words)


def tokenize(text: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of `text`: the longest known phrase wins at each place, polite fillers are dropped."""
    tokens: list[Token] = []
    for _, group in itertools.groupby(_chunks(text), key=lambda chunk: isinstance(chunk, Token)):
        pieces: list[Piece] = []
        for chunk in group:
            if isinstance(chunk, Token):
                tokens.append(chunk)
            else:
                pieces += _pieces(chunk)
        tokens += _match(pieces, lexicon)
    return [token for token in tokens if "filler" not in token.roles]


def _chunks(text: str) -> Iterator[str | Token]:
    """The words between spaces; ISO 8601 dates, zone names and UTC offsets are tokens as they stand."""
    words = text.translate(_PLAIN_QUOTE).split()
    skip = False
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        if skip:
            skip = False
            continue
        joined = _iso_with_offset(word, following)
        skip = joined is not None
        yield joined or _iso(word) or _zone(word) or word


def _iso(word: str) -> Token | None:
    bare = word.strip("(),.;").upper()
    if len(bare) < 8 or not _DIGITS.issuperset(bare[:4]):
        return None
    try:
        if "T" in bare:
            return Token(word, {"instant": datetime.fromisoformat(bare)})
        return Token(word, {"iso": date.fromisoformat(bare)})
    except ValueError:
        return None


def _iso_with_offset(word: str, following: str) -> Token | None:
    """RFC 3339 allows a space for the T: "2026-12-05 19:05+01:00"."""
    if len(word) != 10 or ":" not in following or not set("+-Zz") & set(following):
        return None
    token = _iso(f"{word}T{following}")
    return Token(f"{word} {following}", token.roles) if token else None


def _zone(word: str) -> Token | None:
    """A name of the IANA database with a slash or in parentheses, UTC, or an offset as in "UTC-5"."""
    bare = word.strip("(),.;")
    upper = bare.upper()
    if upper in {"UTC", "GMT"}:
        return Token(word, {"zone": ZoneInfo("UTC")})
    if upper.startswith(("UTC+", "UTC-", "GMT+", "GMT-")):
        return _offset(word, upper[3:])
    if not bare[:1].isalpha() or not ("/" in bare or word.startswith("(")):
        return None
    try:
        return Token(word, {"zone": ZoneInfo(bare)})
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _offset(word: str, signed: str) -> Token | None:
    hours, _, minutes = signed[1:].partition(":")
    if not (_DIGITS.issuperset(hours + minutes) and len(hours) in {1, 2} and len(minutes) in {0, 2}):
        return None
    size = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if size >= timedelta(hours=24):
        return None
    return Token(word, {"offset": size if signed[0] == "+" else -size})


def _kind(char: str) -> str:
    if char in _DIGITS:
        return "digit"
    return "letter" if char.isalpha() or char == "'" else "symbol"


def _pieces(chunk: str) -> Iterator[Piece]:
    """Runs of digits, runs of letters, and the symbols that mean something, one by one."""
    start = ended = 0
    while start < len(chunk):
        kind = _kind(chunk[start])
        end = start + 1
        while kind != "symbol" and end < len(chunk) and _kind(chunk[end]) == kind:
            end += 1
        piece = chunk[start:end].strip("'")
        if piece and (kind != "symbol" or _matters(chunk, start)):
            yield Piece(piece, glued=0 < ended == start)
            ended = end
        start = end


def _matters(chunk: str, at: int) -> bool:
    symbol = chunk[at]
    around = {_kind(chunk[at - 1]), _kind(chunk[at + 1])} if 0 < at < len(chunk) - 1 else set()
    if around == {"digit"} and symbol in _SEPARATORS:
        return True
    if around == {"letter"} and symbol == "-":  # "twenty-five"
        return False
    return symbol not in _PUNCTUATION


def _match(pieces: list[Piece], lexicon: Lexicon) -> Iterator[Token]:
    folded = [fold(piece.text) for piece in pieces]
    at = 0
    while at < len(pieces):
        length, roles = _roles(folded, at, lexicon)
        words = " ".join(piece.text for piece in pieces[at : at + length])
        yield Token(words, {**roles}, glued=pieces[at].glued)
        at += length


def _roles(folded: list[str], at: int, lexicon: Lexicon) -> tuple[int, Roles]:
    """The longest phrase of the language that starts at `at`: its length in words and its roles."""
    word = folded[at]
    for phrase, roles in lexicon.phrases.get(word, ()):
        if folded[at : at + len(phrase)] == list(phrase):
            return len(phrase), roles
    if word in _SEPARATORS:
        return 1, {"sep": word}
    if word and _DIGITS.issuperset(word) and len(word) <= _LONGEST_NUMBER:
        return 1, {"number": int(word), "digits": word}
    return 1, {}
