"""Real jobs on the real queue, and what comes back for them."""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec

from services.tools.declare import Group
from services.tools.registry import find_groups
from services.tools.service import ToolsService
from shared import subjects
from shared.bus import Bus
from shared.clock import utc_now
from shared.lifecycle import Context
from shared.messages import conversation as messages
from shared.messages.conversation import ToolFinished
from shared.messages.parts import Json
from shared.messages.tools import ToolJob
from shared.settings.schema import Settings
from tests.support.eventually import eventually

_numbers = itertools.count(1)


@asynccontextmanager
async def serving(
    bus: Bus, settings: Settings, groups: Sequence[Group] | None = None, *, grace_s: float = 0.0
) -> AsyncIterator[ToolsService]:
    service = ToolsService(Context(bus, settings), find_groups() if groups is None else groups)
    await service.start()
    try:
        yield service
    finally:
        await service.stop(grace_s)


def job(group: str, name: str, arguments: Any = None, **changes: Any) -> ToolJob:
    """A job as the agent writes it; `arguments` as an object or as raw bytes."""
    raw = arguments if isinstance(arguments, bytes) else msgspec.json.encode(arguments or {})
    conversation = changes.get("conversation_id", "c")
    fields: dict[str, Any] = {
        "call_id": f"1-t.1.{next(_numbers)}",
        "turn_id": "1-t",
        "conversation_id": conversation,
        "user_id": "ana",
        "reply_to": subjects.conv_tool(conversation),
        "start_by": utc_now() + timedelta(seconds=30),
        "deadline_s": 5.0,
        "language": "en",
        **changes,
    }
    return ToolJob(group=group, name=name, arguments=msgspec.Raw(raw), **fields)


async def send(bus: Bus, one: ToolJob, *, msg_id: str | None = None) -> int:
    """Queue a job; its sequence. Another `msg_id` than the call's stores the same job once more."""
    subject = subjects.tool_job(one.group, one.name)
    return (await bus.append(subject, one, msg_id=msg_id or one.call_id)).seq


async def results(bus: Bus, one: ToolJob) -> list[ToolFinished]:
    """Every result stored for a call."""
    found = [messages.events.decode(m.data) for m in await bus.read(one.reply_to)]
    return [event for event in found if isinstance(event, ToolFinished) and event.call_id == one.call_id]


async def result(bus: Bus, one: ToolJob, *, within_s: float = 10.0) -> ToolFinished:
    """The one result of a call."""
    found = await eventually(lambda: results(bus, one), within_s=within_s)
    assert len(found) == 1
    return found[0]


def value(finished: ToolFinished) -> Any:
    """The JSON value a tool returned."""
    assert len(finished.content) == 1
    part = finished.content[0]
    assert isinstance(part, Json)
    return part.value


async def run(bus: Bus, group: str, name: str, arguments: Any = None, **changes: Any) -> tuple[str, Any]:
    """Status and value of one call."""
    one = job(group, name, arguments, **changes)
    await send(bus, one)
    finished = await result(bus, one)
    assert (finished.turn_id, finished.name) == (one.turn_id, name)
    return finished.status, value(finished)


async def queue_is_empty(bus: Bus) -> bool:
    return (await bus.client.jetstream().stream_info("TOOLS")).state.messages == 0
