"""Word patterns: their syntax, and a table that finds hundreds of them in one pass over a message.

nota            the whole word, accents and case folded
lista del súper the whole words, in this order
televis*        any ending may follow
guard~          an inflectional ending follows: guarda, guardó, guárdamelo; never "guardia"
borr+           an ending with an object pronoun follows: bórrala, borrarlos
pon ... alarma  up to three words may stand between
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from services.router.tokens import ADDRESS, STOP, SUBREDDIT, Tokens, tokenise
from shared.errors import Permanent

GAP = "..."
GAP_WORDS = 3
_BUCKET = 2

T = TypeVar("T")


class BadPattern(Permanent):
    """A pattern that cannot mean anything, or would meet nearly every message."""


class Endings(msgspec.Struct, frozen=True):
    """The endings of one language's inflection, folded: all of them (`~`), those with an object pronoun (`+`)."""

    inflected: frozenset[str] = frozenset()
    referring: frozenset[str] = frozenset()


class _Word(msgspec.Struct, frozen=True):
    stem: str
    mark: str = ""
    endings: frozenset[str] = frozenset()
    after_gap: bool = False

    def fits(self, word: str) -> bool:
        if not self.mark:
            return word == self.stem
        return word.startswith(self.stem) and (self.mark == "*" or word[len(self.stem) :] in self.endings)


class Pattern(msgspec.Struct, Generic[T], frozen=True):
    """One compiled pattern and what it stands for. `solid`: nothing may stand between its words."""

    owner: T
    text: str
    words: tuple[_Word, ...]
    solid: bool


class Found(msgspec.Struct, Generic[T], frozen=True):
    """A pattern met by the words from `start` up to, not including, `end`."""

    pattern: Pattern[T]
    start: int
    end: int


def compile_pattern(text: str, owner: T, endings: Endings) -> Pattern[T]:
    """Compile the pattern `text` states; `BadPattern` says what is wrong with it."""
    words: list[_Word] = []
    gap = False
    for part in text.split():
        if part == GAP:
            if gap or not words:
                raise BadPattern(f"pattern {text!r}: {GAP} stands between two words")
            gap = True
            continue
        mark = part[-1] if part[-1] in "*~+" else ""
        stems = _stems(part.removesuffix(mark) if mark else part)
        if not stems or (mark and len(stems[-1]) < _BUCKET):
            raise BadPattern(f"pattern {text!r}: {part!r} needs at least {_BUCKET if mark else 1} letters")
        for stem in stems[:-1]:
            words.append(_Word(stem, after_gap=gap))
            gap = False
        words.append(_Word(stems[-1], mark, endings.inflected if mark == "~" else endings.referring, gap))
        gap = False
    if not words or gap:
        raise BadPattern(f"pattern {text!r}: needs a word at its end")
    return Pattern(owner, text, tuple(words), not any(w.after_gap for w in words))


def _stems(part: str) -> list[str]:
    """List the words written together in one part of a pattern ("to-do")."""
    return [part] if part in {ADDRESS, SUBREDDIT} else [w for w in tokenise(part).words if w != STOP]


class _Stems(Generic[T]):
    """The open-ended first words that begin with the same letters, by their stems."""

    def __init__(self) -> None:
        self.by_stem: dict[str, list[Pattern[T]]] = {}
        self.lengths: list[int] = []

    def add(self, pattern: Pattern[T]) -> None:
        stem = pattern.words[0].stem
        self.by_stem.setdefault(stem, []).append(pattern)
        self.lengths = sorted({*self.lengths, len(stem)})


class PatternTable(Generic[T]):
    """Patterns by the first word they need, or the first two: many phrases begin with "que" or "the".

    Immutable once made; `find` costs a few lookups a word.
    """

    def __init__(self, patterns: Iterable[Pattern[T]]) -> None:
        self._exact: dict[str, list[Pattern[T]]] = {}
        self._open_ended: dict[str, _Stems[T]] = {}
        for pattern in patterns:
            first = pattern.words[0]
            if first.mark:
                self._open_ended.setdefault(first.stem[:_BUCKET], _Stems()).add(pattern)
            else:
                second = pattern.words[1] if len(pattern.words) > 1 else None
                by_pair = second is not None and not second.mark and not second.after_gap
                key = f"{first.stem} {second.stem}" if second is not None and by_pair else first.stem
                self._exact.setdefault(key, []).append(pattern)

    def find(self, tokens: Tokens) -> list[Found[T]]:
        """Find every place where a pattern is met, by its start."""
        found: list[Found[T]] = []
        words = tokens.words
        next_words = [*words[1:], STOP]
        for i, word in enumerate(words):
            for pattern in self._starting_with(word, next_words[i]):
                end = i + 1 if len(pattern.words) == 1 else _end(pattern.words, 1, words, i + 1)
                if end:
                    found.append(Found(pattern, i, end))
        return found

    def _starting_with(self, word: str, following: str) -> list[Pattern[T]]:
        starting = [*self._exact.get(word, ()), *self._exact.get(f"{word} {following}", ())]
        stems = self._open_ended.get(word[:_BUCKET])
        if stems is None:
            return starting
        for length in stems.lengths:
            ending = word[length:]
            for pattern in stems.by_stem.get(word[:length], ()):
                first = pattern.words[0]
                if first.mark == "*" or ending in first.endings:
                    starting.append(pattern)
        return starting


def _end(pattern: tuple[_Word, ...], at: int, words: list[str], i: int) -> int:
    """Find where the rest of `pattern`, from its word `at`, ends when it starts at word `i`; 0 when it does not fit."""
    if at == len(pattern):
        return i
    wanted = pattern[at]
    for j in range(i, min(i + (GAP_WORDS if wanted.after_gap else 0) + 1, len(words))):
        if words[j] == STOP:
            return 0
        if wanted.fits(words[j]):
            end = _end(pattern, at + 1, words, j + 1)
            if end:
                return end
    return 0
