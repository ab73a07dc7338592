"""Receipts: what a turn really did, taken from the log and from nothing the model says."""

from shared.conversation.fold import Turn
from shared.messages.conversation import Action, CallRequested, ResultStatus, ToolFinished


def actions_of(turn: Turn) -> list[Action]:
    """One receipt for each side-effecting call that was dispatched, in order."""
    return [
        Action(call_id=call.call_id, name=call.name, status=status_of(turn, call))
        for call in turn.calls
        if call.side_effects != "none" and not call.refused
    ]


def status_of(turn: Turn, call: CallRequested) -> ResultStatus:
    """How a call ended. Abandoned ones with side effects are `unknown`: they may still happen."""
    outcome = turn.outcomes.get(call.call_id)
    if isinstance(outcome, ToolFinished):
        return outcome.status
    return "timeout" if call.side_effects == "none" else "unknown"
