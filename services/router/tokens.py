"""A message as folded words with clause numbers: what every word pattern is matched against."""

import re
import unicodedata
from collections.abc import Set as AbstractSet

import msgspec

from shared.text import fold

# A pasted document is routed by its head and its tail: the request stands before or after it, and time stays bounded.
HEAD_CHARS = 2000
TAIL_CHARS = 1000

URL = "http"
ADDRESS = "@"
SUBREDDIT = "r/"
STOP = ""

_ADDRESS = r"(?P<address>[\w.+-]{1,64}@[\w-]{1,64}\.\w[\w.-]{0,64})"
_REST = r"""(?P<url>(?:[hH][tT]{2}[pP][sS]?://|[wW]{3}\.)\S+)
    | (?P<subreddit>\b[rR]/(?=\w))
    | (?P<word>\d+(?:[.,:]\d+)+ | \w+(?:['\u2019]\w+)*)
    | (?P<stop>[,;!?:…\n] | \.(?!\w))"""
_TOKEN = re.compile(_REST, re.VERBOSE)
# Trying every word as a mail address would double the time of the many messages that have none.
_TOKEN_OR_ADDRESS = re.compile(f"{_ADDRESS} | {_REST}", re.VERBOSE)
_APOSTROPHES = str.maketrans("", "", "'\u2019")


class Tokens(msgspec.Struct, frozen=True):
    """The words of a text, folded, each with the clause it stands in and its place in `text`.

    Punctuation is the word `STOP`, which no pattern meets. A link is the word `URL`, a mail address `ADDRESS`,
    and `SUBREDDIT` stands before the name of one.
    """

    text: str
    words: list[str]
    clauses: list[int]
    spans: list[tuple[int, int]]
    count: int

    def original(self, start: int, end: int) -> str:
        """Return what the user wrote for the words from `start` up to, not including, `end`."""
        return self.text[self.spans[start][0] : self.spans[end - 1][1]]

    def clause_bounds(self) -> list[tuple[int, int]]:
        """Tell where each clause that has words starts and ends, in order; connectors belong to no clause."""
        bounds: list[tuple[int, int]] = []
        for i, (word, clause) in enumerate(zip(self.words, self.clauses, strict=True)):
            if word == STOP or clause < 0:
                continue
            if bounds and self.clauses[bounds[-1][0]] == clause:
                bounds[-1] = (bounds[-1][0], i + 1)
            else:
                bounds.append((i, i + 1))
        return bounds


def tokenise(text: str, connectors: AbstractSet[str] = frozenset()) -> Tokens:
    """Split `text` into words; a clause ends at a connector ("y", "then") and at punctuation.

    A connector has clause -1. Of a text over `HEAD_CHARS + TAIL_CHARS` only the head and the tail are read.
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    text = unicodedata.normalize("NFC", text)
    words: list[str] = []
    clauses: list[int] = []
    spans: list[tuple[int, int]] = []
    clause = count = 0
    for match in (_TOKEN_OR_ADDRESS if "@" in text else _TOKEN).finditer(text):
        word = _word(match)
        words.append(word)
        spans.append(match.span())
        if word == STOP:
            clause += 1
        elif word in connectors:
            clause += 1
            clauses.append(-1)
            count += 1
            continue
        else:
            count += 1
        clauses.append(clause)
    return Tokens(text, words, clauses, spans, count)


def _word(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "word":
        word = match.group()
        return word.lower() if word.isascii() and word.isalnum() else fold(word).translate(_APOSTROPHES)
    if kind == "url":
        return URL
    if kind == "address":
        return ADDRESS
    return SUBREDDIT if kind == "subreddit" else STOP
