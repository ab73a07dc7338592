"""From probabilities to groups: no tool, the few groups that hold most of the probability, or doubt."""

from collections.abc import Mapping

import msgspec

from services.router.semantic import NONE, Verdict

MAX_GROUPS = 3


class Thresholds(msgspec.Struct, frozen=True):
    """What calibration chose for one embedder; all are probabilities.

    `none`: no tool from here on. `missed`: groups are added, the most probable first, until what is left out weighs
    less. `doubt`: with more than this left out by `MAX_GROUPS` groups there is no verdict. `part`: a clause of a longer
    message adds its groups from here on.
    """

    none: float
    missed: float
    doubt: float
    part: float


def verdict(scores: Mapping[str, float], thresholds: Thresholds, offered: frozenset[str]) -> Verdict | None:
    """Judge by `scores`, the probabilities of every group and of `NONE`; None when in doubt.

    The probability of groups that are not offered counts as that of no tool: nothing here can do what they do.
    """
    ranked = sorted((g for g in scores if g in offered), key=lambda g: (-scores[g], g))
    left_out = sum(scores[g] for g in ranked)
    none = max(0.0, 1.0 - left_out)
    shown = {**{g: round(scores[g], 3) for g in ranked[:MAX_GROUPS]}, NONE: round(none, 3)}
    if none >= thresholds.none or not ranked:
        return Verdict(groups=(), scores=shown)
    chosen: list[str] = []
    for group in ranked[:MAX_GROUPS]:
        chosen.append(group)
        left_out -= scores[group]
        if left_out < thresholds.missed:
            break
    else:
        if left_out > thresholds.doubt:
            return None
    return Verdict(groups=tuple(chosen), scores=shown)


def part_verdict(scores: Mapping[str, float], thresholds: Thresholds, offered: frozenset[str]) -> Verdict | None:
    """Judge one clause of several: its best group when that is likely enough, else nothing."""
    best = max((g for g in scores if g in offered), key=lambda g: (scores[g], g), default=None)
    if best is None or scores[best] < thresholds.part:
        return None
    return Verdict(groups=(best,), scores={best: round(scores[best], 3)})
