"""Finished turns are captured once each, whoever reads them and however often."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from nats.js.errors import NotFoundError

from services.learner.service import LearnerService
from shared import subjects
from shared.bus import Bus
from shared.conversation.log import ConversationLog, put_input, put_result
from shared.learned_examples import LearnedExamples
from shared.lifecycle import Context
from shared.messages import playbook
from shared.messages.conversation import (
    CallRequested,
    ModelReplied,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    TurnStatus,
    UserMessage,
)
from shared.messages.playbook import TurnsCaptured
from shared.messages.routing import RouteDecision
from shared.settings.schema import Learner
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected, settings_for

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@asynccontextmanager
async def learning(server: PrivateNats, *, window_s: float = 0.2) -> AsyncIterator[LearnerService]:
    settings = settings_for(server, learner=Learner(window_s=window_s, pull_every_s=0.2))
    async with connected(server.bus_settings(), "learner") as bus:
        service = LearnerService(Context(bus, settings))
        await service.start()
        try:
            yield service
        finally:
            await service.stop(1.0)


async def turn(
    bus: Bus,
    number: int,
    *,
    user: str = "ana",
    conversation: str = "c",
    calls: int = 1,
    status: TurnStatus = "answered",
    text: str = "hola",
    route: RouteDecision | None = None,
) -> str:
    """Write a whole turn into the log, as an agent does; its id."""
    message = UserMessage(message_id=f"m{number}", user_id=user, text=text, sent_at=AT)
    seq = (await put_input(bus, conversation, message, message_id=f"m{number}")).seq
    turn_id = f"{seq}-t{number}"
    log = await ConversationLog.open(bus, conversation)
    started = TurnStarted(turn_id=turn_id, epoch=1, owner="a", lease=seq, inputs=[seq], at=AT, route=route)
    await log.append(started, event_id=f"{turn_id}.1")
    if calls:
        requested = [CallRequested(call_id=f"{turn_id}.1.{n}", name=f"tool{n}", group="notes") for n in range(calls)]
        reply = ModelReplied(turn_id=turn_id, step=1, model="m", finish="calls", at=AT, calls=requested)
        await log.append(reply, event_id=f"{turn_id}.2")
        for one in requested:
            done = ToolFinished(call_id=one.call_id, turn_id=turn_id, name=one.name, status="ok", at=AT)
            await put_result(bus, subjects.conv_tool(conversation), done)
    ended = TurnEnded(turn_id=turn_id, status=status, answer="ya", inputs=[seq], at=AT, calls=calls)
    await log.append(ended, event_id=f"{turn_id}.3")
    return turn_id


async def captured(bus: Bus) -> list[TurnsCaptured]:
    found = [playbook.events.decode(m.data) for m in await bus.read("playbook.*")]
    return [event for event in found if isinstance(event, TurnsCaptured)]


async def turn_ids(bus: Bus) -> list[str]:
    return sorted(studied.turn_id for event in await captured(bus) for studied in event.turns)


async def settled(bus: Bus) -> bool:
    """Whether everything in the logs was delivered and acked."""
    try:
        info = await bus.client.jetstream().consumer_info("CONVERSATIONS", "learner")
    except NotFoundError:
        return False
    return info.num_pending == 0 and info.num_ack_pending == 0


async def test_a_turn_that_used_tools_is_captured_for_its_user(bus: Bus, nats_server: PrivateNats) -> None:
    async with learning(nats_server):
        turn_id = await turn(bus, 1, calls=2)
        event = (await eventually(lambda: captured(bus)))[0]
        await eventually(lambda: settled(bus))
    assert (event.user_id, event.conversation_id) == ("ana", "c")
    assert [(t.turn_id, t.tools, t.failed) for t in event.turns] == [(turn_id, ["tool0", "tool1"], [])]
    assert [m.subject for m in await bus.read("playbook.*")] == [subjects.playbook("user:ana")]


async def test_turns_without_tools_and_failed_ones_are_passed_over_at_once(bus: Bus, nats_server: PrivateNats) -> None:
    async with learning(nats_server, window_s=600):
        await turn(bus, 1, calls=0)
        await turn(bus, 2, status="failed")
        await turn(bus, 3, status="cancelled")
        await eventually(lambda: settled(bus))
    assert await captured(bus) == []


async def test_turns_of_one_window_are_captured_together_each_user_apart(bus: Bus, nats_server: PrivateNats) -> None:
    made = [await turn(bus, n, user="ana" if n % 2 else "luis") for n in range(6)]
    async with learning(nats_server):
        await eventually(lambda: settled(bus))
    events = await captured(bus)
    assert sorted((e.user_id, len(e.turns)) for e in events) == [("ana", 3), ("luis", 3)]
    assert await turn_ids(bus) == sorted(made)


async def test_two_learners_capture_every_turn_once(bus: Bus, nats_server: PrivateNats) -> None:
    async with learning(nats_server), learning(nats_server):
        made = await asyncio.gather(*(turn(bus, n, conversation=f"c{n % 5}") for n in range(5)))
        made += [await turn(bus, n, conversation=f"c{n % 5}") for n in range(5, 20)]
        await eventually(lambda: settled(bus), within_s=20)
    assert await turn_ids(bus) == sorted(made)


async def test_a_learner_that_stops_amid_a_window_loses_nothing_and_captures_nothing_twice(
    bus: Bus, nats_server: PrivateNats
) -> None:
    async with learning(nats_server, window_s=600) as first:
        one = await turn(bus, 1)
        await eventually(lambda: first._worker.in_flight == 1)
    async with learning(nats_server):
        two = await turn(bus, 2)
        await eventually(lambda: settled(bus))
    assert await turn_ids(bus) == sorted([one, two])


async def test_turns_delivered_all_over_again_are_not_captured_again(bus: Bus, nats_server: PrivateNats) -> None:
    made = [await turn(bus, n) for n in range(3)]
    async with learning(nats_server):
        await eventually(lambda: settled(bus))
    await bus.client.jetstream().delete_consumer("CONVERSATIONS", "learner")
    async with learning(nats_server):
        last = await turn(bus, 9)
        await eventually(lambda: settled(bus))
    assert await turn_ids(bus) == sorted([*made, last])


async def test_learning_goes_on_over_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    async with learning(nats_server):
        made = [await turn(bus, n) for n in range(3)]
        nats_server.kill()
        made += [await turn(bus, n) for n in range(3, 6)]
        # What was lost on its way with the server comes again after `ack_wait`, half a minute here.
        await eventually(lambda: settled(bus), within_s=45)
    assert await turn_ids(bus) == sorted(made)


async def test_an_event_nobody_can_read_does_not_keep_its_neighbours_from_being_studied(
    bus: Bus, nats_server: PrivateNats
) -> None:
    message = UserMessage(message_id="m", user_id="ana", text="hola", sent_at=AT)
    await put_input(bus, "c", message, message_id="m")
    made = await turn(bus, 1)
    await bus.append_bytes("conv.c.in", b'{"type":"input.user_message","text":5}', msg_id="broken")
    await bus.append_bytes("conv.c.tool", b"not json", msg_id="worse")
    async with learning(nats_server):
        await eventually(lambda: captured(bus), within_s=4)
        await eventually(lambda: settled(bus))
    assert await turn_ids(bus) == [made]


async def test_an_unreadable_capture_does_not_stop_its_user_from_being_learned_from(
    bus: Bus, nats_server: PrivateNats
) -> None:
    await bus.append_bytes(subjects.playbook("user:ana"), b'{"type":"playbook.turns_captured"}', msg_id="broken")
    made = await turn(bus, 1)
    async with learning(nats_server):
        await eventually(lambda: settled(bus))
    stored = await bus.read("playbook.*")
    assert made.encode() in stored[-1].data


async def test_the_longest_user_id_is_learned_from(bus: Bus, nats_server: PrivateNats) -> None:
    user = "u" * subjects.MAX_TOKEN_BYTES
    made = await turn(bus, 1, user=user)
    async with learning(nats_server):
        await eventually(lambda: captured(bus), within_s=4)
    assert await turn_ids(bus) == [made]


async def test_the_router_is_taught_an_utterance_that_it_could_not_place(bus: Bus, nats_server: PrivateNats) -> None:
    """And only that: what it had placed, or what ended badly, teaches nothing."""
    lost = RouteDecision(layer="all", groups=["notes", "reminders"])
    await turn(bus, 1, text="zumba carabí", route=lost)
    await turn(bus, 2, text="guarda esto", route=RouteDecision(layer="keywords", groups=["notes"]))
    await turn(bus, 3, text="otra cosa", route=lost, status="failed")
    async with learning(nats_server):
        found = await eventually(LearnedExamples(bus).list)
        await eventually(lambda: captured(bus))

    assert [(e.group, e.text, e.source) for e in found] == [("notes", "zumba carabí", "outcome")]
    assert [e.text for e in await LearnedExamples(bus).list()] == ["zumba carabí"]
