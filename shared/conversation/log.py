"""Reading and appending a conversation's log."""

from shared import subjects
from shared.bus import Bus, Stored
from shared.conversation.fold import CHECKPOINT_HEADER, Checkpoint, Conversation
from shared.direct import StoredMessage
from shared.errors import Malformed
from shared.logs import get_logger
from shared.messages import conversation as messages
from shared.messages.base import Unknown, encode
from shared.messages.conversation import ConversationEvent, Input, LogEvent, ToolFinished

STREAM = "CONVERSATIONS"
logger = get_logger()


class ConversationLog:
    """The log of one conversation, and its folded state as far as it was read."""

    def __init__(self, bus: Bus, state: Conversation) -> None:
        self._bus = bus
        self._id = state.conversation_id
        self.state = state

    @classmethod
    async def open(cls, bus: Bus, conversation_id: str) -> "ConversationLog":
        """Read a conversation from its last checkpoint on; a conversation nobody wrote in is empty, not an error."""
        last = await bus.direct.last(STREAM, subjects.conv_log(conversation_id))
        checkpoint = Checkpoint.from_header(last.headers.get(CHECKPOINT_HEADER, "")) if last else Checkpoint()
        log = cls(bus, Conversation(conversation_id, checkpoint))
        await log.refresh()
        return log

    async def refresh(self) -> None:
        """Read everything since the checkpoint again; applying an event twice changes nothing."""
        self._apply(await self._bus.read(subjects.conv_all(self._id), start=self.state.checkpoint.seq))

    async def refresh_inputs(self) -> None:
        """Read the inputs that came since the last one known."""
        self._apply(await self._bus.read(subjects.conv_in(self._id), start=self.state.inputs_read_to + 1))

    async def refresh_results(self) -> None:
        """Read the results that came since the open turn began."""
        if self.state.open is not None:
            start = self.state.open.started_seq
            self._apply(await self._bus.read(subjects.conv_tool(self._id), start=start))

    async def append(self, event: LogEvent, *, event_id: str) -> Stored:
        """Append what was decided, provided nobody else appended since; then fold it. `FenceLost` otherwise."""
        stored = await self._bus.append_bytes(
            subjects.conv_log(self._id),
            encode(event),
            msg_id=event_id,
            expect=self.state.fence,
            headers={CHECKPOINT_HEADER: self.state.checkpoint.header()},
        )
        self.state.apply(stored.seq, event)
        return stored

    def _apply(self, stored: list[StoredMessage]) -> None:
        for message in stored:
            self.state.apply(message.seq, read_event(message))


def read_event(message: StoredMessage) -> ConversationEvent | Unknown:
    """The event in a stored message; one that cannot be read is skipped, for it must not block those around it."""
    try:
        return messages.events.decode(message.data)
    except Malformed as exc:
        logger.warning("event.unreadable", subject=message.subject, seq=message.seq, error=str(exc))
        return Unknown(type=f"{message.subject.rpartition('.')[2]}.unreadable", raw=message.data)


async def put_input(bus: Bus, conversation_id: str, event: Input, *, message_id: str) -> Stored:
    """Accept an input: from the moment this returns it cannot be lost. The same id is stored once."""
    return await bus.append(
        subjects.conv_in(conversation_id), event, msg_id=f"{subjects.encode_id(conversation_id)}.{message_id}"
    )


async def put_result(bus: Bus, reply_to: str, result: ToolFinished) -> Stored:
    """Store a tool's result where the job asked for it; one per call within the broker's memory of ids."""
    return await bus.append(reply_to, result, msg_id=f"result.{result.call_id}")
