"""Reading server-sent events."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec

ACCEPT = {"accept": "text/event-stream"}


class Event(msgspec.Struct):
    name: str
    body: Any
    id: str = ""


async def events_of(response: httpx.Response) -> AsyncIterator[Event]:
    """The events of a stream as they come; comments are events of the name `:`."""
    assert response.headers["content-type"].startswith("text/event-stream"), await response.aread()
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            yield Event(":", line)
        elif line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield Event(fields["event"], msgspec.json.decode(fields["data"]), fields.get("id", ""))
            fields = {}


async def all_events(response: httpx.Response) -> list[Event]:
    """Every event of a stream that ends by itself, without comments."""
    return [event async for event in events_of(response) if event.name != ":"]
