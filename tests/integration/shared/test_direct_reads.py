"""Direct reads: all of it, in order, over any number of batches."""

import asyncio

import pytest

from shared.bus import Bus
from shared.errors import BusUnavailable, Retryable
from shared.topology import ensure_streams
from tests.support.nats import PrivateNats, connected, settings_for


async def fill(bus: Bus, count: int, subject: str = "conv.c.in") -> None:
    jetstream = bus.client.jetstream()
    for at in range(0, count, 500):
        await asyncio.gather(*(jetstream.publish(subject, b"%d" % n) for n in range(at, min(count, at + 500))))


@pytest.mark.parametrize("count", [0, 1, 20, 1999, 2000, 2001, 5000])
async def test_every_message_is_read_in_order(bus: Bus, count: int) -> None:
    await fill(bus, count)
    found = await bus.read("conv.c.in")
    assert [m.seq for m in found] == list(range(1, count + 1))
    assert sorted(int(m.data) for m in found) == list(range(count))


async def test_reading_starts_at_the_sequence_asked_for(bus: Bus) -> None:
    await fill(bus, 20)
    assert [m.seq for m in await bus.read("conv.c.in", start=19)] == [19, 20]
    assert await bus.read("conv.c.in", start=21) == []
    assert len(await bus.read("conv.c.in", start=0)) == 20


async def test_a_wildcard_reads_its_subjects_interleaved_and_no_others(bus: Bus) -> None:
    jetstream = bus.client.jetstream()
    for subject in ("conv.c.in", "conv.d.in", "conv.c.log", "conv.cc.in", "conv.c.tool"):
        await jetstream.publish(subject, subject.encode())
    found = await bus.read("conv.c.>")
    assert [(m.seq, m.subject) for m in found] == [(1, "conv.c.in"), (3, "conv.c.log"), (5, "conv.c.tool")]
    assert [m.subject for m in await bus.read("conv.*.in")] == ["conv.c.in", "conv.d.in", "conv.cc.in"]


async def test_deleted_messages_leave_no_hole_in_what_is_read(bus: Bus) -> None:
    await fill(bus, 10)
    await bus.client.jetstream().delete_msg("CONVERSATIONS", 4)
    assert [m.seq for m in await bus.read("conv.c.in")] == [1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert await bus.direct.get("CONVERSATIONS", 4) is None


async def test_large_messages_do_not_end_a_read_early(bus: Bus) -> None:
    data = b"x" * 200_000
    for number in range(40):
        await bus.append_bytes("conv.c.in", data, msg_id=f"m{number}")
    assert [len(m.data) for m in await bus.read("conv.c.in")] == [200_000] * 40


async def test_reads_at_the_same_time_do_not_mix(bus: Bus) -> None:
    for name in "abcdef":
        await fill(bus, 300, f"conv.{name}.in")
    found = await asyncio.gather(*(bus.read(f"conv.{name}.in") for name in "abcdef"))
    assert [{m.subject for m in one} for one in found] == [{f"conv.{name}.in"} for name in "abcdef"]
    assert [len(one) for one in found] == [300] * 6


async def test_a_subject_nobody_wrote_to_is_empty_and_has_no_last_message(bus: Bus) -> None:
    assert await bus.read("conv.nobody.>") == []
    assert await bus.direct.last("CONVERSATIONS", "conv.nobody.log") is None
    assert await bus.leader_last("CONVERSATIONS", "conv.nobody.log") is None


async def test_the_last_message_and_any_other_can_be_read_alone(bus: Bus) -> None:
    await fill(bus, 3)
    last = await bus.direct.last("CONVERSATIONS", "conv.c.in")
    second = await bus.direct.get("CONVERSATIONS", 2)
    assert last is not None
    assert second is not None
    assert (last.seq, second.seq, second.subject) == (3, 2, "conv.c.in")
    leader = await bus.leader_last("CONVERSATIONS", "conv.c.in")
    assert leader is not None
    assert leader[0] == 3


async def test_a_stream_that_is_gone_is_worth_another_try(bus: Bus) -> None:
    await bus.client.jetstream().delete_stream("CONVERSATIONS")
    with pytest.raises(Retryable):
        await bus.read("conv.c.in")
    with pytest.raises(Retryable):
        await bus.direct.last("CONVERSATIONS", "conv.c.in")


async def test_a_server_that_is_away_is_told_after_two_tries(nats_server: PrivateNats) -> None:
    async with connected(nats_server.bus_settings(request_timeout_s=0.3)) as bus:
        await ensure_streams(bus.client.jetstream(), settings_for(nats_server))
        await nats_server.stop()
        began = asyncio.get_running_loop().time()
        for attempt in (bus.read("conv.c.in"), bus.direct.page("CONVERSATIONS", "conv.c.in", start=1, limit=5)):
            with pytest.raises(BusUnavailable):
                await attempt
        with pytest.raises(BusUnavailable):
            await bus.leader_last("CONVERSATIONS", "conv.c.in")
        assert asyncio.get_running_loop().time() - began < 3


async def test_a_read_goes_on_over_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    await fill(bus, 3000)
    nats_server.kill()
    assert len(await bus.read("conv.c.in")) == 3000


async def test_a_page_is_the_first_part_of_what_a_read_finds(bus: Bus) -> None:
    await fill(bus, 10)
    page = await bus.direct.page("CONVERSATIONS", "conv.c.in", start=4, limit=3)
    assert [m.seq for m in page] == [4, 5, 6]
    assert [m.seq for m in await bus.direct.page("CONVERSATIONS", "conv.c.in", start=9, limit=3)] == [9, 10]
    assert await bus.direct.page("CONVERSATIONS", "conv.none.in", start=1, limit=3) == []
