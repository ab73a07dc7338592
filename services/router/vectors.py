"""Static word vectors: a text's meaning as the sum of its words' vectors, each weighted by how rare the word is."""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]

IDS_FILE = "words.ids.npy"
VECTORS_FILE = "words.vectors.npy"
WEIGHTS_FILE = "words.weights.npy"
# One step of a stored component, and of a stored weight.
COMPONENT = np.float32(1 / 127)
WEIGHT = np.float32(1 / 255)


def word_ids(words: Iterable[str]) -> Ids:
    """Number each folded word by its CRC-32; of 50,000 words about one in 100,000 unknown ones is taken for another."""
    return np.array([zlib.crc32(word.encode()) for word in words], dtype=np.uint32)


class WordVectors:
    """The table: sorted word numbers, a unit vector of int8 for each, and its weight of uint8.

    The vectors stay in the file and are paged in as words come up.
    """

    def __init__(self, ids: Ids, vectors: npt.NDArray[np.int8], weights: npt.NDArray[np.uint8]) -> None:
        self._ids = ids
        self._vectors = vectors
        self._weights = weights

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._vectors.shape[1])

    def sentence(self, ids: Ids) -> Floats:
        """Return the unit vector of the words `ids`; zeros when no word is known."""
        place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        known = place[self._ids[place] == ids]
        if not len(known):
            return np.zeros(self.dimensions, np.float32)
        total: Floats = (self._weights[known].astype(np.float32) * WEIGHT) @ (
            self._vectors[known].astype(np.float32) * COMPONENT
        )
        length = float(np.sqrt(total @ total))
        return total / np.float32(length) if length else total


def load_vectors(folder: Path) -> WordVectors:
    """Open the table in `folder` in a millisecond; `OSError` or `ValueError` when it is missing or damaged."""
    return WordVectors(
        np.load(folder / IDS_FILE),
        np.load(folder / VECTORS_FILE, mmap_mode="r"),
        np.load(folder / WEIGHTS_FILE),
    )


def save_vectors(folder: Path, words: Sequence[str], vectors: Floats, weights: Floats) -> None:
    """Store unit `vectors` and `weights` (0 to 1) of distinct folded `words`."""
    ids = word_ids(words)
    order = np.argsort(ids, kind="stable")
    np.save(folder / IDS_FILE, ids[order])
    np.save(folder / VECTORS_FILE, np.clip(np.rint(vectors[order] / COMPONENT), -127, 127).astype(np.int8))
    np.save(folder / WEIGHTS_FILE, np.clip(np.rint(weights[order] / WEIGHT), 1, 255).astype(np.uint8))
