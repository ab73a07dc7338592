"""What the user is told happened, checked against what the log says happened."""

from collections.abc import Sequence

from services.agent.claims import CallMade, Verdict, check
from services.agent.claims.kinds import kind_table
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
    offered = turn.route.groups if turn.route else []
    verdict = check(user="\n".join(said), answer=answer, calls=calls, offered=offered)
    if not verdict.unbacked or _better_let_pass(verdict, calls):
        return []
    return list(dict.fromkeys(claim.sentence for claim in verdict.unbacked))


def _better_let_pass(verdict: Verdict, calls: Sequence[CallMade]) -> bool:
    """Whether correcting would risk more than the claim: a model told that nothing was done may do it twice.

    So a tool we have no words for is believed to have done what is claimed, and a claim that is only implied counts
    only where nothing was done at all.
    """
    acted = [call for call in calls if call.side_effects != "none"]
    done_by_a_stranger = any(call.status == "ok" and not kind_table().known(call.name) for call in acted)
    return done_by_a_stranger or (not verdict.certain and bool(acted))
