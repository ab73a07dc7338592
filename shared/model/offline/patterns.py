"""Rules are regular expressions over folded text; `%name%` in one stands for a word list of the same file."""

import re
from collections.abc import Mapping
from functools import lru_cache

from shared.text import fold

_reference = re.compile("%([a-z_]+)%")


def expand(pattern: str, words: Mapping[str, str]) -> str:
    """`pattern` with every `%name%` replaced, words within words too; `KeyError` names an unknown one."""
    while _reference.search(pattern):
        pattern = _reference.sub(lambda match: f"(?:{words[match[1]]})", pattern)
    return pattern


def fold_aligned(text: str) -> str:
    """`text` folded character by character, so that a place in the result is the same place in `text`."""
    return "".join(map(_fold_char, text))


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    folded = fold(char)
    return folded if len(folded) == 1 else char
