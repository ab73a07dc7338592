"""Which of the waiting inputs a turn takes."""

from shared.conversation.fold import Conversation, Turn
from shared.messages.conversation import Input, ReminderDue, UserMessage
from shared.profiles import Profile


def next_inputs(state: Conversation, profile: Profile) -> list[int]:
    """The inputs of the next turn, in order of arrival; empty when none waits.

    Always the oldest first. With `steer`, messages the same person sent meanwhile join it; reminders that fell due
    together are told together. Everything else gets a turn of its own.
    """
    waiting = state.pending_inputs()
    if not waiting:
        return []
    first = state.inputs[waiting[0]]
    if isinstance(first, ReminderDue) or (isinstance(first, UserMessage) and profile.arrival == "steer"):
        return [seq for seq in waiting if _joins(first, state.inputs[seq])]
    return waiting[:1]


def steering_inputs(state: Conversation, turn: Turn, profile: Profile) -> list[int]:
    """Inputs that arrived while `turn` runs and are shown to the model at its next call."""
    first = state.inputs.get(turn.first_inputs[0])
    if profile.arrival != "steer" or not isinstance(first, UserMessage):
        return []
    return [seq for seq in state.pending_inputs() if _joins(first, state.inputs[seq])]


def _joins(first: Input, other: Input) -> bool:
    """Whether two inputs belong in one turn: same kind, same person, same profile (tools act for one person)."""
    match first, other:
        case UserMessage(), UserMessage():
            return (first.user_id, first.profile, first.profile_of) == (
                other.user_id,
                other.profile,
                other.profile_of,
            )
        case ReminderDue(), ReminderDue():
            return first.user_id == other.user_id
        case _:
            return False
