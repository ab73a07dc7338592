"""What was learned from use changes decisions at once, and can be taken back."""

from shared.bus import Bus
from shared.clock import utc_now
from shared.learned_examples import LearnedExamples
from tests.integration.router.test_router_service import ask, declare, routing
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats

UTTERANCE = "zumba carabí que te vi"


async def test_a_taught_utterance_is_routed_to_its_group_at_once(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    async with routing(nats_server):
        assert (await ask(bus, UTTERANCE)).groups != ["reminders"]

        await LearnedExamples(bus).add("reminders", UTTERANCE, source="operator", at=utc_now())

        async def taught() -> bool:
            return (await ask(bus, "¡Zumba CARABI  que te vi!")).groups == ["reminders"]

        await eventually(taught)


async def test_what_was_taught_is_forgotten_when_it_is_removed(bus: Bus, nats_server: PrivateNats) -> None:
    await declare(bus)
    examples = LearnedExamples(bus)
    await examples.add("reminders", UTTERANCE, source="outcome", at=utc_now())
    async with routing(nats_server):
        assert (await ask(bus, UTTERANCE)).groups == ["reminders"]

        assert await examples.remove("reminders", UTTERANCE)

        async def forgotten() -> bool:
            return (await ask(bus, UTTERANCE)).groups != ["reminders"]

        await eventually(forgotten)


async def test_an_utterance_of_a_group_that_is_not_configured_chooses_nothing(
    bus: Bus, nats_server: PrivateNats
) -> None:
    await declare(bus, configured=False)
    await LearnedExamples(bus).add("reminders", UTTERANCE, source="operator", at=utc_now())
    async with routing(nats_server):
        assert (await ask(bus, UTTERANCE)).groups == []
