"""Server-sent events (WHATWG HTML, 9.2) that end with their reader: who hangs up frees what was held for it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
from fastapi import Response
from starlette.types import Receive, Scope, Send

from services.agent.api.narrate import Narrator, Told
from services.agent.api.reading import read_ended_turn
from services.agent.api.shapes import View
from services.agent.api.watch import Watch
from shared import ids
from shared.bus import Bus
from shared.conversation.log import read_event
from shared.errors import JadaError
from shared.logs import get_logger

KEEP_ALIVE = b": keep-alive\n\n"

log = get_logger()


def encode_event(name: str, body: View, *, event_id: int = 0) -> bytes:
    """One event. `event_id` (0: none) is what a client sends back as Last-Event-ID to go on from there."""
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: ".encode() + msgspec.json.encode(body) + b"\n\n"


class EventStream(Response):
    """A response whose chunks are sent as they come; `close` is awaited when it ends, in whatever way."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncIterator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the chunks end or the client hangs up."""
        del scope
        writing = asyncio.create_task(self._write(send))
        hung_up = asyncio.create_task(_until_hung_up(receive))
        try:
            await asyncio.wait({writing, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            writing.cancel()
            hung_up.cancel()
            await asyncio.gather(writing, hung_up, return_exceptions=True)
            await self._close()
        if writing.done() and not writing.cancelled():
            writing.result()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for chunk in self._chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except JadaError as exc:
            # The stream ends early; a client that connects again goes on from its last event.
            log.warning("stream.broken_off", error=repr(exc))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


async def narrated(
    bus: Bus,
    conversation_id: str,
    watch: Watch,
    narrator: Narrator,
    *,
    first: bytes,
    keepalive_s: float,
    until_end: bool,
) -> AsyncIterator[bytes]:
    """`first`, then the events of a watched conversation from the watch's position on.

    With `until_end` it ends when a turn that the narrator tells has ended, else never.
    """
    yield first
    while True:
        news = await watch.news(keepalive_s)
        if not news.stored and not news.live:
            yield KEEP_ALIVE
            continue
        for event in news.live:
            for told in narrator.hear(event):
                yield await _chunk(bus, conversation_id, told, 0)
        for stored in news.stored:
            for told, event_id in _numbered(narrator.tell(stored.seq, read_event(stored)), stored.seq):
                yield await _chunk(bus, conversation_id, told, event_id)
                if until_end and told.body is None:
                    return


def _numbered(told: list[Told], seq: int) -> list[tuple[Told, int]]:
    """Only the last event of a stored message carries its sequence: going on after another would leave some out."""
    return [(item, seq if index == len(told) else 0) for index, item in enumerate(told, start=1)]


async def _chunk(bus: Bus, conversation_id: str, told: Told, event_id: int) -> bytes:
    body = told.body or await read_ended_turn(bus, conversation_id, ids.first_input_of(told.turn_id))
    return encode_event(told.name, body, event_id=event_id) if body is not None else KEEP_ALIVE
