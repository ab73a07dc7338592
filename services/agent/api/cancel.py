"""Asking a turn to stop."""

from services.agent.api.bodies import CancelBody
from shared import ids, subjects
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.fold import Conversation
from shared.conversation.log import ConversationLog, put_input
from shared.messages.conversation import CancelRequested


async def cancel(bus: Bus, conversation_id: str, body: CancelBody) -> str | None:
    """Store a cancel request if there is something to cancel; the handle of the turn that it is for, or None."""
    subjects.encode_id(body.user_id)
    state = (await ConversationLog.open(bus, conversation_id)).state
    target = target_of(state, body.turn_id)
    if target is None:
        return None
    turn_id = target if state.open is not None and target == state.open.turn_id else ""
    # A turn is cancelled once, however often it is asked for.
    request_id = f"cancel.{turn_id}" if turn_id else f"cancel.{ids.uuid7()}"
    event = CancelRequested(user_id=body.user_id, at=utc_now(), turn_id=turn_id)
    await put_input(bus, conversation_id, event, message_id=request_id)
    return target


def target_of(state: Conversation, wanted: str) -> str | None:
    """The turn that a request is for: the open one by its id, or a waiting input by its sequence. None: neither."""
    waiting = [str(seq) for seq in state.pending_inputs()]
    if state.open is not None:
        names = {"", state.open.turn_id, *(str(seq) for seq in state.open.inputs)}
        return state.open.turn_id if wanted in names else None
    if wanted in ("", *waiting):
        return waiting[0] if waiting else None
    return None
