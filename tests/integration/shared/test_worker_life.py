"""A worker over time: how much it takes, what it survives, and how it stops."""

import asyncio
import time
from collections import Counter

from shared.bus import Bus
from shared.settle import Delivery
from tests.integration.shared.working import (
    NAME,
    STREAM,
    Recorder,
    consumer,
    delivered,
    info,
    left,
    made,
    put,
    working,
)
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected


class Crowd:
    """A slow handler that counts how many of it run at once."""

    def __init__(self, *, for_s: float = 0.05) -> None:
        self._for_s = for_s
        self.now = 0
        self.peak = 0
        self.done: list[bytes] = []

    async def __call__(self, delivery: Delivery) -> None:
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(self._for_s)
        finally:
            self.now -= 1
        self.done.append(delivery.data)


async def put_many(bus: Bus, count: int, prefix: str = "m") -> None:
    await asyncio.gather(*(put(bus, b"%s%d" % (prefix.encode(), n)) for n in range(count)))


async def empty(bus: Bus) -> bool:
    return await left(bus) == 0


async def test_no_more_than_the_agreed_number_run_at_once_and_that_many_do(bus: Bus) -> None:
    crowd = Crowd()
    async with working(bus, crowd, concurrency=4):
        await put_many(bus, 60)
        await eventually(lambda: empty(bus))
        assert crowd.peak == 4
        assert await delivered(bus) == 60


async def test_when_an_older_pull_ends_the_agreed_number_still_holds(bus: Bus) -> None:
    crowd = Crowd(for_s=0.3)
    async with working(bus, crowd, concurrency=4) as worker:
        await put_many(bus, 4)
        await eventually(lambda: empty(bus))
        waiting = await eventually(lambda: _one_waits(bus))
        assert waiting
        # What the broker says when a pull of before has expired (ADR-13); the current one still stands.
        await bus.client.publish(f"{worker._inbox}.0", b"", headers={"Status": "408", "Description": "Request Timeout"})
        await asyncio.sleep(0.2)  # time to pull again, if it were to
        await put_many(bus, 30, "n")
        await eventually(lambda: empty(bus))
        assert crowd.peak == 4


async def _one_waits(bus: Bus) -> bool:
    state = await made(bus)
    return state is not None and state.num_waiting == 1


async def test_two_workers_share_a_queue_and_nothing_is_handled_twice(nats_server: PrivateNats, bus: Bus) -> None:
    one, two = Crowd(), Crowd()
    async with (
        connected(nats_server.bus_settings(), "other") as other,
        working(bus, one, concurrency=4),
        working(other, two, concurrency=4),
    ):
        await put_many(bus, 80)
        await eventually(lambda: empty(bus))
        assert len(one.done) + len(two.done) == len({*one.done, *two.done}) == 80
        assert min(len(one.done), len(two.done)) > 10
        assert await delivered(bus) == 80


async def test_work_goes_on_after_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    crowd = Crowd(for_s=0.2)
    async with working(bus, crowd, concurrency=4, ack_wait_s=1.0):
        await put_many(bus, 20)
        await eventually(lambda: crowd.done)
        nats_server.kill()
        await put_many(bus, 10, "n")
        await eventually(lambda: empty(bus), within_s=12)
        assert len(set(crowd.done)) == 30
        # What ran while the server was away may come again; what was acked before may not.
        again = [data for data, times in Counter(crowd.done).items() if times > 1]
        assert len(again) <= 8
        assert crowd.peak <= 8


async def test_an_idle_worker_takes_work_at_once_after_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    handler = Recorder()
    async with working(bus, handler):
        await eventually(lambda: _one_waits(bus))
        nats_server.kill()
        await eventually(lambda: not bus.connected, within_s=5)
        await eventually(lambda: bus.connected, within_s=5)
        await put(bus, b"after")
        began = time.monotonic()
        await eventually(lambda: handler.seen)
        assert time.monotonic() - began < 3
        assert handler.seen == [(b"after", 1)]


async def test_a_consumer_somebody_deleted_is_made_again(bus: Bus) -> None:
    handler = Recorder()
    async with working(bus, handler):
        await put(bus, b"before")
        await eventually(lambda: empty(bus))
        await bus.client.jetstream().delete_consumer(STREAM, NAME)
        await put(bus, b"after")
        await eventually(lambda: len(handler.seen) == 2, within_s=12)
    assert [data for data, _ in handler.seen] == [b"before", b"after"]
    assert (await info(bus)).config.ack_wait == consumer().ack_wait_s


async def test_stopping_lets_a_handler_finish_within_the_grace_period(bus: Bus) -> None:
    crowd = Crowd(for_s=0.3)
    async with working(bus, crowd, grace_s=5.0):
        await put(bus, b"x")
        await eventually(lambda: crowd.now)
    assert crowd.done == [b"x"]
    await eventually(lambda: empty(bus))
    assert await delivered(bus) == 1


async def test_stopping_hands_back_at_once_what_does_not_finish_in_time(bus: Bus, nats_server: PrivateNats) -> None:
    crowd = Crowd(for_s=60)
    async with connected(nats_server.bus_settings(), "other") as other:
        async with working(other, crowd, ack_wait_s=30.0, grace_s=0.1):
            await put_many(bus, 3)
            await eventually(lambda: crowd.now == 3)
        handler = Recorder()
        began = time.monotonic()
        async with working(bus, handler, ack_wait_s=30.0):
            await eventually(lambda: len(handler.seen) == 3)
        assert time.monotonic() - began < 3
    assert {times for _, times in handler.seen} == {2}
    assert crowd.done == []


async def test_a_stopped_worker_takes_nothing_more_and_leaves_no_pull_behind(bus: Bus) -> None:
    handler = Recorder()
    async with working(bus, handler):
        await eventually(lambda: _one_waits(bus))
    await put(bus)
    await asyncio.sleep(0.2)  # time for a forgotten pull to take it
    assert handler.seen == []
    assert await left(bus) == 1
    assert (await info(bus)).num_ack_pending == 0


async def test_a_worker_shows_that_it_is_alive_while_it_is_idle_and_while_it_is_full(bus: Bus) -> None:
    crowd = Crowd(for_s=60)
    async with working(bus, crowd, concurrency=1) as worker:
        idle = worker.alive_at
        await eventually(lambda: worker.alive_at > idle, within_s=3)
        await put(bus)
        await eventually(lambda: worker.in_flight == 1)
        full = worker.alive_at
        await eventually(lambda: worker.alive_at > full, within_s=3)
