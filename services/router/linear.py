"""The built-in classifier: one small integer weight for each n-gram and class, read in microseconds."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from services.router.features import Features
from services.router.vectors import Floats
from shared.errors import Malformed

STEPS = 127


class Linear(msgspec.Struct, frozen=True):
    """Weights of a softmax over `classes` (every group, and no tool).

    `hashed` (int8, a row for each column of `Features`) times `scales` are the n-grams' weights, `dense` those of the
    sentence vector, `hints` those of a keyword hit of the class in its row.
    """

    classes: tuple[str, ...]
    hashed: npt.NDArray[np.int8]
    scales: Floats
    dense: Floats
    hints: Floats
    bias: Floats

    def scores(self, features: Features, hinted: Iterable[str] = ()) -> dict[str, float]:
        """Return each class's probability, given the groups that keywords hint at; they add up to 1."""
        logits = (features.values @ self.hashed[features.columns]) * self.scales
        logits += features.vector @ self.dense
        logits += self.bias
        for group in set(hinted):
            if group in self.classes:
                logits += self.hints[self.classes.index(group)]
        logits -= logits.max()
        powers = np.exp(logits)
        return dict(zip(self.classes, (powers / powers.sum()).tolist(), strict=True))


def quantise(classes: Sequence[str], hashed: Floats, dense: Floats, hints: Floats, bias: Floats) -> Linear:
    """Make the integer model of trained weights; each class has its own step."""
    scales = np.maximum(np.abs(hashed).max(axis=0), 1e-6).astype(np.float32) / np.float32(STEPS)
    return Linear(tuple(classes), np.rint(hashed / scales).astype(np.int8), scales, dense, hints, bias)


def pack(model: Linear) -> bytes:
    """`model` as bytes, the same for the same model."""
    arrays: Mapping[str, npt.NDArray[np.generic]] = {
        "classes": np.array(model.classes),
        "hashed": model.hashed,
        "scales": model.scales,
        "dense": model.dense,
        "hints": model.hints,
        "bias": model.bias,
    }
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> Linear:
    """Read what `pack` wrote; `Malformed` when it is anything else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return Linear(
                tuple(arrays["classes"].tolist()),
                *(arrays[name] for name in ("hashed", "scales", "dense", "hints", "bias")),
            )
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as exc:
        raise Malformed(f"no routing model: {exc}") from exc
