"""What callers are shown of the log. Pure: folded events in, structs that become JSON out."""

import msgspec

from services.agent.api.shapes import (
    ActionView,
    CallStatus,
    CallView,
    EventView,
    FileView,
    MessageView,
    RouteView,
    StepView,
    TurnView,
    UsageView,
)
from services.agent.moves import cost_of, usage_of
from services.agent.receipts import actions_of, status_of
from shared.conversation.fold import Conversation, Turn
from shared.direct import StoredMessage
from shared.messages.base import Unknown
from shared.messages.conversation import (
    Action,
    CallRequested,
    ConversationEvent,
    ModelReplied,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from shared.messages.parts import BlobRef, Opaque, plain_text


def turn_view(state: Conversation, turn: Turn) -> TurnView:
    """A turn as far as the log tells it."""
    ended = turn.ended
    usage = ended.usage if ended else usage_of(turn)
    return TurnView(
        turn_id=turn.turn_id,
        conversation_id=state.conversation_id,
        status=ended.status if ended else "running",
        answer=ended.answer if ended else "",
        actions=[ActionView(call_id=a.call_id, name=a.name, status=a.status) for a in _actions(turn)],
        route=_route_view(turn),
        steps=[_step_view(turn, reply) for reply in turn.replies],
        usage=UsageView(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out),
        cost_usd=ended.cost_usd if ended else cost_of(turn),
        models_tried=ended.models_tried if ended else list(dict.fromkeys(r.model for r in turn.replies)),
        reason=ended.reason if ended else "",
        error_ref=ended.error_ref if ended else "",
        profile=turn.profile,
        epoch=turn.epoch,
        inputs=ended.inputs if ended else turn.inputs,
        started_at=turn.started_at,
        ended_at=ended.at if ended else None,
    )


def accepted_view(conversation_id: str, seq: int) -> TurnView:
    """An input that no turn has taken yet."""
    return TurnView(
        turn_id="",
        conversation_id=conversation_id,
        status="accepted",
        answer="",
        actions=[],
        route=None,
        steps=[],
        usage=UsageView(tokens_in=0, tokens_out=0),
        cost_usd=0.0,
        models_tried=[],
        reason="",
        error_ref="",
        profile="",
        epoch=0,
        inputs=[seq],
        started_at=None,
        ended_at=None,
    )


def message_view(seq: int, event: ConversationEvent | Unknown) -> MessageView | None:
    """The message that people see of an event, if any: what was written, and the answer at the end of a turn."""
    match event:
        case UserMessage():
            return MessageView(
                seq=seq,
                role="user",
                user_id=event.user_id,
                text=event.text,
                attachments=[file_view(a) for a in event.attachments if not isinstance(a, Opaque)],
                at=event.sent_at,
                turn_id="",
                status=None,
                actions=[],
            )
        case TurnEnded():
            return MessageView(
                seq=seq,
                role="assistant",
                user_id="",
                text=event.answer,
                attachments=[],
                at=event.at,
                turn_id=event.turn_id,
                status=event.status,
                actions=[ActionView(call_id=a.call_id, name=a.name, status=a.status) for a in event.actions],
            )
        case _:
            return None


def event_view(stored: StoredMessage) -> EventView:
    """A stored event; one that is no JSON shows as `unreadable`."""
    try:
        event = msgspec.json.decode(stored.data, type=msgspec.Raw)
        stored.data.decode("utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        event = msgspec.Raw(b'{"type":"unreadable"}')
    return EventView(seq=stored.seq, kind=stored.subject.rpartition(".")[2], event=event)


def takes(event: ConversationEvent | Unknown, seq: int) -> str:
    """The id of the turn that takes the input at `seq` by this event; empty when it does not."""
    match event:
        case TurnStarted() | ModelReplied() | TurnEnded() if seq in event.inputs:
            return event.turn_id
        case _:
            return ""


def file_view(ref: BlobRef) -> FileView:
    """A reference with every field spelled out."""
    return FileView(
        sha256=ref.sha256,
        media_type=ref.media_type,
        bytes=ref.bytes,
        name=ref.name,
        width=ref.width,
        height=ref.height,
    )


def call_status(turn: Turn, call: CallRequested) -> CallStatus:
    """How a call stands: refused at once, still running, or how it ended."""
    if call.refused:
        return "refused"
    if turn.ended is None and call.call_id not in turn.outcomes:
        return "running"
    return status_of(turn, call)


def _actions(turn: Turn) -> list[Action]:
    """The receipts of an ended turn; of a running one, those of its calls that have ended."""
    if turn.ended is not None:
        return list(turn.ended.actions)
    return [action for action in actions_of(turn) if action.call_id in turn.outcomes]


def _route_view(turn: Turn) -> RouteView | None:
    route = turn.route
    if route is None:
        return None
    return RouteView(
        layer=route.layer,
        groups=route.groups,
        tier=route.tier,
        scores=route.scores,
        matched=route.matched,
        elapsed_us=route.elapsed_us,
        reason=route.reason,
    )


def _step_view(turn: Turn, reply: ModelReplied) -> StepView:
    return StepView(
        step=reply.step,
        model=reply.model,
        finish=reply.finish,
        text=plain_text(reply.content),
        elapsed_s=reply.elapsed_s,
        attempts=reply.attempts,
        usage=UsageView(tokens_in=reply.usage.tokens_in, tokens_out=reply.usage.tokens_out),
        cost_usd=reply.cost_usd,
        calls=[_call_view(turn, call) for call in reply.calls],
    )


def _call_view(turn: Turn, call: CallRequested) -> CallView:
    outcome = turn.outcomes.get(call.call_id)
    finished = outcome if isinstance(outcome, ToolFinished) else None
    return CallView(
        call_id=call.call_id,
        name=call.name,
        group=call.group,
        arguments=call.arguments,
        status=call_status(turn, call),
        elapsed_s=finished.elapsed_s if finished else 0.0,
        refused=call.refused,
        truncated=finished.truncated if finished else False,
        full_ref=finished.full_ref if finished else "",
    )
