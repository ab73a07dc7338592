"""A text as numbers: hashed letter and word n-grams beside the vector of its words."""

import re
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from services.router.vectors import Floats, Ids, WordVectors, word_ids
from shared.text import fold

LETTER_BITS = 15
WORD_BITS = 14
HASHED = (1 << LETTER_BITS) + (1 << WORD_BITS)
# A request is said in its first words; what is pasted after them would only drown it.
MAX_WORDS = 60

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_APOSTROPHES = str.maketrans("", "", "'\u2019")
# Odd constants of multiplicative hashing (Knuth, TAOCP 3, 6.4); the salts keep the lengths of n-grams apart.
_STEP = np.uint32(0x9E3779B1)
_SPREAD = np.uint32(0x85EBCA6B)
_SALTS = (np.uint32(0x01234567), np.uint32(0x07654321), np.uint32(0x03141592))


class Features(msgspec.Struct, frozen=True):
    """The hashed columns of a text, each with the value it has in the row, and the unit vector of its words."""

    columns: npt.NDArray[np.intp]
    values: Floats
    vector: Floats


def words_of(text: str) -> list[str]:
    """List the folded words of `text`; all numbers are the same one."""
    return _WORD.findall(_DIGITS.sub("0", fold(text).translate(_APOSTROPHES)))[:MAX_WORDS]


def featurise(text: str, vectors: WordVectors) -> Features:
    """Read `text`: n-grams of 3 to 5 letters across words, and of one and two words. Deterministic, about 50 µs."""
    words = words_of(text)
    ids = word_ids(words)
    letters = _letter_columns(words)
    whole = _word_columns(ids)
    values = np.empty(len(letters) + len(whole), np.float32)
    values[: len(letters)] = 1 / np.sqrt(max(len(letters), 1))
    values[len(letters) :] = 1 / np.sqrt(max(len(whole), 1))
    return Features(np.concatenate([letters, whole]).astype(np.intp), values, vectors.sentence(ids))


def _letter_columns(words: Sequence[str]) -> Ids:
    text = f" {' '.join(words)} ".ljust(5)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    two = codes[:-1] * _STEP + codes[1:]
    three = two[:-1] * _STEP + codes[2:]
    four = three[:-1] * _STEP + codes[3:]
    five = four[:-1] * _STEP + codes[4:]
    salted = np.concatenate([grams ^ salt for grams, salt in zip((three, four, five), _SALTS, strict=True)])
    return _hash(salted, LETTER_BITS)


def _word_columns(ids: Ids) -> Ids:
    pairs = ids[:-1] * _STEP + ids[1:]
    return _hash(np.concatenate([ids, pairs]), WORD_BITS) + np.uint32(1 << LETTER_BITS)


def _hash(grams: Ids, bits: int) -> Ids:
    return (grams * _SPREAD) >> np.uint32(32 - bits)
