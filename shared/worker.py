"""The pull worker: keeps messages of one durable consumer in flight and settles each of them in one place.

nats-py's `fetch` stalls with batches and hangs over a server restart (nats-io/nats.py#986, #504), so this keeps
its own pull request open on a plain inbox: heartbeats supervise it, and it is made again after an error status, a
reconnection or silence.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared import metrics, tracing
from shared.bus import Bus
from shared.errors import Permanent, Retryable
from shared.logs import get_logger
from shared.topology import ConsumerSpec, ensure_consumer

_PULL_EXPIRES_S = 30.0
_HEARTBEAT_S = 2.0
_MAX_RETRY_DELAY_S = 30.0

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
Wants = Callable[[Delivery], bool]


class Worker:
    """Runs `handler` for each message of a consumer, at most `concurrency` at a time.

    Returning acks. `HandBack` and `Retryable` redeliver after a delay, `Permanent` copies the message to
    `dead.<stream>` and drops it, `LetGo` leaves it alone; anything else is logged and redelivered. While a handler
    runs the message is kept in progress, so it is redelivered only when this process is gone.

    Messages that `wants` (if given) turns down are acked at once and leave no trace. With `every_s` what has piled
    up is taken that often instead of as it comes: for work nobody waits for, at a fraction of the cost.
    """

    def __init__(
        self,
        bus: Bus,
        consumer: ConsumerSpec,
        handler: Handler,
        *,
        concurrency: int,
        wants: Wants | None = None,
        every_s: float = 0.0,
    ) -> None:
        self._bus = bus
        self._consumer = consumer
        self._handler = handler
        self._concurrency = concurrency
        self._wants = wants
        self._every_s = every_s
        self._requested = 0
        self._heard = 0.0
        self._missing = True
        self._stopping = False
        self._running: dict[asyncio.Task[None], Delivery] = {}
        self._wake = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._subscription: Subscription | None = None
        self._inbox = ""
        self.alive_at = time.monotonic()

    async def start(self) -> None:
        """Create the consumer if it is missing and begin to pull."""
        self._inbox = self._bus.client.new_inbox()
        self._subscription = await self._bus.client.subscribe(
            self._inbox, cb=self._on_message, pending_msgs_limit=0, pending_bytes_limit=0
        )
        self._bus.on_reconnect.append(self._pull_again)
        self._loops = [asyncio.create_task(self._pull()), asyncio.create_task(self._keep_in_progress())]

    async def stop(self, grace_s: float) -> None:
        """Stop pulling, let handlers finish within `grace_s`, cancel the rest (they are redelivered at once)."""
        self._stopping = True
        self._bus.on_reconnect.remove(self._pull_again)
        if self._subscription is not None:
            await self._subscription.unsubscribe()
        self._loops[0].cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=grace_s)
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._loops[1].cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)

    @property
    def in_flight(self) -> int:
        """Messages being handled right now."""
        return len(self._running)

    def _pull_again(self) -> None:
        self._requested = 0
        self._wake.set()

    async def _on_message(self, message: Msg) -> None:
        self._heard = time.monotonic()
        status = (message.headers or {}).get("Status")
        if status is None:
            self._requested = max(0, self._requested - 1)
            delivery = Delivery(message)
            if self._wants is None or self._wants(delivery):
                self._begin(delivery)
            else:
                await self._answer(delivery, b"+ACK")
                self._ask_for_more()
        elif status != "100":  # 100 is the idle heartbeat; all others end this pull
            description = (message.headers or {}).get("Description", "")
            self._missing = self._missing or status == "503" or "Deleted" in description
            self._requested = 0
            if not self._every_s:
                self._wake.set()

    def _begin(self, delivery: Delivery) -> None:
        task = asyncio.create_task(self._settle(delivery))
        self._running[task] = delivery
        metrics.IN_FLIGHT.labels(self._consumer.name).inc()
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        metrics.IN_FLIGHT.labels(self._consumer.name).dec()
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        if self._requested == 0:
            self._wake.set()

    async def _pull(self) -> None:
        while True:
            try:
                await self._pull_once()
            except Exception as exc:  # noqa: BLE001 - whatever the broker or the library does, keep pulling
                log.warning("worker.pull_failed", consumer=self._consumer.name, error=repr(exc))
                self._missing = True
                await asyncio.sleep(0.5)
            self.alive_at = time.monotonic()
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), self._every_s or _HEARTBEAT_S / 2)
            except TimeoutError:
                continue

    async def _pull_once(self) -> None:
        if not self._bus.connected:
            return
        if self._missing:
            jetstream = self._bus.client.jetstream(timeout=self._bus.settings.request_timeout_s)
            await ensure_consumer(jetstream, self._consumer)
            self._missing = False
        silent = time.monotonic() - self._heard > 2 * _HEARTBEAT_S + 0.5
        if self._requested and silent:
            self._requested = 0
        free = self._concurrency - len(self._running) - self._requested
        if free <= 0 or (self._requested and free < self._concurrency // 2):
            return
        pull: dict[str, int | bool] = {"batch": free}
        if self._every_s:
            pull["no_wait"] = True
        else:
            pull |= {"expires": int(_PULL_EXPIRES_S * 1e9), "idle_heartbeat": int(_HEARTBEAT_S * 1e9)}
        self._requested += free
        self._heard = time.monotonic()
        api = f"$JS.API.CONSUMER.MSG.NEXT.{self._consumer.stream}.{self._consumer.name}"
        await self._bus.client.publish(api, msgspec.json.encode(pull), reply=self._inbox)

    async def _keep_in_progress(self) -> None:
        while True:
            await asyncio.sleep(self._consumer.ack_wait_s / 3)
            for delivery in list(self._running.values()):
                await self._answer(delivery, b"+WPI")

    async def _settle(self, delivery: Delivery) -> None:
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
            await self._answer(delivery, verb)
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
        stream = self._consumer.stream
        try:
            await self._bus.append_bytes(
                f"dead.{stream}",
                delivery.data,
                msg_id=f"{stream}.{delivery.seq}",
                headers={"Jada-Subject": delivery.subject, "Jada-Reason": str(reason)[:500].replace("\n", " ")},
                limit=1_000_000,
            )
        except Retryable:
            return _nak(_backoff_s(delivery.delivered))
        metrics.DEAD_LETTERS.labels(stream).inc()
        return b"+TERM"

    async def _answer(self, delivery: Delivery, verb: bytes) -> None:
        try:
            await delivery.settle(verb)
        except Exception as exc:  # noqa: BLE001 - unsettled means redelivered, which every handler survives
            log.warning("message.settle_failed", consumer=self._consumer.name, seq=delivery.seq, error=repr(exc))


def _nak(delay_s: float) -> bytes:
    return b"-NAK " + msgspec.json.encode({"delay": int(delay_s * 1e9)})


def _backoff_s(delivered: int) -> float:
    return min(_MAX_RETRY_DELAY_S, 0.25 * 2.0 ** min(delivered, 10))
