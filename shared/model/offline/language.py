"""Which of the two languages a text is in, by a vote of its most common words."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from shared.text import fold

Language = Literal["es", "en"]

_word = re.compile(r"\w+")
_spanish_signs = re.compile("[áéíóúñ¿¡]", re.IGNORECASE)
_spanish = r"(?:(?:language|idioma|lengua)\b\W{1,5}(?:is |es )?(?:es|spanish|espanol|castellano)|(?:in|en) (?:spanish|espanol))"
_english = r"(?:(?:language|idioma|lengua)\b\W{1,5}(?:is |es )?(?:en|english|ingles)|(?:in|en) (?:english|ingles))"
_named = re.compile(rf"\b(?:{_spanish}|(?P<english>{_english}))\b")


def vote(text: str, stop_words: Mapping[Language, frozenset[str]]) -> Language | None:
    """Return the language with more of its common words in `text`; `None` when it is a draw."""
    words = _word.findall(fold(text))
    spanish = sum(word in stop_words["es"] for word in words) + 2 * len(_spanish_signs.findall(text))
    english = sum(word in stop_words["en"] for word in words)
    if spanish == english:
        return None
    return "es" if spanish > english else "en"


def choose(
    texts: Iterable[str], system: str, stop_words: Mapping[Language, frozenset[str]], default: Language
) -> Language:
    """Return the first clear vote of `texts` (newest first), else what the system prompt names, else `default`."""
    for text in texts:
        voted = vote(text, stop_words)
        if voted is not None:
            return voted
    named = _named.search(fold(system))
    if named is None:
        return default
    return "en" if named["english"] else "es"
