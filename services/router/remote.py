"""The semantic layer over an embedder that answers from elsewhere: what it fetches, and when it does without."""

from collections.abc import Mapping, Sequence

from services.router.centroids import CentroidLayer, Centroids, calibrate, outdated, renew
from services.router.endpoint import Embedder, EmbedderUnavailable
from shared.logs import get_logger

# Computing centroids is no part of a decision and may take its time.
COMPUTE_BUDGET_S = 30.0

log = get_logger()


class Remote:
    """Holds the centroids of one embedder. `budget_s` is what a decision may wait for its vectors.

    `failures` counts the decisions that had to do without: they find no verdict and offer every group.
    """

    def __init__(self, embedder: Embedder, budget_s: float, state: Centroids | None = None) -> None:
        self._embedder = embedder
        self._budget_s = budget_s
        self.state = state
        self.failures = 0

    async def update(self, examples: Mapping[str, Sequence[str]]) -> bool:
        """Bring the centroids up to date with `examples`; whether anything changed.

        All are made and calibrated when there are none, or those of another embedder; else only those whose examples
        changed. `EmbedderUnavailable` leaves everything as it was.
        """
        given = {name: texts for name, texts in examples.items() if texts}
        known = self.state
        changed = outdated(given, known, self._embedder.identity)
        gone = known is not None and not known.classes.keys() <= given.keys()
        if not changed and not gone:
            return False
        texts = sorted({text for name in changed for text in given[name]})
        vectors = dict(zip(texts, await self._embedder.embed(texts, COMPUTE_BUDGET_S), strict=True)) if texts else {}
        if known is None or known.embedder != self._embedder.identity:
            self.state = calibrate(given, vectors, self._embedder.identity)
        else:
            self.state = renew(known, given, vectors)
        return True

    async def fetch(self, texts: Sequence[str]) -> CentroidLayer | None:
        """Return a layer that can judge `texts`; None when there are no centroids or the vectors did not come."""
        if self.state is None or not texts:
            return None
        try:
            vectors = await self._embedder.embed(texts, self._budget_s)
        except EmbedderUnavailable as exc:
            self.failures += 1
            log.warning("embeddings.unavailable", error=str(exc))
            return None
        return CentroidLayer(self.state, dict(zip(texts, vectors, strict=True)))
