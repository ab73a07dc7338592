"""The seam between the keyword layer and a layer that judges meaning."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

# The class of messages that need no tool.
NONE = "none"


class Verdict(msgspec.Struct, frozen=True):
    """What a text needs: `groups` (none: no tool at all), with the calibrated probabilities that were weighed."""

    groups: tuple[str, ...]
    scores: Mapping[str, float] = {}


class Semantic(Protocol):
    """Judges texts by meaning. Never blocks: what needs the network was fetched before the decision."""

    def judge(self, text: str, hinted: Iterable[str], offered: frozenset[str], *, part: bool) -> Verdict | None:
        """Say what `text` needs among `offered`; None when unsure.

        `hinted` are the groups of keywords too weak to decide. A `part` is a clause of a longer message: it adds a
        group only when it names one clearly.
        """
        ...
