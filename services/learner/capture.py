"""Which finished turns are worth studying, and what is noted of them. Never tool output, only names and outcomes."""

from shared.conversation.fold import Turn
from shared.messages.conversation import ToolFinished, TurnEnded
from shared.messages.playbook import StudiedTurn


def worth_studying(ended: TurnEnded) -> bool:
    """The `tools` trigger: an answered turn that called tools. Reminders and failed turns teach nothing."""
    return ended.status == "answered" and ended.calls > 0


def studied(turn: Turn) -> StudiedTurn:
    """What is queued of a turn."""
    failed = [
        outcome.name
        for outcome in turn.outcomes.values()
        if isinstance(outcome, ToolFinished) and outcome.status != "ok"
    ]
    return StudiedTurn(
        turn_id=turn.turn_id,
        ended_seq=turn.ended_seq,
        tools=list(dict.fromkeys(call.name for call in turn.calls)),
        failed=list(dict.fromkeys(failed)),
    )
