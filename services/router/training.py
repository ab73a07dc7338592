"""Fitting the built-in classifier: a softmax regression by AdaGrad, in seconds, with numpy only.

Each step sees a text with some of its entries missing, so that no single one is relied on, and the weights are the mean
over the second half of the passes of several runs: both lower the log loss of cross-validation, and the luck in it.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from services.router.features import HASHED, Features
from services.router.linear import Linear, quantise
from services.router.vectors import Floats

BATCH = 64
_EPSILON = np.float32(1e-8)


class Sample(msgspec.Struct, frozen=True):
    """A text as features, the groups its keywords hint at, and the classes any of which is right for it."""

    features: Features
    hinted: frozenset[str]
    accepted: frozenset[str]


class Recipe(msgspec.Struct, frozen=True):
    """How to train: the mean of several `runs`, each of so many `epochs` (passes over the samples).

    `decay` pulls weights to zero, `balance` (0 to 1) evens out how often classes occur,
    `missing` is the share of a text's entries left out at a step; `vector_gain` how loud the sentence vector is beside
    the n-grams.
    """

    runs: int = 3
    epochs: int = 8
    rate: float = 0.2
    decay: float = 1e-5
    balance: float = 0.8
    missing: float = 0.2
    vector_gain: float = 2.0


class _Batch(msgspec.Struct, frozen=True):
    """Rows of the design matrix, and the same entries sorted by column."""

    columns: npt.NDArray[np.intp]
    values: Floats
    starts: npt.NDArray[np.intp]
    used: npt.NDArray[np.intp]
    used_starts: npt.NDArray[np.intp]
    by_column: npt.NDArray[np.intp]
    row_of: npt.NDArray[np.intp]
    is_bias: npt.NDArray[np.bool_]
    accepted: Floats
    weights: Floats


def fit(samples: Sequence[Sample], classes: Sequence[str], recipe: Recipe) -> Linear:
    """Train on `samples`; the same samples give the same model. A class without samples is never probable."""
    dimensions = len(samples[0].features.vector)
    mean: Floats = np.stack([_run(samples, classes, recipe, seed) for seed in range(recipe.runs)]).mean(axis=0)
    dense = mean[HASHED : HASHED + dimensions] * np.float32(recipe.vector_gain)
    return quantise(classes, mean[:HASHED], dense, mean[HASHED + dimensions : -1], mean[-1])


def _run(samples: Sequence[Sample], classes: Sequence[str], recipe: Recipe, seed: int) -> Floats:
    """One training from nothing: the weights' mean over the second half of the passes."""
    luck = np.random.default_rng(seed)
    weights = _sample_weights(samples, classes, recipe.balance)
    batches = [
        _batch([samples[i] for i in chunk], classes, weights[chunk], recipe)
        for chunk in np.array_split(luck.permutation(len(samples)), max(1, len(samples) // BATCH))
    ]
    size = HASHED + len(samples[0].features.vector) + len(classes) + 1
    theta = np.zeros((size, len(classes)), np.float32)
    squares = np.full((size, 1), 1e-3, np.float32)
    total = np.zeros_like(theta)
    for epoch in range(recipe.epochs):
        for i in luck.permutation(len(batches)):
            _step(theta, squares, batches[i], recipe, luck)
        if epoch >= recipe.epochs // 2:
            total += theta
    total /= np.float32(recipe.epochs - recipe.epochs // 2)
    return total


def _step(theta: Floats, squares: Floats, batch: _Batch, recipe: Recipe, luck: np.random.Generator) -> None:
    kept = np.float32(1 / (1 - recipe.missing)) * (luck.random(len(batch.values)) >= recipe.missing)
    values = (batch.values * np.where(batch.is_bias, np.float32(1), kept)).astype(np.float32)
    logits = np.add.reduceat(theta[batch.columns] * values[:, None], batch.starts, axis=0)
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    right = shares * batch.accepted
    right /= np.maximum(right.sum(axis=1, keepdims=True), np.float32(1e-12))
    error = (shares - right) * batch.weights[:, None]
    entries = (error[batch.row_of] * values[:, None])[batch.by_column]
    gradient = np.add.reduceat(entries, batch.used_starts, axis=0)
    gradient += np.float32(recipe.decay * len(batch.weights)) * theta[batch.used]
    squares[batch.used] += (gradient * gradient).mean(axis=1, keepdims=True)
    theta[batch.used] -= np.float32(recipe.rate) * gradient / np.sqrt(squares[batch.used] + _EPSILON)


def _batch(samples: Sequence[Sample], classes: Sequence[str], weights: Floats, recipe: Recipe) -> _Batch:
    rows = [_row(s, classes, recipe) for s in samples]
    columns = np.concatenate([c for c, _ in rows])
    lengths = np.array([len(c) for c, _ in rows])
    by_column = np.argsort(columns, kind="stable")
    used, used_starts = np.unique(columns[by_column], return_index=True)
    return _Batch(
        columns=columns,
        values=np.concatenate([v for _, v in rows]),
        starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]),
        used=used,
        used_starts=used_starts,
        by_column=by_column,
        row_of=np.repeat(np.arange(len(rows)), lengths),
        is_bias=columns == columns.max(),
        accepted=np.array([[c in s.accepted for c in classes] for s in samples], np.float32),
        weights=weights,
    )


def _row(sample: Sample, classes: Sequence[str], recipe: Recipe) -> tuple[npt.NDArray[np.intp], Floats]:
    f = sample.features
    dimensions = len(f.vector)
    hinted = [i for i, c in enumerate(classes) if c in sample.hinted]
    columns = np.concatenate(
        [
            f.columns,
            np.arange(HASHED, HASHED + dimensions),
            np.array([HASHED + dimensions + i for i in hinted], np.intp),
            [HASHED + dimensions + len(classes)],
        ]
    )
    values = np.concatenate([f.values, f.vector * recipe.vector_gain, np.ones(len(hinted) + 1)])
    return columns.astype(np.intp), values.astype(np.float32)


def _sample_weights(samples: Sequence[Sample], classes: Sequence[str], balance: float) -> Floats:
    """A sample weighs less the more its rarest accepted class has; the mean weight is 1."""
    counts: Mapping[str, int] = {c: sum(c in s.accepted for s in samples) for c in classes}
    raw: Floats = np.array([min(counts[c] for c in s.accepted) ** -balance for s in samples], np.float32)
    raw /= raw.mean()
    return raw
