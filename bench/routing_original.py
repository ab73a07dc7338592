"""The original's router, as `docs/routing.md` describes it, to compare with: substrings, one centroid, then all."""

from collections.abc import Mapping

import numpy as np

from services.router.features import words_of
from services.router.samples import GroupPhrases
from services.router.vectors import Floats, WordVectors, word_ids
from shared.messages.routing import RouteDecision
from shared.messages.tools import Phrases
from shared.text import fold

THRESHOLD = 0.38


class Original:
    """Substring keywords decide first; else the nearest centroid over a fixed threshold; else every group."""

    def __init__(self, groups: GroupPhrases, vectors: WordVectors) -> None:
        self._vectors = vectors
        self._groups = sorted(groups)
        self._keywords = {g: _substrings(by_language) for g, by_language in groups.items()}
        self._centroids = np.stack([self._centroid(groups[g]) for g in self._groups])

    def decide(self, text: str) -> RouteDecision:
        """Route `text` the way the original does."""
        folded = fold(text)
        named = [g for g in self._groups if any(k in folded for k in self._keywords[g])]
        if named:
            return RouteDecision(layer="keywords", groups=named)
        similar = self._centroids @ self._embed(text)
        best = int(similar.argmax())
        scores = {self._groups[best]: float(similar[best])}
        if similar[best] >= THRESHOLD:
            return RouteDecision(layer="semantic", groups=[self._groups[best]], scores=scores)
        return RouteDecision(layer="all", groups=list(self._groups), scores=scores)

    def _centroid(self, by_language: Mapping[str, Phrases]) -> Floats:
        total: Floats = np.sum([self._embed(t) for p in by_language.values() for t in p.examples], axis=0)
        return total / np.float32(max(float(np.linalg.norm(total)), 1e-9))

    def _embed(self, text: str) -> Floats:
        return self._vectors.sentence(word_ids(words_of(text)))


def _substrings(by_language: Mapping[str, Phrases]) -> frozenset[str]:
    """The group's single words, without the marks of inflection: the original looks for them anywhere in the text."""
    words = (k.rstrip("*~+") for p in by_language.values() for k in p.keywords if " " not in k)
    return frozenset(fold(w) for w in words if len(w) > 1)
