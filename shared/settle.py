"""Settling: what a handler's return or exception means for the message it was given. The one place that decides it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec
import structlog
from nats.aio.msg import Msg

from shared import metrics, subjects, tracing
from shared.bus import Bus
from shared.direct import StoredMessage
from shared.errors import Permanent, Retryable
from shared.logs import get_logger
from shared.text import clean
from shared.topology import ConsumerSpec

_MAX_RETRY_DELAY_S = 30.0
_MAX_DEAD_BYTES = 1_000_000

log = get_logger()


class HandBack(Exception):
    """Raised by a handler to give the message back, to be delivered again after `delay_s`."""

    def __init__(self, delay_s: float) -> None:
        super().__init__(f"again in {delay_s:g} s")
        self.delay_s = delay_s


class LetGo(Exception):
    """Raised by a handler whose message belongs to somebody else by now: it is neither acked nor handed back."""


class Delivery:
    """One delivery of a stored message."""

    __slots__ = ("_message", "data", "delivered", "headers", "seq", "subject")

    def __init__(self, message: Msg) -> None:
        # $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>, newer servers put
        # domain and account hash after the second token; counted from the end both read the same.
        tokens = message.reply.split(".")
        offset = 0 if len(tokens) == 9 else 2
        self._message = message
        self.subject = message.subject
        self.data = message.data
        self.headers = message.headers or {}
        self.delivered = int(tokens[4 + offset])
        self.seq = int(tokens[5 + offset])

    async def settle(self, verb: bytes) -> None:
        """Answer the broker: `+ACK`, `-NAK …`, `+TERM …` or `+WPI` (work in progress)."""
        await self._message._client.publish(self._message.reply, verb)  # noqa: SLF001 - the verbs with arguments


Handler = Callable[[Delivery], Awaitable[None]]


class Settler:
    """Runs the handler of one consumer for a message and settles it.

    Returning acks. `HandBack` and `Retryable` redeliver after a delay, `Permanent` copies the message to
    `dead.<stream>` and drops it, `LetGo` leaves it alone; anything else is logged and redelivered.
    """

    def __init__(self, bus: Bus, consumer: ConsumerSpec, handler: Handler) -> None:
        self._bus = bus
        self._consumer = consumer
        self._handler = handler

    async def settle(self, delivery: Delivery) -> None:
        """Handle a message; whatever happens, it is settled or will be redelivered."""
        began = time.monotonic()
        structlog.contextvars.bind_contextvars(trace_id=tracing.enter(delivery.headers))
        problem: Exception | None = None
        outcome, verb = "failed", b"-NAK"
        try:
            await self._handler(delivery)
            outcome, verb = "done", b"+ACK"
        except HandBack as signal:
            outcome, verb = "handed_back", _nak(signal.delay_s)
        except LetGo:
            outcome, verb = "let_go", b""
        except asyncio.CancelledError:
            outcome, verb = "interrupted", b"-NAK"
        except Retryable as exc:
            problem = exc
            outcome, verb = "retried", _nak(_backoff_s(delivery.delivered))
        except Permanent as exc:
            problem = exc
            outcome, verb = "dead", await self._bury(delivery, exc)
        except Exception as exc:
            problem = exc
            outcome, verb = "failed", _nak(_backoff_s(delivery.delivered))
            log.exception("message.handler_failed", consumer=self._consumer.name, seq=delivery.seq)
        if verb:
            await self.answer(delivery, verb)
        elapsed = time.monotonic() - began
        metrics.MESSAGES.labels(self._consumer.name, outcome).inc()
        metrics.MESSAGE_SECONDS.labels(self._consumer.name).observe(elapsed)
        log.info(
            "message.handled",
            consumer=self._consumer.name,
            subject=delivery.subject,
            seq=delivery.seq,
            delivered=delivery.delivered,
            outcome=outcome,
            elapsed_ms=round(elapsed * 1000, 2),
            **({"problem": repr(problem)} if problem else {}),
        )

    async def _bury(self, delivery: Delivery, reason: Permanent) -> bytes:
        """Copy a hopeless message to the dead letters; the verb that then settles it."""
        try:
            await bury(self._bus, self._consumer.stream, delivery, reason=str(reason))
        except Retryable:
            return _nak(_backoff_s(delivery.delivered))
        return b"+TERM"

    async def answer(self, delivery: Delivery, verb: bytes) -> None:
        """Send one verb; if that fails the message is redelivered, which every handler survives."""
        try:
            await delivery.settle(verb)
        except Exception as exc:  # noqa: BLE001 - unsettled means redelivered, which every handler survives
            log.warning("message.settle_failed", consumer=self._consumer.name, seq=delivery.seq, error=repr(exc))


async def bury(bus: Bus, stream: str, message: Delivery | StoredMessage, *, reason: str) -> None:
    """Copy a message of `stream` that nobody could handle to its dead letters, once, with the reason."""
    headers = {"Jada-Subject": message.subject, "Jada-Reason": clean(reason)[:500].replace("\n", " ")}
    await bus.append_bytes(
        subjects.dead(stream),
        message.data,
        msg_id=f"{stream}.{message.seq}",
        headers=headers,
        limit=_MAX_DEAD_BYTES,
    )
    metrics.DEAD_LETTERS.labels(stream).inc()


def _nak(delay_s: float) -> bytes:
    return b"-NAK " + msgspec.json.encode({"delay": int(delay_s * 1e9)})


def _backoff_s(delivered: int) -> float:
    return min(_MAX_RETRY_DELAY_S, 0.25 * 2.0 ** min(delivered, 10))
