"""What the user is told happened, checked against what the log says happened."""

from services.agent.claims import CallMade, check
from services.agent.receipts import status_of
from shared.conversation.fold import Conversation, Turn
from shared.messages.conversation import UserMessage


def unbacked_claims(turn: Turn, state: Conversation, answer: str) -> list[str]:
    """The sentences of `answer` that claim an action of this turn which no successful call of it proves."""
    said = [event.text for event in map(state.inputs.get, turn.inputs) if isinstance(event, UserMessage)]
    calls = [
        CallMade(name=call.name, status=status_of(turn, call), side_effects=call.side_effects)
        for call in turn.calls
        if not call.refused
    ]
    verdict = check(
        user="\n".join(said),
        answer=answer,
        calls=calls,
        offered=turn.route.groups if turn.route else [],
    )
    return list(dict.fromkeys(claim.sentence for claim in verdict.unbacked))
