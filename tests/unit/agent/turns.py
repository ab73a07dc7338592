"""Turns for the tables of the agent's decisions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from shared.conversation.fold import Conversation, Turn
from shared.messages.conversation import (
    CallAbandoned,
    CallRequested,
    Input,
    ModelReplied,
    ResultStatus,
    SideEffects,
    ToolFinished,
    TurnStarted,
    Usage,
    UserMessage,
)

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def message(user: str = "ana", **changes: Any) -> UserMessage:
    return UserMessage(message_id="m", user_id=user, text="hola", sent_at=AT, **changes)


def waiting(*inputs: Input) -> Conversation:
    """A conversation in which these inputs came, at the sequences from 1 on."""
    state = Conversation("c")
    for seq, event in enumerate(inputs, 1):
        state.apply(seq, event)
    return state


def call(
    name: str, *, call_id: str = "", effects: SideEffects = "none", refused: str = "", malformed: str = ""
) -> CallRequested:
    return CallRequested(call_id=call_id or name, name=name, side_effects=effects, refused=refused, malformed=malformed)


def running(*inputs: int, state: Conversation | None = None) -> tuple[Conversation, Turn]:
    """A conversation with a turn open over `inputs` (1 if none is given), begun at `AT`."""
    state = state or waiting(message())
    started = TurnStarted(turn_id="1-t", epoch=1, owner="a", lease=1, inputs=list(inputs or (1,)), at=AT)
    state.apply(100, started)
    assert state.open is not None
    return state, state.open


def step(state: Conversation, *calls: CallRequested, tokens: int = 0, cost_usd: float = 0.0) -> None:
    """The model replies with these calls."""
    turn = state.open
    assert turn is not None
    reply = ModelReplied(
        turn_id=turn.turn_id,
        step=len(turn.replies) + 1,
        model="m",
        finish="calls",
        at=AT,
        calls=list(calls),
        usage=Usage(tokens_in=tokens),
        cost_usd=cost_usd,
    )
    state.apply(state.fence + 1, reply)


def outcome(state: Conversation, call_id: str, status: ResultStatus | None) -> None:
    """A call ends with a status, or is abandoned (None)."""
    turn = state.open
    assert turn is not None
    if status is None:
        event = CallAbandoned(turn_id=turn.turn_id, call_id=call_id, reason="deadline", at=AT)
        state.apply(state.fence + 1, event)
        return
    state.apply(0, ToolFinished(call_id=call_id, turn_id=turn.turn_id, name=call_id, status=status, at=AT))


def turn_with(calls: Sequence[tuple[CallRequested, ResultStatus | None]]) -> Turn:
    """An open turn whose calls ended so."""
    state, turn = running()
    step(state, *(one for one, _ in calls))
    for one, status in calls:
        if not one.refused:
            outcome(state, one.call_id, status)
    return turn
