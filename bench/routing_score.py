"""What a set of routing decisions is worth. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec

from bench.measures import percentile
from services.router.samples import Row
from services.router.semantic import NONE
from shared.messages.routing import RouteDecision

# Tools of each group, as docs/tools lists them.
TOOLS: Mapping[str, int] = {
    "calendar": 5,
    "email": 5,
    "gym": 9,
    "memory": 4,
    "notes": 5,
    "reddit": 3,
    "reminders": 3,
    "schedules": 5,
    "shell": 4,
    "storage": 5,
    "think": 1,
    "tv": 3,
    "vision": 3,
    "web": 7,
}
KINDS: Mapping[str, str] = {
    "trap": "traps_clean",
    "trap-pos": "trap_positives",
    "indirect": "indirect",
    "multi": "several",
    "followup": "follow_ups",
}


class Outcome(msgspec.Struct, frozen=True):
    """A row, the decision about it, and the CPU time it took in microseconds."""

    row: Row
    decision: RouteDecision
    cpu_us: float = 0.0

    @property
    def loaded(self) -> frozenset[str]:
        """The groups offered to the model."""
        return frozenset(self.decision.groups)

    @property
    def right_loaded(self) -> bool:
        """Whether every group needed is loaded, or one that is also right; nothing, where no tool is right."""
        if self.row.groups and set(self.row.groups) <= self.loaded:
            return True
        if not self.loaded:
            return NONE in self.row.right
        return bool(self.loaded & set(self.row.accept))

    @property
    def clean(self) -> bool:
        """Whether nothing wrong is loaded: only groups that are right."""
        return self.loaded <= self.row.right

    @property
    def top(self) -> str:
        """The one answer: the group with the best score, or no tool; nothing when everything was offered."""
        if self.decision.layer == "all":
            return ""
        return max(self.decision.groups, key=lambda g: self.decision.scores.get(g, 1.0), default=NONE)


def right_share(outcomes: Sequence[Outcome]) -> float | None:
    """The share with the right group loaded."""
    return _share([o.right_loaded for o in outcomes])


def score(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Every figure of the contract, and more; shares are 0 to 1, and None where there is nothing to count."""
    requests = [o for o in outcomes if o.row.groups]
    others = [o for o in outcomes if not o.row.groups]
    resolved = [o for o in outcomes if o.decision.layer != "all"]
    talk = [o for o in outcomes if o.decision.layer == "small_talk"]
    layers = Counter(o.decision.layer for o in outcomes)
    languages = sorted({o.row.lang for o in outcomes})
    return {
        "rows": len(outcomes),
        "recall_loaded": {lang: right_share([o for o in requests if o.row.lang == lang]) for lang in languages},
        "mean_tools": _mean_tools(outcomes),
        "mean_tools_by_language": {
            lang: _mean_tools([o for o in outcomes if o.row.lang == lang]) for lang in languages
        },
        "mean_tools_in_scope": _mean_tools(requests),
        "fallback": _round(layers["all"] / len(outcomes)),
        "oos_none": _share([o.clean for o in others]),
        "oos_none_strict": _share([not o.loaded for o in others]),
        "wrongly_none": _share([not o.loaded and NONE not in o.row.right for o in requests]),
        "top1": {lang: _share([o.top in o.row.right for o in outcomes if o.row.lang == lang]) for lang in languages},
        "resolved_without_call": _round(len(resolved) / len(outcomes)),
        "resolved_precision": right_share(resolved),
        "small_talk_precision": _share([NONE in o.row.right for o in talk]),
        "layer_shares": {layer: _round(n / len(outcomes)) for layer, n in sorted(layers.items())},
        "layer_precision": {
            layer: right_share([o for o in outcomes if o.decision.layer == layer]) for layer in sorted(layers)
        },
        "by_kind": kinds(outcomes),
    }


def kinds(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """For a hand-written set, by kind: traps that load nothing wrong, and requests with everything needed loaded."""
    found: dict[str, float | None] = {}
    for kind, name in KINDS.items():
        of_kind = [o for o in outcomes if o.row.kind == kind]
        if of_kind:
            found[name] = _share([o.clean if kind == "trap" else o.right_loaded for o in of_kind])
    return found


def timing(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """CPU microseconds a decision, in all and by layer."""
    times = [o.cpu_us for o in outcomes]
    layers = sorted({o.decision.layer for o in outcomes})
    return {
        "cpu_us_p50": round(percentile(times, 0.5), 1),
        "cpu_us_p95": round(percentile(times, 0.95), 1),
        "cpu_us_p50_by_layer": {
            layer: round(percentile([o.cpu_us for o in outcomes if o.decision.layer == layer], 0.5), 1)
            for layer in layers
        },
    }


def _mean_tools(outcomes: Sequence[Outcome]) -> float | None:
    return round(fmean(sum(TOOLS[g] for g in o.loaded) for o in outcomes), 2) if outcomes else None


def _share(answers: Sequence[bool]) -> float | None:
    return _round(sum(answers) / len(answers)) if answers else None


def _round(share: float) -> float:
    return round(share, 4)
