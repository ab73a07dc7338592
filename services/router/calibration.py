"""Choosing an embedder's thresholds from what it said about texts it had not learned from. Pure.

On the cross-validated training rows, all classes weighing the same however many rows they have:
1. `none`: the lowest bar at which at most `WRONGLY_NONE` of the requests that need a group are sent away.
2. `missed`: where the other requests cost least, a request without its group costing 1 and each group loaded `STRAY`.
3. `doubt`: the lowest at which at most `FALLBACK` of all messages are offered everything.
4. `part`: the lowest bar over which the best group is right `PART_PRECISION` of the time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from services.router.policy import MAX_GROUPS, Thresholds, verdict
from services.router.semantic import NONE

WRONGLY_NONE = 0.022
STRAY = 0.006
FALLBACK = 0.01
PART_PRECISION = 0.985
# Where few examples are told apart without fault, the goals alone would set bars that the next message trips over.
NONE_FLOOR = 0.5
DOUBT_FLOOR = 0.1
PART_FLOOR = 0.5
_STEPS = [i / 200 for i in range(1, 200)]
_MISSED = [0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2]


class Case(msgspec.Struct, frozen=True):
    """What an embedder said about a text (probabilities of all classes) and which classes are right for it."""

    scores: Mapping[str, float]
    right: frozenset[str]

    @property
    def needs_tool(self) -> bool:
        """Whether loading nothing would be wrong."""
        return NONE not in self.right


def choose_thresholds(cases: Sequence[Case]) -> Thresholds:
    """Choose the thresholds by the procedure above; where a goal cannot be met, its nearest value is taken."""
    offered = frozenset(cases[0].scores) - {NONE}
    weights = _weights(cases)
    requests = [(c, w) for c, w in zip(cases, weights, strict=True) if c.needs_tool]
    none = max(_lowest([(c.scores[NONE], w) for c, w in requests], WRONGLY_NONE), NONE_FLOOR)
    heard = [(c, w) for c, w in requests if c.scores[NONE] < none]
    missed = min(reversed(_MISSED), key=lambda m: _cost(heard, Thresholds(none, m, 1.0, 1.0), offered))
    doubt = _lowest([(_beyond(c, none), w) for c, w in zip(cases, weights, strict=True)], FALLBACK)
    part = _part(list(zip(cases, weights, strict=True)))
    return Thresholds(none=none, missed=missed, doubt=max(doubt, DOUBT_FLOOR), part=max(part, PART_FLOOR))


def _weights(cases: Sequence[Case]) -> list[float]:
    """Every class weighs the same in all; a case that accepts several counts as its rarest."""
    counts = Counter(c for case in cases for c in case.right)
    return [1 / min(counts[c] for c in case.right) for case in cases]


def _lowest(values: Sequence[tuple[float, float]], share: float) -> float:
    """Find the lowest step that at most `share` of the weight reaches."""
    total = sum(w for _, w in values)
    return next((s for s in _STEPS if sum(w for v, w in values if v >= s) <= share * total), _STEPS[-1])


def _cost(cases: Sequence[tuple[Case, float]], thresholds: Thresholds, offered: frozenset[str]) -> float:
    cost = 0.0
    for case, weight in cases:
        said = verdict(case.scores, thresholds, offered)
        if said is not None:
            cost += weight * (STRAY * len(said.groups) + (not case.right & set(said.groups)))
    return cost


def _beyond(case: Case, none: float) -> float:
    """Tell how much probability `MAX_GROUPS` groups leave out; nothing, when no tool is the verdict."""
    if case.scores[NONE] >= none:
        return 0.0
    return sum(sorted((p for c, p in case.scores.items() if c != NONE), reverse=True)[MAX_GROUPS:])


def _part(cases: Sequence[tuple[Case, float]]) -> float:
    best = [(*max((p, c) for c, p in case.scores.items() if c != NONE), case, weight) for case, weight in cases]
    for step in _STEPS:
        over = [(group in case.right, weight) for p, group, case, weight in best if p >= step]
        if over and sum(w for ok, w in over if ok) >= PART_PRECISION * sum(w for _, w in over):
            return step
    return _STEPS[-1]
