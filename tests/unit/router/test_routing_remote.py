"""Which texts an endpoint is asked about, and what happens when it does not answer."""

from collections.abc import Sequence

import numpy as np
import pytest

from services.router.decide import decide
from services.router.endpoint import EmbedderUnavailable
from services.router.index import RoutingIndex
from services.router.remote import Remote
from services.router.vectors import Floats
from shared.messages.routing import RouteRequest

EXAMPLES = {"web": ["lluvia", "sol"], "notes": ["apunte", "lista"], "none": ["hola", "adiós"]}
MEANINGS = {t: axis for axis, texts in enumerate(EXAMPLES.values()) for t in texts}


class KnownMeanings:
    """An embedder for words it knows by heart; it keeps what it was asked, and can be out of order."""

    identity = "known 1"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.broken = False

    async def embed(self, texts: Sequence[str], budget_s: float) -> list[Floats]:
        assert budget_s > 0
        self.asked.append(list(texts))
        if self.broken:
            raise EmbedderUnavailable("out of order")
        return [np.eye(4, dtype=np.float32)[MEANINGS.get(text, 0)] for text in texts]


async def test_only_changed_groups_are_embedded_again() -> None:
    embedder = KnownMeanings()
    remote = Remote(embedder, 0.1)
    assert await remote.update(EXAMPLES)
    assert not await remote.update(EXAMPLES)
    assert await remote.update({**EXAMPLES, "web": ["lluvia", "nube"]})
    assert await remote.update({"web": ["lluvia", "nube"], "none": EXAMPLES["none"]})
    assert embedder.asked == [["adiós", "apunte", "hola", "lista", "lluvia", "sol"], ["lluvia", "nube"]]
    assert remote.state is not None
    assert sorted(remote.state.classes) == ["none", "web"]


async def test_a_decision_uses_what_was_fetched_for_it(index: RoutingIndex) -> None:
    remote = Remote(KnownMeanings(), 0.1)
    await remote.update(EXAMPLES)
    layer = await remote.fetch(["¿y el cielo de la sierra?"])
    decision = decide(RouteRequest(text="¿y el cielo de la sierra?"), index, layer)
    assert (decision.layer, decision.groups) == ("semantic", ["web"])


async def test_a_dead_endpoint_means_every_group_and_is_counted(index: RoutingIndex) -> None:
    embedder = KnownMeanings()
    remote = Remote(embedder, 0.1)
    await remote.update(EXAMPLES)
    before, embedder.broken = remote.state, True
    layer = await remote.fetch(["¿y el cielo de la sierra?"])
    assert decide(RouteRequest(text="¿y el cielo de la sierra?"), index, layer).layer == "all"
    assert remote.failures == 1
    with pytest.raises(EmbedderUnavailable):
        await remote.update({**EXAMPLES, "web": ["nube"]})
    assert remote.state == before


async def test_nothing_is_asked_when_keywords_decide_or_nothing_was_computed() -> None:
    embedder = KnownMeanings()
    remote = Remote(embedder, 0.1)
    assert await remote.fetch(["lluvia"]) is None
    await remote.update(EXAMPLES)
    assert await remote.fetch([]) is None
    assert len(embedder.asked) == 1
