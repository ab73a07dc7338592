"""Deleting a conversation for good."""

import nats.errors

from shared import subjects
from shared.buckets import Bucket
from shared.bus import Bus
from shared.conversation.log import STREAM, ConversationLog
from shared.errors import BusUnavailable, Rejected


async def conversation(bus: Bus, conversation_id: str) -> None:
    """Purge a conversation, the full outputs of its tools, and who took part; nothing happens when there is none.

    `Rejected` (409) while a turn runs or an input waits for one. The log goes last, so that a deletion that broke
    off can be asked for again. Files stay: others may have attached the same ones.
    """
    state = (await ConversationLog.open(bus, conversation_id)).state
    if state.open is not None or state.pending_inputs():
        raise Rejected("turn-open", "a turn of this conversation runs or is about to", status=409)
    token = subjects.encode_id(conversation_id)
    members = Bucket(bus, "members")
    for stored in await bus.read(f"{subjects.kv('members')}.*.{token}"):
        await members.delete(subjects.decode_id(stored.subject.split(".")[2]), conversation_id)
    await _purge(bus, "OUTPUTS", f"output.{token}.>")
    await _purge(bus, STREAM, subjects.conv_all(conversation_id))


async def _purge(bus: Bus, stream: str, subject: str) -> None:
    jetstream = bus.client.jetstream(timeout=bus.settings.request_timeout_s)
    try:
        await jetstream.purge_stream(stream, subject=subject)
    except (nats.errors.Error, TimeoutError, OSError) as exc:
        raise BusUnavailable(f"no answer to a purge of {stream}") from exc
