"""Searching a user's conversations, straight from their logs."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from services.tools.context import ToolContext
from shared import subjects
from shared.buckets import Bucket
from shared.direct import StoredMessage
from shared.errors import Malformed
from shared.messages import conversation as messages
from shared.messages.conversation import TurnEnded, UserMessage
from shared.text import cut, fold

# Reading is bounded: the newest conversations, and in each what was said since the last so many messages of its log.
MAX_CONVERSATIONS = 50
MAX_MESSAGES = 5000
PASSAGE_CHARS = 300
_SHORT_WORD = 3


class Passage(msgspec.Struct, frozen=True):
    """Something somebody said. `seq` orders all passages by time."""

    seq: int
    said_by: str
    text: str
    at: datetime


async def search_conversations(context: ToolContext, query: str, limit: int) -> dict[str, Any]:
    """The passages that share most words with `query`, newest first among equals."""
    words = query_words(query)
    passages: list[Passage] = []
    for conversation_id in await _conversations_of(context):
        for kind in (subjects.conv_in(conversation_id), subjects.conv_log(conversation_id)):
            stored = await context.bus.read(kind)
            passages += [p for m in stored[-MAX_MESSAGES:] if (p := passage_in(m, context.user_id)) is not None]
    hits = rank(passages, words)
    zone = ZoneInfo(context.time_zone)
    return {
        "found": [
            {"said_by": p.said_by, "text": cut(p.text, PASSAGE_CHARS), "at": f"{p.at.astimezone(zone):%Y-%m-%d %H:%M}"}
            for p in hits[:limit]
        ],
        "total": len(hits),
    }


def query_words(query: str) -> list[str]:
    """The words of a query that can tell passages apart; all of them when it has only short ones."""
    words = list(dict.fromkeys("".join(c if c.isalnum() else " " for c in fold(query)).split()))
    return [w for w in words if len(w) > _SHORT_WORD] or words


def rank(passages: list[Passage], words: list[str]) -> list[Passage]:
    """The passages with at least half of the words (and one), most words first, then newest first."""
    scored = [(sum(word in fold(p.text) for word in words), p) for p in passages]
    enough = [(score, p) for score, p in scored if score and score * 2 >= len(words)]
    return [p for _, p in sorted(enough, key=lambda hit: (-hit[0], -hit[1].seq))]


def passage_in(message: StoredMessage, user_id: str) -> Passage | None:
    """What a stored event says, if it says anything: a person's message or an answer of ours."""
    try:
        event = messages.events.decode(message.data)
    except Malformed:
        return None
    match event:
        case UserMessage():
            return Passage(
                message.seq, "user" if event.user_id == user_id else event.user_id, event.text, event.sent_at
            )
        case TurnEnded(status="answered"):
            return Passage(message.seq, "assistant", event.answer, event.at)
        case _:
            return None


async def _conversations_of(context: ToolContext) -> list[str]:
    entries = await Bucket(context.bus, "members").list(context.user_id)
    return [entry.key[-1] for entry in entries[-MAX_CONVERSATIONS:]]
