"""Following a conversation: wakened by what is published, told by what is stored.

A plain subscriber also hears what the broker refuses to store (an append that lost its fence, a duplicate), and may
miss messages over a reconnection. So what is heard on `conv.<cid>.*` is only a reason to read; what callers get comes
from the stream, in its order and with its sequences. Nothing queues here but the text of deltas, and that is bounded.
"""

import asyncio
import contextlib
import time

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from services.agent.api.narrate import LiveText
from shared import subjects
from shared.bus import MSG_ID, Bus
from shared.conversation.log import STREAM
from shared.direct import StoredMessage
from shared.errors import BusUnavailable, Malformed, Retryable
from shared.logs import get_logger
from shared.messages import live as messages
from shared.messages.live import Delta, Reset

_PAGE = 100
# A message is heard a moment before it can be read: the first look comes at once, others follow until it is there.
_FIRST_RETRY_S = 0.004
_ENDED = b'"log.turn_ended"'

log = get_logger()


class News(msgspec.Struct, frozen=True):
    """What came since the last look: stored messages in order, and transient text and resets."""

    stored: list[StoredMessage]
    live: list[Delta | Reset]


class Watch:
    """One follower of one conversation. `position` is the sequence from which it reads; set it before `news`."""

    def __init__(self, bus: Bus, conversation_id: str, *, poll_s: float, only_ends: bool = False) -> None:
        self._bus = bus
        self.conversation_id = conversation_id
        self._poll_s = poll_s
        self._only_ends = only_ends
        self._subscriptions: list[Subscription] = []
        self._heard: set[str] = set()
        self._wake = asyncio.Event()
        self._next_look = 0.0
        self._retry_s = _FIRST_RETRY_S
        self._live = LiveText()
        self.position = 1

    async def open(self) -> None:
        """Begin to listen; from here nothing stored afterwards goes unnoticed."""
        if self._only_ends:
            wanted = [(subjects.conv_log(self.conversation_id), self._on_stored)]
        else:
            wanted = [
                (subjects.conv_all(self.conversation_id), self._on_stored),
                (subjects.live(self.conversation_id), self._on_live),
            ]
        try:
            for subject, callback in wanted:
                self._subscriptions.append(await self._bus.subscribe(subject, callback))
        except nats.errors.Error as exc:
            await self.close()
            raise BusUnavailable("cannot follow the conversation") from exc

    async def close(self) -> None:
        """Stop listening."""
        while self._subscriptions:
            # Closing the connection has already dropped them.
            with contextlib.suppress(nats.errors.Error):
                await self._subscriptions.pop().unsubscribe()

    async def news(self, timeout_s: float) -> News:
        """What came since the last call; waits up to `timeout_s` for it and may then be empty.

        `BusUnavailable` when this process is closing its connection.
        """
        give_up = time.monotonic() + timeout_s
        while True:
            self._wake.clear()
            stored = await self._look() if time.monotonic() >= self._next_look else []
            live = self._live.take()
            now = time.monotonic()
            if stored or live or now >= give_up:
                return News(stored, live)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), max(0.0, min(self._next_look, give_up) - now))

    async def _look(self) -> list[StoredMessage]:
        if self._bus.closing:
            raise BusUnavailable("shutting down")
        subject = (
            subjects.conv_log(self.conversation_id) if self._only_ends else subjects.conv_all(self.conversation_id)
        )
        try:
            stored = await self._bus.direct.page(STREAM, subject, start=self.position, limit=_PAGE)
        except Retryable as exc:
            log.warning("watch.read_failed", error=repr(exc))
            self._next_look = time.monotonic() + self._poll_s
            return []
        for message in stored:
            self._heard.discard(message.headers.get(MSG_ID, ""))
        if stored:
            self.position = stored[-1].seq + 1
        self._plan_next_look(full=len(stored) == _PAGE)
        return stored

    def _plan_next_look(self, *, full: bool) -> None:
        if not self._heard or self._retry_s > self._poll_s:
            # What is still not there by now was refused by the broker.
            self._heard.clear()
            self._retry_s = _FIRST_RETRY_S
            pause = self._poll_s
        else:
            pause, self._retry_s = self._retry_s, self._retry_s * 2
        self._next_look = time.monotonic() + (0.0 if full else pause)

    async def _on_stored(self, message: Msg) -> None:
        if self._only_ends and _ENDED not in message.data:
            return
        self._heard.add((message.headers or {}).get(MSG_ID, ""))
        self._retry_s = _FIRST_RETRY_S
        self._next_look = 0.0
        self._wake.set()

    async def _on_live(self, message: Msg) -> None:
        try:
            event = messages.events.decode(message.data)
        except Malformed:
            return  # transient, and nobody may depend on it
        if isinstance(event, Delta | Reset):
            self._live.add(event)
            self._wake.set()
