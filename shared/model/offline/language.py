"""Which of the two languages a text is in, by a vote of its most common words."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from shared.text import fold

Language = Literal["es", "en"]

_word = re.compile(r"\w+")
_spanish_signs = re.compile("[áéíóúñ¿¡]", re.IGNORECASE)


class Signs(NamedTuple):
    """What tells a language: its common words, and how a system prompt names it."""

    stop_words: frozenset[str]
    named: re.Pattern[str]


def vote(text: str, signs: Mapping[Language, Signs]) -> Language | None:
    """Return the language with more of its common words in `text`; `None` when it is a draw."""
    words = _word.findall(fold(text))
    spanish = sum(word in signs["es"].stop_words for word in words) + 2 * len(_spanish_signs.findall(text))
    english = sum(word in signs["en"].stop_words for word in words)
    if spanish == english:
        return None
    return "es" if spanish > english else "en"


def choose(texts: Iterable[str], system: str, signs: Mapping[Language, Signs], default: Language) -> Language:
    """Return the first clear vote of `texts` (newest first), else what the system prompt names, else `default`."""
    for text in texts:
        voted = vote(text, signs)
        if voted is not None:
            return voted
    folded = fold(system)
    return next((language for language, sign in signs.items() if sign.named.search(folded)), default)
