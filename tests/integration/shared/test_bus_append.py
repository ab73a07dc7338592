"""Appends are certain: stored once or told why not, whatever happens to the server meanwhile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from shared.bus import Bus
from shared.errors import BusUnavailable, EventTooLarge, FenceLost, Permanent, StorageFull
from shared.topology import ensure_streams
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected, private_nats, settings_for


@asynccontextmanager
async def impatient(server: PrivateNats, **changes: object) -> AsyncIterator[Bus]:
    settings = server.bus_settings(**{"request_timeout_s": 0.3, **changes})
    async with connected(settings) as bus:
        await ensure_streams(bus.client.jetstream(), settings_for(server))
        yield bus


@asynccontextmanager
async def frozen(server: PrivateNats) -> AsyncIterator[None]:
    """The server takes bytes but does nothing, as on a machine that swaps."""
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    process.suspend()
    threads = Path(f"/proc/{process.pid}/task")
    await eventually(lambda: all(") T " in stat.read_text() for stat in threads.glob("*/stat")))
    try:
        yield
    finally:
        process.resume()


async def tried_again(bus: Bus) -> None:
    """Wait until the first try of an append went unanswered and the second is on its way."""
    before = bus.client.stats["out_msgs"]
    await eventually(lambda: bus.client.stats["out_msgs"] >= before + 2)


async def test_a_message_is_stored_once_under_its_id(bus: Bus) -> None:
    first = await bus.append_bytes("conv.c.in", b"one", msg_id="m1")
    again = await bus.append_bytes("conv.c.in", b"one", msg_id="m1")
    assert (first.duplicate, again.duplicate, again.seq) == (False, True, first.seq)
    assert [m.data for m in await bus.read("conv.c.in")] == [b"one"]


async def test_every_append_survives_kills_of_the_server_and_is_stored_once(nats_server: PrivateNats) -> None:
    async with impatient(nats_server) as bus:
        done: list[int] = []

        async def append(number: int) -> None:
            await asyncio.sleep(number * 0.004)  # spread, so that the kills fall between and within appends
            stored = await bus.append_bytes("conv.c.in", b"%d" % number, msg_id=f"m{number}")
            done.append(stored.seq)

        async def kill() -> None:
            for _ in range(2):
                await asyncio.sleep(0.3)
                nats_server.kill()

        await asyncio.gather(kill(), *(append(n) for n in range(300)))
        found = await bus.read("conv.c.in")
    assert Counter(m.data for m in found) == Counter(b"%d" % n for n in range(300))
    assert sorted(done) == [m.seq for m in found]


async def test_an_append_behind_the_fence_is_refused_and_stores_nothing(bus: Bus) -> None:
    stored = await bus.append_bytes("conv.c.log", b"one", msg_id="m1", expect=0)
    for stale in (0, stored.seq - 1, stored.seq + 1):
        with pytest.raises(FenceLost):
            await bus.append_bytes("conv.c.log", b"two", msg_id="m2", expect=stale)
    await bus.append_bytes("conv.c.log", b"two", msg_id="m2", expect=stored.seq)
    assert [m.data for m in await bus.read("conv.c.log")] == [b"one", b"two"]


async def test_the_fence_of_a_conversation_ignores_its_other_subjects_and_other_conversations(bus: Bus) -> None:
    first = await bus.append_bytes("conv.c.log", b"one", msg_id="m1", expect=0)
    await bus.append_bytes("conv.c.in", b"x", msg_id="x1")
    await bus.append_bytes("conv.d.log", b"y", msg_id="y1", expect=0)
    assert (await bus.append_bytes("conv.c.log", b"two", msg_id="m2", expect=first.seq)).seq == 4


async def test_of_many_writers_with_the_same_fence_exactly_one_wins(bus: Bus) -> None:
    tries = [bus.append_bytes("conv.c.log", b"%d" % n, msg_id=f"m{n}", expect=0) for n in range(20)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert Counter(type(o).__name__ for o in outcomes) == {"Stored": 1, "FenceLost": 19}
    assert len(await bus.read("conv.c.log")) == 1


async def test_after_a_lost_ack_the_writer_recognises_its_own_message(nats_server: PrivateNats) -> None:
    async with impatient(nats_server) as bus:
        async with frozen(nats_server):
            append = asyncio.create_task(bus.append_bytes("conv.c.log", b"mine", msg_id="m1", expect=0))
            await tried_again(bus)
        stored = await append
        found = await bus.read("conv.c.log")
    assert [(m.seq, m.data) for m in found] == [(stored.seq, b"mine")]
    assert stored.duplicate


async def test_after_an_unanswered_try_somebody_elses_message_is_not_taken_for_ones_own(
    nats_server: PrivateNats,
) -> None:
    async with impatient(nats_server) as bus:
        await bus.append_bytes("conv.c.log", b"theirs", msg_id="t1", expect=0)
        async with frozen(nats_server):
            append = asyncio.create_task(bus.append_bytes("conv.c.log", b"mine", msg_id="m1", expect=0))
            await tried_again(bus)
        with pytest.raises(FenceLost):
            await append
        assert [m.data for m in await bus.read("conv.c.log")] == [b"theirs"]


async def test_without_a_server_the_writer_is_told_after_its_patience(nats_server: PrivateNats) -> None:
    async with impatient(nats_server, publish_patience_s=0.6) as bus:
        await nats_server.stop()
        began = asyncio.get_running_loop().time()
        with pytest.raises(BusUnavailable):
            await bus.append_bytes("conv.c.in", b"x", msg_id="m1")
        assert 0.6 <= asyncio.get_running_loop().time() - began < 2


async def test_a_full_store_is_told_as_such_and_earlier_messages_stay(tmp_path: Path) -> None:
    async with private_nats(tmp_path / "small", max_store_bytes=1 << 20) as server, impatient(server) as bus:

        async def fill() -> None:
            for number in range(100):
                await bus.append_bytes("conv.c.in", b"x" * 100_000, msg_id=f"m{number}")

        with pytest.raises(StorageFull):
            await fill()
        stored = await bus.read("conv.c.in")
        assert 0 < len(stored) < 12
        assert [len(m.data) for m in stored] == [100_000] * len(stored)


async def test_an_event_at_the_limit_is_stored_and_a_larger_one_refused_before_it_is_sent(bus: Bus) -> None:
    most = bus.settings.max_event_bytes
    await bus.append_bytes("conv.c.in", b"x" * most, msg_id="m1")
    with pytest.raises(EventTooLarge):
        await bus.append_bytes("conv.c.in", b"x" * (most + 1), msg_id="m2")
    with pytest.raises(EventTooLarge):
        await bus.append_bytes("conv.c.in", b"x" * 1_100_000, msg_id="m3", limit=2_000_000)
    assert len(await bus.read("conv.c.in")) == 1


async def test_what_the_broker_refuses_for_good_is_permanent(bus: Bus) -> None:
    with pytest.raises(Permanent, match="10189"):
        await bus.append_bytes("schedule.ana.r1", b"x", headers={"Nats-Schedule": "whenever"})


async def test_headers_with_any_letters_arrive_as_they_were(bus: Bus) -> None:
    await bus.append_bytes("conv.c.in", b"x", msg_id="ñandú 1", headers={"Jada-Note": "mañana: a las 7 ⏰"})
    found = await bus.read("conv.c.in")
    assert (found[0].headers["Jada-Note"], found[0].headers["Nats-Msg-Id"]) == ("mañana: a las 7 ⏰", "ñandú 1")
