"""What the user is told happened, checked against what the log says happened."""

from collections.abc import Sequence

import msgspec

from services.agent.claims import CallMade, Verdict, check
from services.agent.claims.kinds import kind_table
from services.agent.receipts import status_of
from shared.conversation.fold import Conversation, Turn
from shared.messages.conversation import UserMessage


class Unbacked(msgspec.Struct, frozen=True):
    """The sentences of an answer that claim an action of this turn which no successful call of it proves.

    `certain` when they say so themselves; otherwise it is only implied, and other words could mean it honestly.
    """

    sentences: list[str]
    certain: bool


def unbacked_claims(turn: Turn, state: Conversation, answer: str) -> Unbacked | None:
    """What `answer` claims without proof, or None."""
    said = [event.text for event in map(state.inputs.get, turn.inputs) if isinstance(event, UserMessage)]
    calls = [
        CallMade(name=call.name, status=status_of(turn, call), side_effects=call.side_effects)
        for call in turn.calls
        if not call.refused
    ]
    offered = turn.route.groups if turn.route else []
    verdict = check(user="\n".join(said), answer=answer, calls=calls, offered=offered)
    if not verdict.unbacked or _better_let_pass(verdict, calls):
        return None
    return Unbacked(list(dict.fromkeys(claim.sentence for claim in verdict.unbacked)), verdict.certain)


def _better_let_pass(verdict: Verdict, calls: Sequence[CallMade]) -> bool:
    """Whether correcting would risk more than the claim: a model told that nothing was done may do it twice.

    So a tool we have no words for is believed to have done what is claimed, and a claim that is only implied counts
    only where nothing was done at all.
    """
    acted = [call for call in calls if call.side_effects != "none"]
    done_by_a_stranger = any(call.status == "ok" and not kind_table().known(call.name) for call in acted)
    return done_by_a_stranger or (not verdict.certain and bool(acted))
