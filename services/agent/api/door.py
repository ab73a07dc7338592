"""The door for messages: everything is checked before anything is stored; then the message is stored, once."""

import hashlib
from collections import OrderedDict

import msgspec
import nats.errors
import nats.js.errors

from services.agent.api.backend import Backend
from services.agent.api.bodies import TurnRequest
from shared import ids, subjects
from shared.blobs import CHUNK_BYTES, BlobMissing, get_blob
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.log import STREAM, ConversationLog, put_input
from shared.errors import BusUnavailable, Malformed, Rejected
from shared.intake import FileFacts, check_hash, check_text, clean_name, describe
from shared.messages import conversation as messages
from shared.messages.conversation import UserMessage
from shared.messages.parts import BlobRef, Opaque
from shared.settings.schema import Intake

_FACTS_KEPT = 1000


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A stored message: from here on it cannot be lost."""

    message_id: str
    input_seq: int


class KnownFiles:
    """What stored files are. Content-addressed, so a fact once read stays true; only presence is looked up again."""

    def __init__(self, limits: Intake) -> None:
        self._limits = limits
        self._facts: OrderedDict[str, FileFacts] = OrderedDict()

    def learn(self, sha256: str, facts: FileFacts) -> None:
        """Remember a file that was just read or stored."""
        self._facts[sha256] = facts
        self._facts.move_to_end(sha256)
        while len(self._facts) > _FACTS_KEPT:
            self._facts.popitem(last=False)

    async def look_up(self, bus: Bus, sha256: str) -> FileFacts | None:
        """What a stored file is; None when it is not stored (completely)."""
        facts = self._facts.get(sha256)
        if facts is not None:
            last_chunk = max(0, -(-facts.bytes // CHUNK_BYTES) - 1)
            stored = await bus.direct.last("BLOBS", f"blob.{sha256}.{last_chunk}")
            return facts if stored is not None else None
        try:
            data = await get_blob(bus, sha256)
        except BlobMissing:
            return None
        facts = describe(data, limits=self._limits)
        self.learn(sha256, facts)
        return facts


async def check_message(backend: Backend, files: KnownFiles, request: TurnRequest, *, live: bool) -> UserMessage:
    """The message that a request asks to store; `Rejected` with the first reason not to."""
    limits = backend.settings.intake
    subjects.encode_id(request.conversation_id)
    subjects.encode_id(request.user_id)
    text = check_text(request.text, attachments=len(request.attachments), limits=limits)
    if len(request.attachments) > limits.max_attachments:
        raise Rejected(
            "too-many-attachments",
            f"{len(request.attachments)} attachments, the limit is {limits.max_attachments}",
        )
    bus = backend.bus()
    profile = await _profile(backend, bus, request)
    # One after the other: each may be as large as a file can be.
    attachments: list[BlobRef | Opaque] = [await _attachment(bus, files, item) for item in request.attachments]
    return UserMessage(
        message_id=_message_id(request),
        user_id=request.user_id,
        text=text,
        sent_at=utc_now(),
        attachments=attachments,
        profile=profile,
        profile_of=request.profile_of,
        live=live,
    )


async def store_message(bus: Bus, conversation_id: str, message: UserMessage) -> Stored:
    """Store a checked message once; `Rejected` (409) when its id already stands for another one.

    The broker remembers ids for `bus.duplicate_window_s`.
    """
    storage_id = message.message_id
    while True:
        put = await put_input(bus, conversation_id, message, message_id=storage_id)
        if not put.duplicate:
            return Stored(message_id=message.message_id, input_seq=put.seq)
        earlier = await _earlier(bus, put.seq)
        if earlier is not None:
            if not _same(earlier, message):
                raise Rejected(
                    "idempotency-conflict",
                    "the key was used for another message of this conversation",
                    status=409,
                )
            return Stored(message_id=message.message_id, input_seq=put.seq)
        # The broker still knows the id, but the conversation was deleted since: this is a new message.
        storage_id = f"{message.message_id}.{put.seq}"


def _message_id(request: TurnRequest) -> str:
    if not request.idempotency_key:
        return ids.uuid7()
    key = msgspec.json.encode([request.conversation_id, request.idempotency_key])
    return hashlib.sha256(key).hexdigest()[:32]


async def _profile(backend: Backend, bus: Bus, request: TurnRequest) -> str:
    """The profile asked for, by name or by the conversation that has it; empty when none is."""
    if request.profile and request.profile_of:
        raise Rejected("profile-ambiguous", "both `profile` and `profile_of` are given")
    if request.profile_of:
        other = (await ConversationLog.open(bus, request.profile_of)).state
        if not other.turns and not other.inputs:
            raise Rejected("unknown-conversation", "`profile_of` names a conversation in which nobody wrote")
        return other.profile or backend.settings.agent.default_profile
    if request.profile and backend.agent().find_profile(request.profile) is None:
        known = ", ".join(sorted(name for (name,) in backend.agent().profiles.values))
        raise Rejected("unknown-profile", "there is no profile of that name", remedy=f"name one of: {known}")
    return request.profile


async def _attachment(bus: Bus, files: KnownFiles, item: str | BlobRef) -> BlobRef:
    """A reference that says what the stored bytes are, whatever the sender says of them."""
    sha256 = check_hash(item if isinstance(item, str) else item.sha256)
    facts = await files.look_up(bus, sha256)
    if facts is None:
        raise Rejected("missing-attachment", f"no file {sha256[:12]}… is stored")
    return BlobRef(
        sha256=sha256,
        media_type=facts.media_type,
        bytes=facts.bytes,
        name="" if isinstance(item, str) else clean_name(item.name),
        width=facts.width,
        height=facts.height,
    )


async def _earlier(bus: Bus, seq: int) -> UserMessage | None:
    """The message stored at a sequence, from the stream's leader: a replica may not have it yet."""
    jetstream = bus.client.jetstream(timeout=bus.settings.request_timeout_s)
    try:
        found = await jetstream.get_msg(STREAM, seq)
    except nats.js.errors.NotFoundError:
        return None
    except (nats.errors.Error, TimeoutError, OSError) as exc:
        raise BusUnavailable(f"no answer to a read of {STREAM}") from exc
    event = messages.inputs.decode(found.data or b"")
    if not isinstance(event, UserMessage):
        raise Malformed(f"{STREAM} {seq} is no message of a user")
    return event


def _same(one: UserMessage, other: UserMessage) -> bool:
    """Whether two messages say the same; when they were sent and whether somebody watches does not matter."""
    return msgspec.structs.replace(one, sent_at=other.sent_at, live=other.live) == other
