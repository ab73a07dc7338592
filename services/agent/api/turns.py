"""`/v1/turns`: say something to Jada, and see what became of it."""

import time

from fastapi import APIRouter, Request, Response

from services.agent.api.backend import Backend
from services.agent.api.bodies import TurnRequest, body_schema, decode_body
from services.agent.api.door import KnownFiles, Stored, check_message, store_message
from services.agent.api.narrate import Accepted, Narrator
from services.agent.api.reading import find_turn, read_ended_turn, read_turn, unknown_turn
from services.agent.api.replies import json_response, responses
from services.agent.api.shapes import FINAL, TurnView
from services.agent.api.sse import EventStream, encode_event, narrated
from services.agent.api.views import takes
from services.agent.api.watch import Watch
from shared.bus import Bus
from shared.conversation.log import read_event
from shared.errors import Retryable
from shared.messages.conversation import TurnEnded

_EVENT_STREAM = "text/event-stream"


def routes(backend: Backend, files: KnownFiles) -> APIRouter:
    """The endpoints of turns."""
    router = APIRouter(tags=["turns"])
    settings = backend.settings

    @router.post(
        "/v1/turns",
        summary="Send a message; wait for its answer or follow the turn as an event stream",
        openapi_extra=body_schema(TurnRequest),
        responses=responses({200: TurnView, 202: Accepted}),
    )
    async def post_turn(request: Request) -> Response:
        wanted = await decode_body(request, TurnRequest, limit=settings.http.max_body_bytes)
        live = _EVENT_STREAM in request.headers.get("accept", "")
        message = await check_message(backend, files, wanted, live=live)
        bus = backend.bus()
        watch = Watch(bus, wanted.conversation_id, poll_s=settings.agent.poll_s, only_ends=not live)
        await watch.open()
        try:
            stored = await store_message(bus, wanted.conversation_id, message)
            watch.position = stored.input_seq + 1
            if live:
                return _stream(backend, wanted.conversation_id, watch, stored)
            view = await _outcome(bus, watch, stored.input_seq, min(wanted.wait_s, settings.http.wait_max_s), request)
        except BaseException:
            await watch.close()
            raise
        await watch.close()
        if view is not None and view.status in FINAL:
            return json_response(view)
        accepted = _accepted(stored)
        return json_response(accepted, 202, headers={"Location": accepted.turn_url})

    @router.get(
        "/v1/turns/{turn_id}",
        summary="A turn with its route, model calls, tool calls and receipts",
        responses=responses({200: TurnView}),
    )
    async def get_turn(turn_id: str) -> Response:
        """Also by the sequence of any input of the turn, as POST answers it."""
        if len(turn_id) > 100:
            raise unknown_turn()
        return json_response(await find_turn(backend.bus(), turn_id))

    return router


def _accepted(stored: Stored) -> Accepted:
    return Accepted(message_id=stored.message_id, input_seq=stored.input_seq, turn_url=f"/v1/turns/{stored.input_seq}")


def _stream(backend: Backend, conversation_id: str, watch: Watch, stored: Stored) -> Response:
    events = narrated(
        backend.bus(),
        conversation_id,
        watch,
        Narrator(only_seq=stored.input_seq),
        first=encode_event("accepted", _accepted(stored)),
        keepalive_s=backend.settings.http.sse_keepalive_s,
        until_end=True,
    )
    return EventStream(events, watch.close)


async def _outcome(bus: Bus, watch: Watch, seq: int, wait_s: float, request: Request) -> TurnView | None:
    """The turn of a stored input, after waiting for its end; None when it cannot be read now.

    The message is stored, so that a broker that goes away must not look as if it were not.
    """
    try:
        if await _until_ended(watch, seq, wait_s, request):
            return await read_ended_turn(bus, watch.conversation_id, seq)
        return await read_turn(bus, watch.conversation_id, seq)
    except Retryable:
        return None


async def _until_ended(watch: Watch, seq: int, wait_s: float, request: Request) -> bool:
    """Whether a turn that covers the input has ended; False when the time is over or nobody waits any more.

    The turn may run in another process: what counts is the log.
    """
    give_up = time.monotonic() + wait_s
    while (left_s := give_up - time.monotonic()) > 0:
        news = await watch.news(min(left_s, 1.0))
        for stored in news.stored:
            event = read_event(stored)
            if isinstance(event, TurnEnded) and takes(event, seq):
                return True
        if await request.is_disconnected():
            break
    return False
