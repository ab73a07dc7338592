"""Reading conversations for callers: a turn by its handle, and pages of events from the newest backwards."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from services.agent.api.shapes import FINAL, TurnView
from services.agent.api.views import accepted_view, takes, turn_view
from shared import ids, subjects
from shared.bus import Bus
from shared.conversation.fold import Conversation, Turn
from shared.conversation.log import STREAM, read_event
from shared.direct import StoredMessage
from shared.errors import Rejected
from shared.messages.base import Unknown
from shared.messages.conversation import ConversationEvent

T = TypeVar("T")
_PAGE = 200
_FIRST_WINDOW = 512
_BEHIND_TRIES = 20
_BEHIND_PAUSE_S = 0.02
_MAX_SEQ = 2**63 - 1


async def stored_from(bus: Bus, subject: str, start: int) -> AsyncIterator[StoredMessage]:
    """Stored messages of a subject filter from `start` on, in order, read a page at a time."""
    while True:
        page = await bus.direct.page(STREAM, subject, start=start, limit=_PAGE)
        for stored in page:
            yield stored
        if len(page) < _PAGE:
            return
        start = page[-1].seq + 1


async def find_turn(bus: Bus, handle: str) -> TurnView:
    """The turn of a turn id or of an input's sequence, as far as it is; `Rejected` (404) when there is none."""
    try:
        seq = ids.first_input_of(handle)
    except ValueError:
        raise unknown_turn() from None
    if not 1 <= seq <= _MAX_SEQ:
        raise unknown_turn()
    stored = await bus.direct.get(STREAM, seq)
    if stored is None or not stored.subject.endswith(".in"):
        raise unknown_turn()
    view = await read_turn(bus, subjects.conversation_of(stored.subject), seq)
    if view is None or (view.turn_id != handle and handle != str(seq)):
        raise unknown_turn()
    return view


async def read_turn(bus: Bus, conversation_id: str, seq: int) -> TurnView | None:
    """The turn that took the input at `seq`, or that input as accepted; None when the input is not there."""
    state = Conversation(conversation_id)
    async for stored in stored_from(bus, subjects.conv_all(conversation_id), seq):
        event = read_event(stored)
        state.apply(stored.seq, event)
        first_input = _first_input_of_taker(event, seq)
        if first_input is not None and first_input < seq:
            # The input joined a turn that was running when it came.
            return await read_turn(bus, conversation_id, first_input)
        turn = _turn_of(state, seq)
        if turn is not None and turn.ended is not None:
            return turn_view(state, turn)
    turn = _turn_of(state, seq)
    if turn is not None:
        return turn_view(state, turn)
    return accepted_view(conversation_id, seq) if seq in state.inputs else None


async def read_ended_turn(bus: Bus, conversation_id: str, seq: int) -> TurnView | None:
    """As `read_turn`, for a turn that is known to have ended: another replica of the stream may be a moment behind."""
    for _ in range(_BEHIND_TRIES):
        view = await read_turn(bus, conversation_id, seq)
        if view is not None and view.status in FINAL:
            return view
        await asyncio.sleep(_BEHIND_PAUSE_S)
    return view


def unknown_turn() -> Rejected:
    """There is no such turn (any more)."""
    return Rejected("unknown-turn", "no turn or input has this id", status=404)


def _first_input_of_taker(event: ConversationEvent | Unknown, seq: int) -> int | None:
    turn_id = takes(event, seq)
    return ids.first_input_of(turn_id) if turn_id else None


def _turn_of(state: Conversation, seq: int) -> Turn | None:
    for turn in state.turns:
        if seq in turn.inputs or (turn.ended is not None and seq in turn.ended.inputs):
            return turn
    return None


async def last_seq(bus: Bus, conversation_id: str) -> int:
    """The sequence of the last message stored of a conversation; 0 when there is none."""
    found = [
        await bus.direct.last(STREAM, subject)
        for subject in (
            subjects.conv_in(conversation_id),
            subjects.conv_log(conversation_id),
            subjects.conv_tool(conversation_id),
        )
    ]
    return max((stored.seq for stored in found if stored is not None), default=0)


async def page_back(
    bus: Bus, subject: str, *, before: int, limit: int, show: Callable[[StoredMessage], T | None]
) -> tuple[list[T], int | None]:
    """The last `limit` things shown of a subject filter before a sequence, oldest first, and where to go on.

    The stream is read forwards only, so windows of growing size are tried backwards from `before`. The second value
    is the `before` of the next older page, or None when the beginning is reached.
    """
    window = _FIRST_WINDOW
    found: list[tuple[int, T]] = []
    end = before
    while end > 1 and len(found) <= limit:
        start = max(1, end - window)
        piece = []
        async for stored in stored_from(bus, subject, start):
            if stored.seq >= end:
                break
            shown = show(stored)
            if shown is not None:
                piece.append((stored.seq, shown))
        found = piece + found
        end, window = start, window * 4
    page = found[-limit:]
    more = len(found) > limit
    return [shown for _, shown in page], page[0][0] if more else None
