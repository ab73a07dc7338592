"""A conversation's log on the wire: inputs accepted once, decisions fenced, reading from the last checkpoint."""

from datetime import UTC, datetime

import pytest

from shared import subjects
from shared.bus import Bus
from shared.conversation.fold import CHECKPOINT_HEADER
from shared.conversation.log import ConversationLog, put_input, put_result
from shared.errors import FenceLost
from shared.messages.conversation import ToolFinished, TurnEnded, TurnStarted, UserMessage

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def message(text: str = "hola") -> UserMessage:
    return UserMessage(message_id="m", user_id="ana", text=text, sent_at=AT)


async def turn(log: ConversationLog, *inputs: int) -> str:
    turn_id = f"{inputs[0]}-t"
    started = TurnStarted(turn_id=turn_id, epoch=1, owner="a", lease=inputs[0], inputs=list(inputs), at=AT)
    await log.append(started, event_id=f"{turn_id}.started")
    return turn_id


async def end(log: ConversationLog, turn_id: str, *inputs: int) -> None:
    ended = TurnEnded(turn_id=turn_id, status="answered", answer="ya", inputs=list(inputs), at=AT)
    await log.append(ended, event_id=f"{turn_id}.ended")


async def test_an_input_is_accepted_once_under_its_id_in_each_conversation(bus: Bus) -> None:
    first = await put_input(bus, "c", message(), message_id="m1")
    assert (await put_input(bus, "c", message(), message_id="m1")).duplicate
    assert not (await put_input(bus, "d", message(), message_id="m1")).duplicate
    assert [m.seq for m in await bus.read("conv.c.in")] == [first.seq]


@pytest.mark.parametrize(
    "message_id", ["a\r\nNats-TTL: 1s", "a\r\n\r\nx", "a\nb", "ñandú ⏰", " padded ", "x" * 180, "a:b", "\x00"]
)
async def test_a_message_id_of_any_letters_is_an_id_and_nothing_else(bus: Bus, message_id: str) -> None:
    first = await put_input(bus, "c", message(), message_id=message_id)
    again = await put_input(bus, "c", message(), message_id=message_id)
    other = await put_input(bus, "c", message(), message_id=message_id + "2")
    assert (again.duplicate, again.seq, other.duplicate) == (True, first.seq, False)
    stored = (await bus.read("conv.c.in"))[0]
    assert set(stored.headers) <= {
        "Nats-Msg-Id",
        "traceparent",
        "Nats-Stream",
        "Nats-Subject",
        "Nats-Sequence",
        "Nats-Time-Stamp",
        "Nats-Num-Pending",
        "Nats-Last-Sequence",
    }


async def test_two_ids_that_differ_only_in_spaces_are_two_messages(bus: Bus) -> None:
    await put_input(bus, "c", message(), message_id="a")
    assert not (await put_input(bus, "c", message(), message_id=" a ")).duplicate


async def test_a_result_is_stored_once_per_call(bus: Bus) -> None:
    done = ToolFinished(call_id="k", turn_id="1-t", name="x", status="ok", at=AT)
    await put_result(bus, "conv.c.tool", done)
    assert (await put_result(bus, "conv.c.tool", done)).duplicate


async def test_a_conversation_nobody_wrote_in_is_empty(bus: Bus) -> None:
    log = await ConversationLog.open(bus, "nobody")
    assert (log.state.fence, log.state.turns, log.state.pending_inputs()) == (0, [], [])


async def test_of_two_owners_only_the_one_who_read_last_can_append(bus: Bus) -> None:
    seq = (await put_input(bus, "c", message(), message_id="m1")).seq
    one, two = await ConversationLog.open(bus, "c"), await ConversationLog.open(bus, "c")
    turn_id = await turn(one, seq)
    with pytest.raises(FenceLost):
        await end(two, turn_id, seq)
    await two.refresh()
    assert two.state.open is not None
    await end(two, turn_id, seq)
    with pytest.raises(FenceLost):
        await end(one, turn_id, seq)
    assert [m.subject for m in await bus.read("conv.c.log")] == [subjects.conv_log("c")] * 2


async def test_an_owner_sees_inputs_and_results_that_came_since(bus: Bus) -> None:
    seq = (await put_input(bus, "c", message(), message_id="m1")).seq
    log = await ConversationLog.open(bus, "c")
    turn_id = await turn(log, seq)
    later = (await put_input(bus, "c", message("y"), message_id="m2")).seq
    await put_result(bus, "conv.c.tool", ToolFinished(call_id="k", turn_id=turn_id, name="x", status="ok", at=AT))
    assert log.state.pending_inputs() == []
    await log.refresh_inputs()
    await log.refresh_results()
    assert log.state.pending_inputs() == [later]
    assert log.state.open is not None
    assert list(log.state.open.outcomes) == ["k"]


async def test_a_reader_starts_at_the_checkpoint_of_the_last_event(bus: Bus) -> None:
    log = await ConversationLog.open(bus, "c")
    for number in range(4):
        seq = (await put_input(bus, "c", message(), message_id=f"m{number}")).seq
        await log.refresh_inputs()
        turn_id = await turn(log, seq)
        if number == 3:
            log.state.forget_before(2, 70)
        await end(log, turn_id, seq)
    reader = await ConversationLog.open(bus, "c")
    assert [t.turn_id for t in reader.state.turns] == [t.turn_id for t in log.state.turns]
    assert len(reader.state.turns) == 2
    assert reader.state.checkpoint == log.state.checkpoint
    assert (reader.state.checkpoint.turns, reader.state.checkpoint.tokens) == (2, 70)
    assert CHECKPOINT_HEADER in (await bus.read("conv.c.log"))[-1].headers


async def test_an_event_nobody_can_read_is_skipped(bus: Bus) -> None:
    await bus.append_bytes("conv.c.in", b"not json", msg_id="bad")
    await bus.append_bytes("conv.c.log", b'{"type":"log.turn_started","epoch":"x"}', msg_id="worse")
    await bus.append_bytes("conv.c.log", b'{"type":"log.from_tomorrow"}', msg_id="newer")
    seq = (await put_input(bus, "c", message(), message_id="m1")).seq
    log = await ConversationLog.open(bus, "c")
    assert log.state.pending_inputs() == [seq]
    await turn(log, seq)
