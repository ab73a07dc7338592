"""`/v1/conversations`: list, read, follow, cancel, delete."""

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request, Response

from services.agent.api import erase
from services.agent.api.backend import Backend
from services.agent.api.bodies import CancelBody, body_schema, decode_body
from services.agent.api.cancel import cancel
from services.agent.api.narrate import Narrator
from services.agent.api.reading import last_seq, page_back
from services.agent.api.replies import json_response, responses
from services.agent.api.shapes import EventView, MessageView, View
from services.agent.api.sse import KEEP_ALIVE, EventStream, narrated
from services.agent.api.views import event_view, message_view
from services.agent.api.watch import Watch
from shared import subjects
from shared.buckets import Bucket
from shared.conversation.log import ConversationLog, read_event
from shared.errors import Rejected

_END = 2**62
_Cursor = Annotated[int | None, Query(ge=1, le=_END, description="`next_cursor` of the page before this one.")]
_Form = Literal["messages", "events"]
_Limit = Annotated[int, Query(ge=1, le=200, description="Most items of the page.")]


class ConversationItem(View, frozen=True):
    """A conversation somebody takes part in."""

    conversation_id: str


class ConversationPage(View, frozen=True):
    """Conversations, the one joined last first."""

    conversations: list[ConversationItem]
    next_cursor: str | None


class MessagePage(View, frozen=True):
    """Messages, oldest first; `next_cursor` leads to those before them."""

    messages: list[MessageView]
    next_cursor: str | None


class EventPage(View, frozen=True):
    """Stored events, oldest first; `next_cursor` leads to those before them."""

    events: list[EventView]
    next_cursor: str | None


class Cancelling(View, frozen=True):
    """The turn that was asked to stop: its id, or the sequence of its input before it begins; null when none runs."""

    cancelling: str | None


SHAPES = (ConversationPage, MessagePage, EventPage, Cancelling)


def routes(backend: Backend) -> APIRouter:
    """The endpoints of conversations. The longer paths come first: an id may hold slashes."""
    router = APIRouter(tags=["conversations"])

    @router.get(
        "/v1/conversations",
        summary="The conversations a user takes part in",
        responses=responses({200: ConversationPage}),
    )
    async def list_conversations(user_id: str, cursor: _Cursor = None, limit: _Limit = 50) -> Response:
        return json_response(await _conversations(backend, user_id, cursor or _END, limit))

    @router.get(
        "/v1/conversations/{conversation_id:path}/stream",
        summary="Follow everything new in a conversation as an event stream",
        responses=responses({}),
    )
    async def follow(
        conversation_id: str,
        last_event_id: Annotated[int | None, Header(ge=0, le=_END, description="Go on after this event.")] = None,
    ) -> Response:
        return await _follow(backend, conversation_id, last_event_id)

    @router.post(
        "/v1/conversations/{conversation_id:path}/cancel",
        summary="Ask the running turn to stop",
        openapi_extra=body_schema(CancelBody),
        responses=responses({200: Cancelling, 202: Cancelling}),
    )
    async def post_cancel(conversation_id: str, request: Request) -> Response:
        body = await decode_body(request, CancelBody, limit=backend.settings.http.max_body_bytes)
        cancelling = await cancel(backend.bus(), conversation_id, body)
        return json_response(Cancelling(cancelling=cancelling), 202 if cancelling else 200)

    @router.get(
        "/v1/conversations/{conversation_id:path}",
        summary="Read a conversation, newest page first",
        responses=responses({200: MessagePage}),
    )
    async def read(
        conversation_id: str, view: _Form = "messages", cursor: _Cursor = None, limit: _Limit = 50
    ) -> Response:
        """As people see it (`messages`), or as it is stored (`events`)."""
        if view == "events":
            return json_response(await _events(backend, conversation_id, cursor or _END, limit))
        return json_response(await _messages(backend, conversation_id, cursor or _END, limit))

    @router.delete(
        "/v1/conversations/{conversation_id:path}",
        summary="Delete a conversation with its tool results; refused while a turn runs",
        status_code=204,
        responses=responses({}),
    )
    async def delete(conversation_id: str) -> Response:
        await erase.conversation(backend.bus(), conversation_id)
        return Response(status_code=204)

    return router


async def _conversations(backend: Backend, user_id: str, before: int, limit: int) -> ConversationPage:
    subjects.encode_id(user_id)
    entries = await Bucket(backend.bus(), "members").list(user_id)
    older = sorted((e for e in entries if e.revision < before), key=lambda e: e.revision, reverse=True)
    page = older[:limit]
    return ConversationPage(
        conversations=[ConversationItem(conversation_id=entry.key[-1]) for entry in page],
        next_cursor=str(page[-1].revision) if len(older) > limit else None,
    )


async def _messages(backend: Backend, conversation_id: str, before: int, limit: int) -> MessagePage:
    bus = backend.bus()
    end = await _end(backend, conversation_id, before)
    found, cursor = await page_back(
        bus,
        subjects.conv_all(conversation_id),
        before=end,
        limit=limit,
        show=lambda stored: message_view(stored.seq, read_event(stored)),
    )
    return MessagePage(messages=found, next_cursor=_cursor(cursor))


async def _events(backend: Backend, conversation_id: str, before: int, limit: int) -> EventPage:
    bus = backend.bus()
    end = await _end(backend, conversation_id, before)
    found, cursor = await page_back(bus, subjects.conv_all(conversation_id), before=end, limit=limit, show=event_view)
    return EventPage(events=found, next_cursor=_cursor(cursor))


async def _end(backend: Backend, conversation_id: str, before: int) -> int:
    """Where a page ends: at the cursor, or after the last message. `Rejected` (404) for a conversation of nobody."""
    last = await last_seq(backend.bus(), conversation_id)
    if last == 0:
        raise Rejected("unknown-conversation", "nobody wrote in this conversation", status=404)
    return min(before, last + 1)


def _cursor(seq: int | None) -> str | None:
    return None if seq is None else str(seq)


async def _follow(backend: Backend, conversation_id: str, last_event_id: int | None) -> Response:
    subjects.encode_id(conversation_id)
    bus = backend.bus()
    watch = Watch(bus, conversation_id, poll_s=backend.settings.agent.poll_s)
    await watch.open()
    narrator = Narrator()
    try:
        last = await last_seq(bus, conversation_id) if last_event_id is None else last_event_id
        watch.position = last + 1
        state = (await ConversationLog.open(bus, conversation_id)).state
    except BaseException:
        await watch.close()
        raise
    if state.open is not None:
        narrator.resume(state.open)
    events = narrated(
        bus,
        conversation_id,
        watch,
        narrator,
        first=KEEP_ALIVE,
        keepalive_s=backend.settings.http.sse_keepalive_s,
        until_end=False,
    )
    return EventStream(events, watch.close)
