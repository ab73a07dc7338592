"""The tool workers' edge to NATS: one pull worker per group, declarations, cancellation, given-up jobs."""

import asyncio
import os
import socket
import time
from collections.abc import Sequence

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from services.tools.declare import Group
from services.tools.execute import Executor, reply_for_dead_job
from services.tools.registry import find_groups
from shared import ids, subjects
from shared.buckets import Bucket
from shared.clock import utc_now
from shared.conversation.log import put_result
from shared.direct import StoredMessage
from shared.errors import Malformed
from shared.lifecycle import Context
from shared.logs import get_logger
from shared.messages import tools as tool_messages
from shared.messages.base import encode
from shared.messages.tools import GroupDeclared, ToolJob
from shared.secret import Secret
from shared.settle import bury
from shared.topology import tools_consumer
from shared.worker import Worker

_ADVISORY = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.TOOLS"

log = get_logger()


class ToolsService:
    """Runs any set of groups; each has its own durable consumer, so each scales and stalls alone."""

    name = "tools"

    def __init__(self, context: Context, groups: Sequence[Group] | None = None) -> None:
        self._bus = context.bus
        self._settings = context.settings
        wanted = [name.strip() for name in context.settings.tools.groups.split(",") if name.strip()]
        self._groups = list(groups) if groups is not None else find_groups(wanted)
        self._executors: dict[str, Executor] = {}
        self._workers: dict[str, Worker] = {}
        self._subscriptions: list[Subscription] = []

    async def start(self) -> None:
        """Declare the groups and begin to pull the jobs of those that are configured."""
        worker = f"{socket.gethostname()}.{os.getpid()}.{ids.uuid7()[-8:]}"
        self._subscriptions.append(await self._bus.subscribe(f"{subjects.TOOL_CANCEL}.*", self._on_cancel))
        for group in self._groups:
            declared = group.declared(self._is_configured, at=utc_now())
            await self._declare(declared)
            if not declared.configured:
                log.info("group.not_offered", group=group.name, missing=declared.missing)
                continue
            executor = Executor(self._bus, self._settings, group, clock=utc_now, worker=worker)
            self._executors[group.name] = executor
            self._workers[group.name] = Worker(
                self._bus,
                tools_consumer(self._settings, group.name),
                executor.handle,
                concurrency=self._settings.tools.concurrency,
            )
            await self._workers[group.name].start()
            advisory = f"{_ADVISORY}.tools-{group.name}"
            self._subscriptions.append(await self._bus.subscribe(advisory, self._on_given_up, queue="tools"))

    async def stop(self, grace_s: float) -> None:
        """Finish running calls within the grace period; the rest is redelivered."""
        for subscription in self._subscriptions:
            await subscription.unsubscribe()
        await asyncio.gather(*(worker.stop(grace_s) for worker in self._workers.values()))

    def alive_at(self) -> float:
        """When the slowest pull loop last made progress."""
        return min((worker.alive_at for worker in self._workers.values()), default=time.monotonic())

    def problems(self) -> dict[str, str]:
        """Nothing keeps a worker from work but the bus."""
        return {} if self._workers else {"groups": "none of this worker's groups is configured"}

    def degraded(self) -> dict[str, str]:
        """It depends on nothing it could work without."""
        return {}

    async def _declare(self, declared: GroupDeclared) -> None:
        """Tell everybody what this group offers; an unchanged declaration is not written again."""
        bucket = Bucket(self._bus, "catalog")
        entry = await bucket.get(declared.group)
        if entry is not None:
            known = tool_messages.groups.decode(entry.value)
            if isinstance(known, GroupDeclared) and encode(msgspec.structs.replace(known, at=declared.at)) == encode(
                declared
            ):
                return
        await bucket.put(declared.group, value=encode(declared))

    def _is_configured(self, name: str) -> bool:
        section, _, field = name.partition(".")
        value: str | Secret = getattr(getattr(self._settings, section), field)
        return bool(value)

    async def _on_cancel(self, message: Msg) -> None:
        call_id = subjects.decode_id(message.subject.rpartition(".")[2])
        for executor in self._executors.values():
            executor.cancel(call_id)

    async def _on_given_up(self, message: Msg) -> None:
        """A job was delivered `max_deliver` times: tell the turn that waits, keep a copy, drop it from the queue."""
        seq: int = msgspec.json.decode(message.data)["stream_seq"]
        stored = await self._bus.direct.get("TOOLS", seq)
        if stored is None:
            return
        await self._answer_given_up(stored)
        await bury(self._bus, "TOOLS", stored, reason="delivered too often without an outcome")
        await self._bus.client.jetstream().delete_msg("TOOLS", seq)

    async def _answer_given_up(self, stored: StoredMessage) -> None:
        try:
            job = tool_messages.jobs.decode(stored.data)
        except Malformed:
            return
        if isinstance(job, ToolJob):
            await put_result(self._bus, job.reply_to, reply_for_dead_job(job, utc_now))
            log.error("job.given_up", call_id=job.call_id, tool=job.name)


def build_service(context: Context) -> ToolsService:
    """A worker for the groups its settings name."""
    return ToolsService(context)
