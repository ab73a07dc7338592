"""One job from queue to result: claim, run within the deadline, compress, report. At most once if it has effects."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from services.tools import metrics
from services.tools.compress import shrink, size
from services.tools.context import ToolContext, ToolError
from services.tools.declare import BadArguments, Group, Tool
from shared.blobs import put_output
from shared.buckets import Bucket
from shared.bus import Bus
from shared.clock import Clock
from shared.conversation.log import put_result
from shared.errors import JadaError, Malformed, Permanent, Rejected, Retryable
from shared.logs import get_logger
from shared.messages import conversation as messages
from shared.messages import tools as tool_messages
from shared.messages.conversation import ResultStatus, ToolFinished
from shared.messages.parts import Json, Part
from shared.messages.tools import ToolJob
from shared.settings import Settings
from shared.settle import Delivery

_REPORT_PAUSE_S = 0.5

log = get_logger()


class Executor:
    """Runs the jobs of one group. `worker` names this process in results and claims."""

    def __init__(self, bus: Bus, settings: Settings, group: Group, *, clock: Clock, worker: str) -> None:
        self._bus = bus
        self._settings = settings
        self._group = group
        self._clock = clock
        self._worker = worker
        self._claims = Bucket(bus, "claims")
        self._running: dict[str, asyncio.Task[ToolFinished]] = {}

    async def handle(self, delivery: Delivery) -> None:
        """The worker's handler: returns once the job's result is stored."""
        job = tool_messages.jobs.decode(delivery.data)
        if not isinstance(job, ToolJob):
            raise Permanent(f"not a tool job: {job.type}")
        task = self._running[job.call_id] = asyncio.create_task(self._result(job))
        try:
            result = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                task.cancel()
                raise  # this process is stopping; the job is redelivered
            result = self._cancelled(job)
        finally:
            self._running.pop(job.call_id, None)
        await self._report(job, result)

    def cancel(self, call_id: str) -> None:
        """Stop a call that runs here; others are not ours to stop."""
        task = self._running.get(call_id)
        if task is not None:
            task.cancel()

    async def _result(self, job: ToolJob) -> ToolFinished:
        tool = self._group.tools.get(job.name)
        if tool is None:
            return self._finished(job, "error", {"error": f"no such tool: {job.name}"})
        if self._clock() > job.start_by:
            return self._finished(job, "timeout", {"error": "no worker took the call in time; it was not run"})
        try:
            arguments = tool.check(job.arguments)
        except BadArguments as exc:
            return self._finished(job, "error", {"error": str(exc)})
        if tool.side_effects != "none" and not await self._claim(job):
            earlier = await self._stored_result(job)
            return earlier or self._finished(
                job,
                "unknown",
                {"error": "a worker died while running this; it may or may not have happened, and is not run again"},
            )
        return await self._run(job, tool, arguments)

    async def _claim(self, job: ToolJob) -> bool:
        """Whether this delivery may run the call: the claim is taken before any effect, and only once."""
        return await self._claims.create(job.call_id, value=self._worker.encode())

    async def _stored_result(self, job: ToolJob) -> ToolFinished | None:
        for stored in await self._bus.read(job.reply_to, start=job.after_seq):
            try:
                event = messages.events.decode(stored.data)
            except Malformed:
                continue
            if isinstance(event, ToolFinished) and event.call_id == job.call_id:
                return event
        return None

    async def _run(self, job: ToolJob, tool: Tool, arguments: dict[str, Any]) -> ToolFinished:
        context = ToolContext(
            bus=self._bus,
            settings=self._settings,
            group=self._group.name,
            call_id=job.call_id,
            conversation_id=job.conversation_id,
            user_id=job.user_id,
            language="en" if job.language == "en" else "es",
            time_zone=job.time_zone,
            now=self._clock(),
        )
        began = time.monotonic()

        def finished(status: ResultStatus, value: Any, **more: Any) -> ToolFinished:
            return self._finished(job, status, value, elapsed_s=round(time.monotonic() - began, 4), **more)

        try:
            async with asyncio.timeout(job.deadline_s):
                value = await tool.run(context, arguments)
            plain = msgspec.to_builtins(value)
            length = size(plain)
        except ToolError as exc:
            return finished("error", {"error": str(exc)})
        except Rejected as exc:
            return finished("error", {"error": f"{exc.detail}; {exc.remedy}"})
        except TimeoutError:
            return finished(*_after_deadline(tool, job.deadline_s))
        except JadaError as exc:
            log.warning("tool.failed", tool=job.name, call_id=job.call_id, error=repr(exc))
            return finished(*_after_fault(tool, "the store behind it did not answer"))
        except Exception:
            log.exception("tool.crashed", tool=job.name, call_id=job.call_id)
            return finished(*_after_fault(tool, "it has a fault of its own"))
        if length <= self._settings.tools.max_result_chars:
            return finished("ok", plain)
        return await self._compressed(job, plain, finished)

    async def _compressed(self, job: ToolJob, plain: Any, finished: Callable[..., ToolFinished]) -> ToolFinished:
        limit = self._settings.tools.max_result_chars
        text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
        try:
            ref = await put_output(self._bus, job.conversation_id, job.call_id, text)
        except JadaError as exc:
            log.warning("tool.output_not_kept", call_id=job.call_id, error=repr(exc))
            ref = ""
        metrics.TRUNCATED.labels(self._group.name).inc()
        return finished("ok", shrink(plain, limit, ref=ref).value, full_ref=ref, truncated=True)

    def _cancelled(self, job: ToolJob) -> ToolFinished:
        tool = self._group.tools.get(job.name)
        harmless = tool is None or tool.side_effects == "none"
        return self._finished(
            job,
            "error" if harmless else "unknown",
            {"error": "cancelled" if harmless else "cancelled while running; it may have happened in part"},
        )

    def _finished(self, job: ToolJob, status: ResultStatus, value: Any, **more: Any) -> ToolFinished:
        content: list[Part] = [Json(value=value)]
        return ToolFinished(
            call_id=job.call_id,
            turn_id=job.turn_id,
            name=job.name,
            status=status,
            at=self._clock(),
            content=content,
            worker=self._worker,
            **more,
        )

    async def _report(self, job: ToolJob, result: ToolFinished) -> None:
        """Store the result, for as long as it takes: giving up would turn a known outcome into an unknown one."""
        while True:
            try:
                await put_result(self._bus, job.reply_to, result)
            except Retryable as exc:
                log.warning("tool.result_not_stored_yet", call_id=job.call_id, error=repr(exc))
                await asyncio.sleep(_REPORT_PAUSE_S)
            else:
                break
        metrics.CALLS.labels(self._group.name, result.status).inc()
        metrics.CALL_SECONDS.labels(self._group.name).observe(result.elapsed_s)


def reply_for_dead_job(job: ToolJob, clock: Clock) -> ToolFinished:
    """What the waiting turn is told about a job that was delivered too often and never settled."""
    return ToolFinished(
        call_id=job.call_id,
        turn_id=job.turn_id,
        name=job.name,
        status="error",
        at=clock(),
        content=[Json(value={"error": "the call was tried too often without an outcome and is given up"})],
    )


def _after_deadline(tool: Tool, deadline_s: float) -> tuple[ResultStatus, dict[str, str]]:
    if tool.side_effects == "none":
        return "timeout", {"error": f"no answer within {deadline_s:g} s"}
    return "unknown", {"error": f"no answer within {deadline_s:g} s; it may or may not have happened"}


def _after_fault(tool: Tool, why: str) -> tuple[ResultStatus, dict[str, str]]:
    if tool.side_effects == "none":
        return "error", {"error": f"{tool.name} could not be run: {why}"}
    return "unknown", {"error": f"{tool.name} broke off: {why}; it may or may not have happened"}
