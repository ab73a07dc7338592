"""The index of who takes part in which conversation: what `recall` and the list of conversations read."""

from collections.abc import Sequence

from shared.buckets import Bucket
from shared.bus import Bus
from shared.conversation.fold import Conversation
from shared.messages.conversation import UserMessage


class Members:
    """Writes the index for one conversation, once per person; it could be rebuilt from the log."""

    def __init__(self, bus: Bus) -> None:
        self._bucket = Bucket(bus, "members")
        self._noted: set[str] = set()

    async def note(self, state: Conversation, inputs: Sequence[int]) -> None:
        """Make sure that whoever sent these inputs is in the index."""
        for seq in inputs:
            event = state.inputs[seq]
            if isinstance(event, UserMessage) and event.user_id not in self._noted:
                await self._bucket.create(event.user_id, state.conversation_id, value=b"{}")
                self._noted.add(event.user_id)
