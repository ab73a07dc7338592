"""A worker on a consumer of its own, and what the broker says about it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from nats.js.api import ConsumerInfo
from nats.js.errors import NotFoundError

from shared.bus import Bus
from shared.settle import Delivery, Handler
from shared.topology import ConsumerSpec
from shared.worker import Worker

STREAM = "TOOLS"
NAME = "test"


def consumer(ack_wait_s: float = 1.0, **changes: Any) -> ConsumerSpec:
    return ConsumerSpec(stream=STREAM, name=NAME, filter_subject="tool.test.*", ack_wait_s=ack_wait_s, **changes)


@asynccontextmanager
async def working(
    bus: Bus, handler: Handler, *, concurrency: int = 4, ack_wait_s: float = 1.0, grace_s: float = 0.0, **options: Any
) -> AsyncIterator[Worker]:
    worker = Worker(bus, consumer(ack_wait_s), handler, concurrency=concurrency, **options)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop(grace_s)


async def put(bus: Bus, data: bytes = b"x", *, msg_id: str = "", **headers: str) -> int:
    """Store one message for the worker; its sequence."""
    return (await bus.append_bytes("tool.test.job", data, msg_id=msg_id, headers=headers)).seq


async def info(bus: Bus) -> ConsumerInfo:
    return await bus.client.jetstream().consumer_info(STREAM, NAME)


async def made(bus: Bus) -> ConsumerInfo | None:
    """As `info`; None while the worker has not made its consumer yet."""
    try:
        return await info(bus)
    except NotFoundError:
        return None


async def left(bus: Bus) -> int:
    """Messages in the work queue."""
    return (await bus.client.jetstream().stream_info(STREAM)).state.messages


async def delivered(bus: Bus) -> int:
    """How many deliveries the broker has made, redeliveries included."""
    state = (await info(bus)).delivered
    assert state is not None
    return state.consumer_seq


class Recorder:
    """A handler that notes each delivery and then raises what it is told to, in order; after that it returns."""

    def __init__(self, *outcomes: BaseException | None) -> None:
        self._outcomes = list(outcomes)
        self.seen: list[tuple[bytes, int]] = []

    async def __call__(self, delivery: Delivery) -> None:
        self.seen.append((delivery.data, delivery.delivered))
        outcome = self._outcomes.pop(0) if self._outcomes else None
        if outcome is not None:
            raise outcome
