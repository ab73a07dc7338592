"""The floor: what the broker alone needs to store a turn and to hand its two jobs to a worker and back.

Nine stored messages in all, each synced to disk before it is confirmed, one after the other. Seven are plain appends.
Two are jobs in a work queue: appended, pulled by a worker that waits for them, answered on the asker's inbox, acked.
No routing, no model, no decoding, no logs, no metrics: bare nats-py on the server that the turn runs on.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api

STORED = 9
HAND_OVERS = 2
# About the mean size of a turn's events, headers included.
PAYLOAD = b"x" * 512
_APPENDS, _JOBS, _WORKER = "bench.append", "bench.job", "bench"
_REPLY_TO = "Reply-To"


class Floor:
    """Takes samples of the floor; made by `floor`."""

    def __init__(self, asker: Client) -> None:
        self._jetstream = asker.jetstream()
        self._client = asker
        self._inbox = asker.new_inbox()
        self._answered: asyncio.Future[None] | None = None

    async def start(self) -> None:
        await self._client.subscribe(self._inbox, cb=self._on_reply)

    async def sample_ms(self) -> float:
        """One sample: milliseconds for seven appends and two hand-overs."""
        began = time.perf_counter()
        for _ in range(STORED - HAND_OVERS):
            await self._jetstream.publish(_APPENDS, PAYLOAD)
        for _ in range(HAND_OVERS):
            self._answered = asyncio.get_running_loop().create_future()
            await self._jetstream.publish(_JOBS, PAYLOAD, headers={_REPLY_TO: self._inbox})
            await self._answered
        return (time.perf_counter() - began) * 1000

    async def _on_reply(self, message: Msg) -> None:
        del message
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(None)


@asynccontextmanager
async def floor(asker: Client, worker: Client) -> AsyncIterator[Floor]:
    """The floor on two connections of one server, with streams of its own."""
    jetstream = asker.jetstream()
    await jetstream.add_stream(
        api.StreamConfig(name="BENCH_APPENDS", subjects=[_APPENDS], storage=api.StorageType.FILE)
    )
    await jetstream.add_stream(
        api.StreamConfig(
            name="BENCH_JOBS",
            subjects=[_JOBS],
            storage=api.StorageType.FILE,
            retention=api.RetentionPolicy.WORK_QUEUE,
        )
    )
    measured = Floor(asker)
    await measured.start()
    working = asyncio.create_task(_work(worker.jetstream(), worker))
    try:
        yield measured
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        for name in ("BENCH_APPENDS", "BENCH_JOBS"):
            await jetstream.delete_stream(name)


async def _work(jetstream: JetStreamContext, client: Client) -> None:
    jobs = await jetstream.pull_subscribe(_JOBS, durable=_WORKER, stream="BENCH_JOBS")
    try:
        while True:
            with contextlib.suppress(TimeoutError, nats.errors.TimeoutError):
                for job in await jobs.fetch(1, timeout=5):
                    await client.publish((job.headers or {})[_REPLY_TO], PAYLOAD)
                    await job.ack()
    finally:
        await jobs.unsubscribe()
