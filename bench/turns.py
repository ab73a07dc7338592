"""Turns as a client sees them: an input goes in, the end of its turn comes out."""

import asyncio
import time
from collections.abc import Callable, Iterator
from itertools import count

import msgspec
from nats.aio.msg import Msg

from shared import subjects
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.log import put_input
from shared.messages import conversation as messages
from shared.messages.conversation import TurnEnded, UserMessage

TEXT = "¿qué notas tengo?"
TOOL_CALLS = 2
_PATIENCE_S = 15.0
_TURN_ENDED = b'"type":"log.turn_ended"'


class TurnFailed(Exception):
    """A turn ended otherwise than it should, or not at all."""


class Timing(msgspec.Struct, frozen=True):
    """Milliseconds from the publishing of an input.

    `seen`: a plain subscriber saw `TurnEnded`, which is just before the server has synced it. `settled`: the agent
    acked the input, which it does when `TurnEnded` is confirmed; this one includes every write of the turn.
    """

    seen: float
    settled: float


class Watch:
    """Sends inputs and times their turns, on one connection."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._ended: dict[str, asyncio.Future[tuple[TurnEnded, float]]] = {}
        self._acked: dict[int, float] = {}
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._numbers: Iterator[int] = count()

    async def start(self) -> None:
        await self._bus.subscribe(subjects.ALL_LOGS, self._on_log)
        await self._bus.subscribe("$JS.ACK.>", self._on_ack)

    async def turn(self, conversation_id: str, user_id: str) -> Timing:
        """Run one turn to its end; one at a time in a conversation. `TurnFailed` unless it went as planned."""
        ended = self._ended[conversation_id] = asyncio.get_running_loop().create_future()
        number = next(self._numbers)
        message = UserMessage(message_id=f"m{number}", user_id=user_id, text=TEXT, sent_at=utc_now(), source="bench")
        began = time.perf_counter()
        stored = await put_input(self._bus, conversation_id, message, message_id=message.message_id)
        try:
            event, seen = await asyncio.wait_for(ended, _PATIENCE_S)
            settled = await self._settled(stored.seq)
        except TimeoutError as exc:
            raise TurnFailed(f"{conversation_id}: no end within {_PATIENCE_S:g} s") from exc
        if event.status != "answered" or event.calls != TOOL_CALLS or event.inputs != [stored.seq] or event.reason:
            raise TurnFailed(f"{conversation_id}: {event}")
        return Timing((seen - began) * 1000, (settled - began) * 1000)

    async def _settled(self, seq: int) -> float:
        if seq not in self._acked:
            waiting = self._waiting[seq] = asyncio.get_running_loop().create_future()
            await asyncio.wait_for(waiting, _PATIENCE_S)
        return self._acked.pop(seq)

    async def _on_log(self, message: Msg) -> None:
        seen = time.perf_counter()
        if _TURN_ENDED not in message.data[:64]:
            return
        ended = self._ended.pop(subjects.conversation_of(message.subject), None)
        event = messages.events.decode(message.data)
        if ended is not None and isinstance(event, TurnEnded):
            ended.set_result((event, seen))

    async def _on_ack(self, message: Msg) -> None:
        # $JS.ACK[.<domain>.<account>].CONVERSATIONS.agent.<delivered>.<stream sequence>. …
        _, found, rest = message.subject.partition(".CONVERSATIONS.agent.")
        if not found or message.data != b"+ACK":
            return
        seq = int(rest.split(".")[1])
        self._acked[seq] = time.perf_counter()
        waiting = self._waiting.pop(seq, None)
        if waiting is not None:
            waiting.set_result(None)


NextConversation = Callable[[int], tuple[str, str]]


def new(prefix: str) -> NextConversation:
    """A conversation nobody has written in, of a person nobody knows, for each turn."""
    return lambda n: (f"{prefix}-{n}", f"user-{prefix}-{n}")


def known(prefix: str, conversations: int) -> NextConversation:
    """A few conversations in turn, each of one person."""
    return lambda n: (f"{prefix}-{n % conversations}", f"user-{prefix}-{n % conversations}")


async def run_turns(watch: Watch, where: NextConversation, turns: range, *, concurrency: int = 1) -> float:
    """Run the turns of these numbers with `concurrency` senders, each waiting for its answer; the seconds it took."""
    numbers = iter(turns)

    async def send() -> None:
        for number in numbers:
            await watch.turn(*where(number))

    began = time.perf_counter()
    await asyncio.gather(*(send() for _ in range(concurrency)))
    return time.perf_counter() - began
