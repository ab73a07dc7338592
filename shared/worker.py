"""The pull worker: keeps messages of one durable consumer in flight.

nats-py's `fetch` stalls with batches and hangs over a server restart (nats-io/nats.py#986, #504), so this keeps
its own pull request open on a plain inbox: heartbeats supervise it, and it is made again after an error status, a
reconnection or silence.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared import metrics, tasks
from shared.bus import Bus
from shared.logs import get_logger
from shared.pulls import OpenPulls
from shared.settle import Delivery, Handler, Settler
from shared.topology import ConsumerSpec, ensure_consumer

_PULL_EXPIRES_S = 30.0
_HEARTBEAT_S = 2.0

log = get_logger()


Wants = Callable[[Delivery], bool]


class Worker:
    """Runs `handler` for each message of a consumer, at most `concurrency` at a time.

    What the handler's outcome means is in `Settler`. While it runs the message is kept in progress, so that it is
    redelivered only when this process is gone.

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
        self._settler = Settler(bus, consumer, handler)
        self._concurrency = concurrency
        self._wants = wants
        self._every_s = every_s
        self._pulls = OpenPulls()
        self._heard = 0.0
        self._missing = True
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
            f"{self._inbox}.*", cb=self._on_message, pending_msgs_limit=0, pending_bytes_limit=0
        )
        self._bus.on_reconnect.append(self._pull_again)
        self._loops = [asyncio.create_task(self._pull()), asyncio.create_task(self._keep_in_progress())]

    async def stop(self, grace_s: float) -> None:
        """Stop pulling, let handlers finish within `grace_s`, cancel the rest (they are redelivered at once)."""
        self._bus.on_reconnect.remove(self._pull_again)
        if self._subscription is not None:
            await self._subscription.unsubscribe()
        await tasks.cancel(self._loops[:1])
        if self._running:
            await asyncio.wait(self._running, timeout=grace_s)
        await tasks.cancel(list(self._running))
        await tasks.cancel(self._loops)

    @property
    def in_flight(self) -> int:
        """Messages being handled right now."""
        return len(self._running)

    def _pull_again(self) -> None:
        self._pulls.forget()
        self._wake.set()

    async def _on_message(self, message: Msg) -> None:
        self._heard = time.monotonic()
        status = (message.headers or {}).get("Status")
        if status is None:
            self._pulls.took_one()
            delivery = Delivery(message)
            if self._wants is None or self._wants(delivery):
                self._begin(delivery)
            else:
                await self._settler.answer(delivery, b"+ACK")
                self._ask_for_more()
        elif status != "100":  # 100 is the idle heartbeat; all others end this pull
            description = (message.headers or {}).get("Description", "")
            self._missing = self._missing or status == "503" or "Deleted" in description
            self._pulls.ended(message.subject.rpartition(".")[2])
            if not self._every_s:
                self._wake.set()

    def _begin(self, delivery: Delivery) -> None:
        task = asyncio.create_task(self._settler.settle(delivery))
        self._running[task] = delivery
        metrics.IN_FLIGHT.labels(self._consumer.name).inc()
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        metrics.IN_FLIGHT.labels(self._consumer.name).dec()
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        if self._pulls.wanted == 0:
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
        if silent:
            self._pulls.forget()
        free = self._concurrency - len(self._running) - self._pulls.wanted
        if free <= 0 or (self._pulls.wanted and free < self._concurrency // 2):
            return
        pull: dict[str, int | bool] = {"batch": free}
        if self._every_s:
            pull["no_wait"] = True
        else:
            pull |= {"expires": int(_PULL_EXPIRES_S * 1e9), "idle_heartbeat": int(_HEARTBEAT_S * 1e9)}
        self._heard = time.monotonic()
        api = f"$JS.API.CONSUMER.MSG.NEXT.{self._consumer.stream}.{self._consumer.name}"
        await self._bus.client.publish(api, msgspec.json.encode(pull), reply=f"{self._inbox}.{self._pulls.open(free)}")

    async def _keep_in_progress(self) -> None:
        while True:
            await asyncio.sleep(self._consumer.ack_wait_s / 3)
            for delivery in list(self._running.values()):
                await self._settler.answer(delivery, b"+WPI")
