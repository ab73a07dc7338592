"""The router over the wire: asked, answered, and following what workers declare."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from services.router.service import RouterService
from services.tools.registry import find_groups
from shared import subjects
from shared.buckets import Bucket
from shared.bus import Bus
from shared.clock import utc_now
from shared.errors import BusUnavailable
from shared.lifecycle import Context
from shared.messages import routing as messages
from shared.messages.base import encode
from shared.messages.routing import RouteDecision, RouteRequest
from shared.messages.tools import GroupDeclared, Phrases
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected, settings_for


@asynccontextmanager
async def routing(server: PrivateNats) -> AsyncIterator[RouterService]:
    async with connected(server.bus_settings(), "router") as bus:
        service = RouterService(Context(bus, settings_for(server)))
        await service.start()
        try:
            yield service
        finally:
            await service.stop(1.0)


async def declare(bus: Bus, *, configured: bool = True, names: tuple[str, ...] = ()) -> None:
    """Declare the shipped groups, as a tools worker does."""
    for group in find_groups(names):
        declared = group.declared(lambda _: True, at=utc_now())
        changed = msgspec.structs.replace(declared, configured=configured)
        await Bucket(bus, "catalog").put(group.name, value=encode(changed))


async def ask(bus: Bus, text: str, **changes: Any) -> RouteDecision:
    data = await bus.request(subjects.ROUTE, RouteRequest(text=text, language="es", **changes), timeout_s=2)
    decision = messages.decisions.decode(data)
    assert isinstance(decision, RouteDecision)
    return decision


async def test_a_question_is_answered_with_the_groups_it_needs(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    async with routing(nats_server):
        decision = await ask(bus, "guarda una nota: comprar leche")
        assert decision.groups == ["notes"]
        assert decision.layer == "keywords"
        assert {m.group for m in decision.matched} == {"notes"}
        assert decision.elapsed_us > 0


async def test_without_a_router_the_asker_is_told_at_once(bus: Bus) -> None:
    with pytest.raises(BusUnavailable):
        await ask(bus, "hola")


async def test_a_stopped_router_no_longer_answers(bus: Bus, nats_server: PrivateNats) -> None:
    async with routing(nats_server):
        await ask(bus, "hola")
    with pytest.raises(BusUnavailable):
        await ask(bus, "hola")


async def test_a_group_that_is_declared_or_removed_counts_from_then_on(bus: Bus, nats_server: PrivateNats) -> None:
    async with routing(nats_server) as service:
        assert (await ask(bus, "qué tal va mi zumba")).groups == []
        assert service.problems() or service.degraded()
        zumba = GroupDeclared(group="zumba", tools=[], at=utc_now(), phrases={"es": Phrases(keywords=["zumba"])})
        await Bucket(bus, "catalog").put("zumba", value=encode(zumba))

        async def chosen() -> bool:
            return "zumba" in (await ask(bus, "qué tal va mi zumba")).groups

        await eventually(chosen)
        assert not service.problems()
        await Bucket(bus, "catalog").delete("zumba")

        async def gone() -> bool:
            return not await chosen()

        await eventually(gone)


async def test_a_group_that_is_not_configured_is_never_chosen(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    await declare(bus, configured=False, names=("notes",))
    async with routing(nats_server):
        for text in ("guarda una nota", "hola", "haz algo con todo", "notas notas notas"):
            assert "notes" not in (await ask(bus, text, open_groups=["notes"])).groups


async def test_only_allowed_groups_are_chosen(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    async with routing(nats_server):
        decision = await ask(bus, "guarda una nota y recuérdame mañana llamar", allowed=["reminders"])
        assert decision.groups == ["reminders"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"type":"route.request"}',
        b'{"type":"route.request","text":5}',
        b'{"type":"route.other"}',
        b'{"type":"x\\r\\nNats-Service-Error-Code: 200"}',
        b'{"type":"\\u00f1"}',
    ],
)
async def test_what_is_no_question_is_answered_as_a_bad_request(
    bus: Bus, nats_server: PrivateNats, data: bytes
) -> None:
    async with routing(nats_server):
        reply = await bus.client.request(subjects.ROUTE, data, timeout=2)
        assert (reply.headers or {}).get("Nats-Service-Error-Code") == "400"
        assert await ask(bus, "hola")


@pytest.mark.parametrize("text", ["", " ", "\x00\x07", "🤷" * 500, "a" * 100_000, "(" * 5000, "\u202e*[.+?"])
async def test_any_text_gets_a_decision(bus: Bus, nats_server: PrivateNats, text: str) -> None:
    await declare(bus)
    async with routing(nats_server):
        assert (await ask(bus, text)).layer


async def test_two_routers_share_the_questions_and_agree(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    async with routing(nats_server), routing(nats_server):
        decisions = [await ask(bus, "guarda una nota: pan") for _ in range(10)]
    assert {tuple(d.groups) for d in decisions} == {("notes",)}


async def test_routing_goes_on_after_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    async with routing(nats_server):
        nats_server.kill()

        async def answered() -> bool:
            try:
                return (await ask(bus, "guarda una nota: pan")).groups == ["notes"]
            except BusUnavailable:
                return False

        await eventually(answered)
