"""What a turn hears while it runs: new inputs and tool results, on plain subscriptions, as they are stored."""

import asyncio
import contextlib

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared import subjects
from shared.bus import Bus
from shared.conversation.fold import Conversation
from shared.errors import Malformed
from shared.messages import conversation as messages
from shared.messages.base import Unknown
from shared.messages.conversation import CancelRequested, Input, ToolFinished


class Listening:
    """Core subscriptions to one conversation, while this process owns it.

    Results are folded into `state` at once. Inputs only raise a flag: their sequence is read from the stream.
    `news` is set with each result and each cancel request, `cancel` with the latter only. A result missed over a
    reconnection is found by the turn's regular look at the log, a cancel request when it is delivered.
    """

    def __init__(self, bus: Bus, state: Conversation) -> None:
        self._bus = bus
        self._state = state
        self._subscriptions: list[Subscription] = []
        self.news = asyncio.Event()
        self.cancel = asyncio.Event()
        self.new_input = False

    async def start(self) -> None:
        """Begin to listen."""
        conversation_id = self._state.conversation_id
        self._subscriptions = [
            await self._bus.subscribe(subjects.conv_tool(conversation_id), self._on_result),
            await self._bus.subscribe(subjects.conv_in(conversation_id), self._on_input),
        ]

    async def stop(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            await subscription.unsubscribe()

    async def _on_result(self, message: Msg) -> None:
        try:
            event = messages.events.decode(message.data)
        except Malformed:
            return  # the reader of the log reports it
        if isinstance(event, ToolFinished):
            self._state.apply(0, event)
            self.news.set()

    async def _on_input(self, message: Msg) -> None:
        with contextlib.suppress(Malformed):
            self.hear(messages.inputs.decode(message.data))

    def hear(self, event: Input | Unknown) -> None:
        """Note that an input came; a cancel request wakes whatever the turn waits for."""
        self.new_input = True
        if isinstance(event, CancelRequested):
            self.cancel.set()
            self.news.set()
