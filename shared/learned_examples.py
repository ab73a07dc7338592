"""The utterances the router learned: written by the learner and by operators, read by every router."""

import hashlib
from datetime import datetime
from typing import Literal

from shared.buckets import Bucket
from shared.bus import Bus
from shared.errors import Malformed
from shared.logs import get_logger
from shared.messages import routing as messages
from shared.messages.base import encode
from shared.messages.routing import LearnedExample
from shared.text import fold

MAX_CHARS = 200
# Where they stand in the bucket, beside the centroids.
PREFIX = "examples"

log = get_logger()


def decode_example(data: bytes) -> LearnedExample:
    """An entry of the bucket; `Malformed` when it is none."""
    example = messages.examples.decode(data)
    if not isinstance(example, LearnedExample):
        raise Malformed("not a learned example")
    return example


class LearnedExamples:
    """The `routing` bucket. An utterance stands once per group, however it was typed."""

    def __init__(self, bus: Bus) -> None:
        self._bucket = Bucket(bus, "routing")

    async def add(
        self,
        group: str,
        text: str,
        *,
        source: Literal["outcome", "operator"],
        at: datetime,
        turn_id: str = "",
    ) -> bool:
        """Teach an utterance; False when the group knows it already."""
        example = LearnedExample(group=group, text=text, source=source, at=at, turn_id=turn_id)
        return await self._bucket.create(PREFIX, group, _digest(text), value=encode(example))

    async def remove(self, group: str, text: str) -> bool:
        """Forget an utterance; False when the group does not know it."""
        if await self._bucket.get(PREFIX, group, _digest(text)) is None:
            return False
        await self._bucket.delete(PREFIX, group, _digest(text))
        return True

    async def list(self, *group: str) -> list[LearnedExample]:
        """What was learned, for one group or for all, oldest first."""
        found = []
        for entry in await self._bucket.list(PREFIX, *group):
            try:
                found.append(decode_example(entry.value))
            except Malformed as exc:
                log.warning("example.unreadable", key=entry.key, error=str(exc))
        return found

    async def keep_newest(self, group: str, most: int) -> None:
        """Forget the oldest utterances learned from outcomes beyond `most`; an operator's are never forgotten."""
        learned = [example for example in await self.list(group) if example.source == "outcome"]
        for example in learned[: max(0, len(learned) - most)]:
            await self.remove(group, example.text)


def _digest(text: str) -> str:
    folded = " ".join(fold(text).split())
    return hashlib.sha256(folded.encode()).hexdigest()[:20]
