"""What the router can learn from a finished turn: an utterance that needed a group nothing in it had named."""

from collections.abc import Mapping

import msgspec

from shared.conversation.fold import Turn
from shared.learned_examples import MAX_CHARS
from shared.messages.conversation import Input, ToolFinished, UserMessage


class Lesson(msgspec.Struct, frozen=True):
    """An utterance, in the user's own words, and the group it needed."""

    group: str
    text: str
    turn_id: str


def routing_lesson(turn: Turn, inputs: Mapping[int, Input]) -> Lesson | None:
    """The lesson of a turn, if it has one.

    Only from a turn that ended well, that was routed to every group because nothing decided, and whose calls all went
    to one group and succeeded; only from one short message of the user's own, without attachments.
    """
    if turn.ended is None or turn.ended.status != "answered" or turn.route is None or turn.route.layer != "all":
        return None
    groups = {call.group for call in turn.calls if not call.refused}
    outcomes = [turn.outcomes.get(call.call_id) for call in turn.calls]
    succeeded = all(isinstance(outcome, ToolFinished) and outcome.status == "ok" for outcome in outcomes)
    if len(groups) != 1 or not succeeded or len(turn.inputs) != 1:
        return None
    event = inputs.get(turn.inputs[0])
    if not isinstance(event, UserMessage) or event.attachments:
        return None
    text = event.text.strip()
    if not text or len(text) > MAX_CHARS or "\n" in text:
        return None
    return Lesson(groups.pop(), text, turn.turn_id)
