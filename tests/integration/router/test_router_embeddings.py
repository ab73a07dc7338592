"""The router with an embeddings endpoint: centroids made once and shared, and a dead endpoint that costs no answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.router.service import RouterService
from shared.buckets import Bucket
from shared.bus import Bus
from shared.lifecycle import Context
from shared.secret import Secret
from shared.settings.schema import Router
from tests.integration.router.test_router_service import ask, declare
from tests.support.embeddings_server import KEY, MODEL, EmbeddingsServer, embeddings_server
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected, settings_for

# No keyword of any group, but words of one group's examples.
VAGUE = "aquello tan importante del médico"


@pytest.fixture
async def endpoint() -> AsyncIterator[EmbeddingsServer]:
    async with embeddings_server() as server:
        yield server


@asynccontextmanager
async def routing_with(server: PrivateNats, endpoint: EmbeddingsServer) -> AsyncIterator[RouterService]:
    router = Router(
        embeddings_url=endpoint.url, embeddings_model=MODEL, embeddings_key=Secret(KEY), embeddings_budget_s=0.5
    )
    async with connected(server.bus_settings(), "router") as bus:
        service = RouterService(Context(bus, settings_for(server, router=router)))
        await service.start()
        try:
            yield service
        finally:
            await service.stop(1.0)


async def centroids(bus: Bus) -> list[bytes]:
    return [entry.value for entry in await Bucket(bus, "routing").list("centroids")]


async def test_centroids_are_made_once_and_loaded_by_every_replica(
    bus: Bus, nats_server: PrivateNats, endpoint: EmbeddingsServer
) -> None:
    await declare(bus)
    async with routing_with(nats_server, endpoint):
        await ask(bus, VAGUE)
        made = await eventually(lambda: centroids(bus))
        assert len(made) == 1
        assert len(made[0]) < 100_000
    asked = sum(map(len, endpoint.asked))
    assert asked > 100

    async with routing_with(nats_server, endpoint):
        assert (await ask(bus, VAGUE)).layer == "semantic"

    assert sum(map(len, endpoint.asked)) - asked < 20  # the messages themselves, never the examples again


async def test_a_dead_endpoint_costs_no_answer(bus: Bus, nats_server: PrivateNats, endpoint: EmbeddingsServer) -> None:
    await declare(bus)
    async with routing_with(nats_server, endpoint):
        await ask(bus, VAGUE)
        await eventually(lambda: centroids(bus))
        endpoint.broken = True

        assert (await ask(bus, "guarda una nota: comprar leche")).groups == ["notes"]
        vague = await ask(bus, VAGUE)
        assert vague.layer == "all"
        assert vague.groups == ["memory", "notes", "reminders"]
