"""The semantic layer over an embeddings endpoint: one centroid for each group, with calibrated scores. Pure."""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from services.router.calibration import Case, choose_thresholds
from services.router.policy import Thresholds, part_verdict, verdict
from services.router.samples import GroupPhrases
from services.router.semantic import NONE, Verdict
from services.router.vectors import Floats
from shared.errors import Malformed
from shared.messages.tools import Phrases

# What an export may weigh at most; 15 centroids of 3,072 dimensions take 62 KB.
MAX_EXPORT_BYTES = 100_000
FOLDS = 5
_STEPS = 400
_RATE = 0.5
_SHARPNESS = 10.0
_SEED = 7


class Centroid(msgspec.Struct, frozen=True):
    """A class's mean direction (int8, base64) and what it was made from.

    `bar` is the class's own threshold: how much more similar a text must be to it than to others to be as probable.
    """

    digest: str
    direction: str
    bar: float = 0.0


class Centroids(msgspec.Struct, frozen=True):
    """The state of one embedder, small enough to keep anywhere; `sharpness` turns similarity into probability."""

    embedder: str
    classes: dict[str, Centroid]
    sharpness: float
    thresholds: Thresholds


class CentroidLayer:
    """Judges texts whose vectors were fetched before; a text without one is in doubt."""

    def __init__(self, state: Centroids, fetched: Mapping[str, Floats]) -> None:
        self._state = state
        self._names = list(state.classes)
        self._directions = np.stack([_direction(c.direction) for c in state.classes.values()])
        self._bars = np.array([c.bar for c in state.classes.values()], np.float32)
        self._fetched = fetched

    def judge(self, text: str, hinted: Iterable[str], offered: frozenset[str], *, part: bool) -> Verdict | None:
        """Say what `text` needs among `offered`; None when unsure. Keywords have no part in it."""
        del hinted
        vector = self._fetched.get(text)
        if vector is None or len(vector) != self._directions.shape[1]:
            return None
        shares = _softmax((self._directions @ _unit(vector) - self._bars) * self._state.sharpness)
        scores = dict(zip(self._names, shares.tolist(), strict=True))
        return (part_verdict if part else verdict)(scores, self._state.thresholds, offered)


def examples_of(groups: GroupPhrases, none: Mapping[str, Phrases]) -> dict[str, list[str]]:
    """List what each class's centroid is made of."""
    every = {**groups, NONE: none}
    return {
        name: [text for _, p in sorted(by_language.items()) for text in p.examples]
        for name, by_language in sorted(every.items())
    }


def outdated(examples: Mapping[str, Sequence[str]], known: Centroids | None, embedder: str) -> list[str]:
    """Name the classes whose centroids must be computed: all for another embedder, else those whose phrases changed."""
    if known is None or known.embedder != embedder:
        return sorted(examples)
    return sorted(
        name
        for name, texts in examples.items()
        if name not in known.classes or known.classes[name].digest != _digest(texts)
    )


def calibrate(examples: Mapping[str, Sequence[str]], vectors: Mapping[str, Floats], embedder: str) -> Centroids:
    """Make every centroid, and fit sharpness, bars and thresholds to what centroids say about examples left out.

    `vectors` holds one for each example. At least one class needs examples.
    """
    names = sorted(name for name, texts in examples.items() if texts)
    rows = [(name, _unit(vectors[text])) for name in names for text in examples[name]]
    held_out = _similarities(rows, names)
    labels = np.array([names.index(name) for name, _ in rows])
    sharpness, bars = _fit(held_out, labels, len(names))
    shares = [_softmax((row - bars) * sharpness) for row in held_out]
    cases = [
        Case({NONE: 0.0, **dict(zip(names, share.tolist(), strict=True))}, frozenset([name]))
        for share, (name, _) in zip(shares, rows, strict=True)
    ]
    classes = {
        name: Centroid(_digest(examples[name]), _text(_mean([v for n, v in rows if n == name])), round(float(bar), 5))
        for name, bar in zip(names, bars, strict=True)
    }
    return Centroids(embedder, classes, round(sharpness, 4), choose_thresholds(cases))


def renew(known: Centroids, examples: Mapping[str, Sequence[str]], vectors: Mapping[str, Floats]) -> Centroids:
    """Replace the centroids of the classes whose vectors are given, drop those without examples, keep calibration."""
    bars = [c.bar for c in known.classes.values()]
    usual = sum(bars) / len(bars)
    classes = {}
    for name, texts in sorted(examples.items()):
        before = known.classes.get(name)
        if texts and all(text in vectors for text in texts):
            direction = _text(_mean([_unit(vectors[text]) for text in texts]))
            classes[name] = Centroid(_digest(texts), direction, before.bar if before else round(usual, 5))
        elif texts and before is not None:
            classes[name] = before
    return msgspec.structs.replace(known, classes=classes)


def export(state: Centroids) -> bytes:
    """Write the state as JSON; `Malformed` when it is larger than `MAX_EXPORT_BYTES`."""
    data = msgspec.json.encode(state)
    if len(data) > MAX_EXPORT_BYTES:
        raise Malformed(f"{len(data)} bytes of centroids, more than {MAX_EXPORT_BYTES}: too many classes or dimensions")
    return data


def restore(data: bytes) -> Centroids:
    """Read what `export` wrote; `Malformed` when it is anything else."""
    try:
        state = msgspec.json.decode(data, type=Centroids)
        lengths = {len(_direction(c.direction)) for c in state.classes.values()}
    except (msgspec.DecodeError, binascii.Error) as exc:
        raise Malformed(f"no centroids: {exc}") from exc
    if len(lengths) != 1:
        raise Malformed("no centroids: their directions differ in length")
    return state


def _similarities(rows: Sequence[tuple[str, Floats]], names: Sequence[str]) -> Floats:
    """How similar each row is to every class's centroid made without the row's fold."""
    fold = np.random.default_rng(_SEED).permutation(len(rows)) % FOLDS
    vectors = np.stack([v for _, v in rows])
    found = np.zeros((len(rows), len(names)), np.float32)
    for k in range(FOLDS):
        kept = [[v for (n, v), f in zip(rows, fold, strict=True) if n == name and f != k] for name in names]
        centroids = np.stack([_mean(vs) if vs else np.zeros_like(vectors[0]) for vs in kept])
        found[fold == k] = vectors[fold == k] @ centroids.T
    return found


def _fit(similar: Floats, labels: npt.NDArray[np.intp], count: int) -> tuple[float, Floats]:
    """Fit sharpness and bars by gradient descent on the log loss, every class weighing the same."""
    sizes = np.bincount(labels, minlength=count)
    weights = (1 / np.maximum(sizes, 1))[labels] / count
    truth = np.eye(count, dtype=np.float32)[labels]
    sharpness, bars = _SHARPNESS, np.zeros(count, np.float32)
    for _ in range(_STEPS):
        shares = _softmax((similar - bars) * sharpness)
        error = (shares - truth) * weights[:, None]
        bars = (bars + np.float32(_RATE / sharpness) * error.sum(axis=0)).astype(np.float32)
        slope = float((error * (similar - bars)).sum())
        sharpness = max(1.0, sharpness - _RATE * _SHARPNESS * _SHARPNESS * slope)
    return sharpness, bars


def _softmax(logits: Floats) -> Floats:
    shares: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def _mean(vectors: Sequence[Floats]) -> Floats:
    return _unit(np.sum(vectors, axis=0))


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector, np.float32) / np.float32(max(float(np.linalg.norm(vector)), 1e-9))


def _text(direction: Floats) -> str:
    steps = np.rint(direction / max(float(np.abs(direction).max()), 1e-9) * 127).astype(np.int8)
    return base64.b64encode(steps.tobytes()).decode()


def _direction(text: str) -> Floats:
    return _unit(np.frombuffer(base64.b64decode(text, validate=True), np.int8).astype(np.float32))


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
