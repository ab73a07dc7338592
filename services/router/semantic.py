"""The seam between the keyword layer and a layer that judges meaning."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from services.router.lexicon import Hit


class Verdict(msgspec.Struct, frozen=True):
    """What a clause needs: `groups` (none: no tool at all), with calibrated probabilities of all that were weighed."""

    groups: tuple[str, ...]
    scores: Mapping[str, float] = {}


class Semantic(Protocol):
    """Judges clauses by meaning. Never blocks: what needs the network was fetched before the decision."""

    def judge(self, clause: str, hits: Sequence[Hit], offered: frozenset[str]) -> Verdict | None:
        """Say what `clause` needs among `offered`, given the keywords `hits` too weak to decide; None when unsure."""
        ...
