import asyncio
import contextlib
from pathlib import Path

from services.agent.service import AgentService
from shared.clock import utc_now
from shared.conversation.log import put_input
from shared.messages.conversation import ReminderDue
from shared.settings.schema import Http
from tests.integration.agent.conftest import SCRIPT
from tests.integration.agent.streams import ACCEPT, Event, all_events, events_of
from tests.support.eventually import eventually
from tests.support.system import System, running_system


def body(text: str, **more: str) -> dict[str, str]:
    return {"conversation_id": "c1", "user_id": "ana", "text": text, **more}


async def streamed(system: System, text: str, **more: str) -> list[Event]:
    async with system.api.stream("POST", "/v1/turns", json=body(text, **more), headers=ACCEPT) as response:
        return await all_events(response)


def subscriptions(system: System) -> int:
    """Subscriptions on the agent's connection."""
    service = system.runners["agent"].service
    assert isinstance(service, AgentService)
    return len(service.bus.client._subs)


async def test_a_turn_is_told_from_its_acceptance_to_its_answer(system: System) -> None:
    events = await streamed(system, "guarda una nota: comprar leche")
    assert [e.name for e in events if e.name != "delta"] == [
        "accepted",
        "routed",
        "step",
        "tool_started",
        "tool_finished",
        "step",
        "answer",
    ]
    by_name = {e.name: e.body for e in events}
    names = [e.name for e in events]
    assert names.index("routed") < names.index("delta") < names.index("step")
    assert by_name["accepted"]["turn_url"] == f"/v1/turns/{by_name['accepted']['input_seq']}"
    assert (by_name["routed"]["layer"], by_name["routed"]["groups"]) == ("keywords", ["notes"])
    assert by_name["tool_started"]["arguments"] == {"text": "comprar leche"}
    assert by_name["tool_finished"]["status"] == "ok"
    assert by_name["answer"] == (await system.api.get(by_name["accepted"]["turn_url"])).json()
    for step, text in ((1, "Voy."), (2, "Guardada.")):
        assert "".join(e.body["text"] for e in events if e.name == "delta" and e.body["step"] == step) == text
    ids = [int(e.id) for e in events if e.id]
    assert ids == sorted(set(ids))


async def test_the_text_comes_in_pieces_as_the_model_writes_it(system: System) -> None:
    events = await streamed(system, "un poema")
    deltas = [e.body["text"] for e in events if e.name == "delta"]
    assert len(deltas) > 5
    assert "".join(deltas) == events[-1].body["answer"]


async def test_text_that_is_void_is_taken_back(system: System) -> None:
    events = await streamed(system, "tropieza")
    names = [e.name for e in events]
    assert "reset" in names
    after = events[len(names) - 1 - names[::-1].index("reset") :]
    assert "".join(e.body["text"] for e in after if e.name == "delta") == "uno dos tres cuatro"
    assert events[-1].body["answer"] == "uno dos tres cuatro"


async def test_a_turn_that_fails_ends_its_stream_with_failed(system: System) -> None:
    events = await streamed(system, "falla")
    assert (events[-1].name, events[-1].body["status"]) == ("failed", "failed")


async def test_a_repeated_message_streams_the_turn_it_already_has(system: System) -> None:
    answered = (await system.say("hola", idempotency_key="k")).json()
    events = await streamed(system, "hola", idempotency_key="k")
    assert [e.name for e in events] == ["accepted", "routed", "step", "answer"]
    assert events[-1].body == answered


async def test_a_message_that_joins_a_running_turn_streams_the_rest_of_it(system: System) -> None:
    await system.say("prepara mis notas", wait_s=0)
    await system.model.until_received(1)
    events = await streamed(system, "y otra cosa")
    assert [e.name for e in events if e.name != "delta"] == ["accepted", "step", "answer"]
    assert len(events[-1].body["inputs"]) == 2


async def test_a_client_that_hangs_up_harms_nothing_and_leaves_nothing(system: System) -> None:
    await system.say("hola")
    before = subscriptions(system)
    async with system.api.stream("POST", "/v1/turns", json=body("un poema"), headers=ACCEPT) as response:
        async for event in events_of(response):
            if event.name == "accepted":
                url = event.body["turn_url"]
            if event.name == "delta":
                break

    async def answered() -> bool:
        return (await system.api.get(url)).json()["status"] == "answered"

    await eventually(answered)
    await eventually(lambda: subscriptions(system) == before)


async def test_a_client_that_stops_reading_does_not_stop_the_turn(system: System) -> None:
    async with system.api.stream("POST", "/v1/turns", json=body("un poema"), headers=ACCEPT) as response:
        events = events_of(response)
        accepted = (await anext(events)).body

        async def answered() -> bool:
            return (await system.api.get(accepted["turn_url"])).json()["status"] == "answered"

        await eventually(answered)
        rest = [event async for event in events]
    assert rest[-1].name == "answer"


async def test_a_follower_hears_everybody_and_every_answer(system: System) -> None:
    async with system.api.stream("GET", "/v1/conversations/c1/stream") as response:
        events = events_of(response)
        assert (await anext(events)).name == ":"
        await system.say("hola", user="ana")
        await system.say("guarda una nota: x", user="luis")
        await put_input(
            system.bus,
            "c1",
            ReminderDue(schedule_id="s", user_id="ana", text="regar", due_at=utc_now()),
            message_id="due",
        )
        told: list[Event] = []
        async for event in events:
            told.append(event)
            if event.name == "answer" and "regar" in event.body["answer"]:
                break
    names = [e.name for e in told if e.name != "delta"]
    turn = ["routed", "step", "answer"]
    assert names == [
        "message",
        *turn,
        "message",
        "routed",
        "step",
        "tool_started",
        "tool_finished",
        "step",
        "answer",
        "routed",
        "answer",
    ]
    assert [e.body["user_id"] for e in told if e.name == "message"] == ["ana", "luis"]
    assert [e.body["status"] for e in told if e.name == "answer"] == ["answered"] * 3


async def test_a_follower_goes_on_after_the_last_event_it_saw(system: System) -> None:
    first = (await system.say("hola")).json()
    second = (await system.say("guarda una nota: x")).json()
    last_seen = first["inputs"][0]
    headers = {"last-event-id": str(last_seen)}
    async with system.api.stream("GET", "/v1/conversations/c1/stream", headers=headers) as response:
        told: list[Event] = []
        async for event in events_of(response):
            told.append(event)
            if event.name == "answer" and event.body["turn_id"] == second["turn_id"]:
                break
    assert [e.body for e in told if e.name == "answer"] == [first, second]
    assert [e.body["text"] for e in told if e.name == "message"] == ["guarda una nota: x"]


async def test_a_follower_who_joins_in_mid_turn_hears_its_end(system: System) -> None:
    await system.say("despacio", wait_s=0)
    await system.model.until_received(1)
    async with system.api.stream("GET", "/v1/conversations/c1/stream") as response:
        async for event in events_of(response):
            if event.name == "answer":
                break
    assert event.body["answer"] == "con calma"


async def test_a_silent_stream_is_kept_alive(tmp_path: Path) -> None:
    async with (
        running_system(tmp_path, SCRIPT, http=Http(sse_keepalive_s=0.1)) as system,
        system.api.stream("GET", "/v1/conversations/c1/stream") as response,
    ):
        events = events_of(response)
        assert [(await anext(events)).name for _ in range(4)] == [":"] * 4


async def test_a_stream_outlives_the_broker(tmp_path: Path) -> None:
    async with running_system(tmp_path, SCRIPT) as system:
        await system.say("hola")
        async with system.api.stream("GET", "/v1/conversations/c1/stream") as response:
            events = events_of(response)
            await anext(events)
            await system.nats.stop()
            await system.nats.start()

            async def said() -> bool:
                with contextlib.suppress(AssertionError):
                    return (await system.say("hola", idempotency_key="again")).status_code == 200
                return False

            await eventually(said, within_s=20)
            async with asyncio.timeout(10):
                async for event in events:
                    if event.name == "answer":
                        break
        assert event.body["answer"] == "Hola."
