"""Each way a handler ends, and what the broker then does with the message."""

import asyncio
import time
from typing import Any

import msgspec
import pytest

from shared.bus import Bus
from shared.errors import BusUnavailable, EventTooLarge, FenceLost, Malformed, Permanent
from shared.settle import HandBack, LetGo
from tests.integration.shared.working import Recorder, delivered, info, left, made, put, working
from tests.support.eventually import eventually

_TERMINATED = "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.TOOLS.test"


async def settled(bus: Bus) -> bool:
    state = await made(bus)
    return state is not None and await left(bus) == 0 and state.num_ack_pending == 0 and state.num_pending == 0


async def test_a_message_whose_handler_returns_is_acked_at_its_first_delivery(bus: Bus) -> None:
    handler = Recorder()
    async with working(bus, handler):
        await put(bus, b"one")
        await eventually(lambda: settled(bus))
        assert handler.seen == [(b"one", 1)]
        assert await delivered(bus) == 1


async def test_a_delivery_carries_subject_sequence_and_headers(bus: Bus) -> None:
    seen: list[Any] = []

    async def handler(delivery: Any) -> None:
        seen.append((delivery.subject, delivery.seq, delivery.headers["Jada-Note"]))

    async with working(bus, handler):
        seq = await put(bus, **{"Jada-Note": "hola"})
        await eventually(lambda: settled(bus))
    assert seen == [("tool.test.job", seq, "hola")]


async def test_a_message_handed_back_comes_again_after_the_delay_it_asked_for(bus: Bus) -> None:
    handler = Recorder(HandBack(0.4))
    async with working(bus, handler):
        await put(bus)
        await eventually(lambda: handler.seen)
        began = time.monotonic()
        await eventually(lambda: len(handler.seen) == 2)
        assert 0.3 <= time.monotonic() - began < 1.5
        await eventually(lambda: settled(bus))
        assert handler.seen == [(b"x", 1), (b"x", 2)]
        assert await delivered(bus) == 2


@pytest.mark.parametrize("problem", [BusUnavailable("x"), FenceLost("x"), RuntimeError("x"), KeyError("x")])
async def test_what_may_work_later_is_tried_again_after_a_pause(bus: Bus, problem: Exception) -> None:
    handler = Recorder(problem)
    async with working(bus, handler):
        await put(bus)
        await eventually(lambda: settled(bus))
        assert await delivered(bus) == 2
    assert await bus.read("dead.*") == []


@pytest.mark.parametrize(
    "problem",
    [
        Permanent("no"),
        Malformed("not JSON"),
        EventTooLarge("big"),
        Permanent("line one\r\nNats-TTL: 1s\r\n\r\nline two"),
        Permanent("roto \ud83d aquí ñ" * 100),
    ],
)
async def test_what_can_never_work_becomes_a_dead_letter_and_is_terminated(bus: Bus, problem: Permanent) -> None:
    advisories: list[dict[str, Any]] = []

    async def note(message: Any) -> None:
        advisories.append(msgspec.json.decode(message.data))

    await bus.subscribe(_TERMINATED, note)
    handler = Recorder(problem)
    async with working(bus, handler):
        seq = await put(bus, b"bad")
        await eventually(lambda: settled(bus))
        assert await delivered(bus) == 1
        await eventually(lambda: [a["stream_seq"] for a in advisories] == [seq])
    dead = await bus.read("dead.*")
    assert [(m.subject, m.data, m.headers["Jada-Subject"]) for m in dead] == [("dead.TOOLS", b"bad", "tool.test.job")]
    assert dead[0].headers["Jada-Reason"].startswith(str(problem)[:2])
    assert "Nats-TTL" not in dead[0].headers


async def test_a_message_let_go_is_neither_acked_nor_handed_back_nor_kept_in_progress(bus: Bus) -> None:
    handler = Recorder(LetGo())
    async with working(bus, handler, ack_wait_s=1.0):
        await put(bus)
        await eventually(lambda: handler.seen)
        await asyncio.sleep(0.5)  # within ack_wait nothing may have happened to it
        assert (await info(bus)).num_ack_pending == 1
        assert len(handler.seen) == 1
        await eventually(lambda: settled(bus))
        assert handler.seen == [(b"x", 1), (b"x", 2)]


async def test_while_its_handler_runs_a_message_is_kept_in_progress(bus: Bus) -> None:
    seen: list[int] = []

    async def slow(delivery: Any) -> None:
        seen.append(delivery.delivered)
        await asyncio.sleep(2.0)

    async with working(bus, slow, ack_wait_s=0.6):
        await put(bus)
        await eventually(lambda: settled(bus))
        assert seen == [1]
        assert await delivered(bus) == 1


async def test_an_unwanted_message_is_acked_without_its_handler(bus: Bus) -> None:
    handler = Recorder()
    async with working(bus, handler, wants=lambda delivery: delivery.data != b"noise", concurrency=2):
        for number in range(30):
            await put(bus, b"noise" if number % 3 else b"%d" % number)
        await eventually(lambda: settled(bus))
        assert sorted(int(data) for data, _ in handler.seen) == list(range(0, 30, 3))
        assert await delivered(bus) == 30


async def test_a_message_that_fails_does_not_hold_up_the_others(bus: Bus) -> None:
    handler = Recorder(HandBack(1.0), RuntimeError("x"), LetGo(), Permanent("no"))
    async with working(bus, handler, concurrency=2, ack_wait_s=1.0):
        for number in range(20):
            await put(bus, b"%d" % number)
        await eventually(lambda: len({data for data, _ in handler.seen}) == 20, within_s=2)
        await eventually(lambda: settled(bus))
        assert await delivered(bus) == 23
