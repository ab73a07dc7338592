"""The bus: one connection to NATS, appends that are certain, reads, requests and subscriptions."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared import metrics, tracing
from shared.direct import DirectReader, StoredMessage
from shared.errors import BusUnavailable, EventTooLarge, FenceLost, Permanent, StorageFull
from shared.logs import get_logger
from shared.messages.base import encode
from shared.settings.schema import Bus as BusSettings
from shared.topology import stream_of

EXPECT = "Nats-Expected-Last-Subject-Sequence"
MSG_ID = "Nats-Msg-Id"

# JetStream API error codes (nats-server, server/errors.json).
_WRONG_LAST_SEQUENCE = {10071, 10164}
_NO_ROOM = {10023, 10047, 10077, 10028}
_NOT_READY = {10008, 10009, 10076, 10118}  # no leader yet, no quorum, stream offline or recovering: worth waiting for
_RETRY_PAUSE_S = 0.1

Callback = Callable[[Msg], Awaitable[None]]
log = get_logger()


class Stored(msgspec.Struct, frozen=True):
    """A confirmed append. `duplicate`: the same message id was stored before, at `seq`."""

    seq: int
    duplicate: bool = False


class _ApiError(msgspec.Struct, frozen=True):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _PubAck(msgspec.Struct, frozen=True):
    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: _ApiError | None = None


_pub_ack = msgspec.json.Decoder(_PubAck)


class FastHeadersClient(Client):
    """nats-py spends most of a header-carrying read on checking every header name for spaces; we wrote them."""

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        out = {}
        for line in raw.decode("utf-8", "replace").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon:
                out[name.strip()] = value.strip()
        return out


class Bus:
    """One service's connection. Safe to share between tasks; made by `connect`."""

    def __init__(self, client: Client, settings: BusSettings) -> None:
        self.client = client
        self.settings = settings
        self.direct = DirectReader(client, timeout_s=settings.request_timeout_s)
        self.on_reconnect: list[Callable[[], None]] = []
        self.closing = False

    @property
    def connected(self) -> bool:
        """Whether the connection is up right now."""
        return self.client.is_connected

    async def append(self, subject: str, message: msgspec.Struct, *, msg_id: str, expect: int | None = None) -> Stored:
        """Store a message in the stream of `subject` and wait until the broker confirms it.

        Retried with the same `msg_id` for `publish_patience_s`, so it is stored once or not at all. `expect` is the
        last sequence of the subject as the caller knows it (0: none yet).
        Raises `FenceLost`, `StorageFull`, `EventTooLarge`, or `BusUnavailable` (then it may or may not be stored).
        """
        return await self.append_bytes(subject, encode(message), msg_id=msg_id, expect=expect)

    async def append_bytes(
        self,
        subject: str,
        data: bytes,
        *,
        msg_id: str = "",
        expect: int | None = None,
        headers: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Stored:
        """As `append`, for bytes; `limit` replaces the event size limit (blob chunks are larger)."""
        allowed = limit or self.settings.max_event_bytes
        if len(data) > allowed:
            raise EventTooLarge(f"{len(data)} bytes for {subject}, the limit is {allowed}")
        sent = {**(headers or {}), **tracing.outgoing()}
        if msg_id:
            sent[MSG_ID] = msg_id
        if expect is not None:
            sent[EXPECT] = str(expect)
        stream = stream_of(subject)
        began = time.monotonic()
        try:
            stored = await self._append_until_certain(subject, data, sent, stream)
        except Exception as exc:
            metrics.APPENDS.labels(stream, type(exc).__name__).inc()
            raise
        metrics.APPENDS.labels(stream, "duplicate" if stored.duplicate else "stored").inc()
        metrics.APPEND_SECONDS.labels(stream).observe(time.monotonic() - began)
        return stored

    async def _append_until_certain(self, subject: str, data: bytes, headers: dict[str, str], stream: str) -> Stored:
        give_up = time.monotonic() + self.settings.publish_patience_s
        uncertain = False
        while True:
            ack = await self._try_append(subject, data, headers)
            if ack is not None:
                if ack.error is None:
                    return Stored(ack.seq, ack.duplicate)
                code = ack.error.err_code
                if code in _WRONG_LAST_SEQUENCE:
                    # After an unanswered try the last message may be our own: on one replica the server checks the
                    # fence before the message id.
                    own = await self._own_last(stream, subject, headers) if uncertain else None
                    if own is None:
                        raise FenceLost(f"{subject}: {ack.error.description}")
                    return own
                if code in _NO_ROOM:
                    raise StorageFull(f"{subject}: {ack.error.description}")
                if code not in _NOT_READY:
                    raise Permanent(f"the broker refused {subject}: {code} {ack.error.description}")
            else:
                uncertain = True
            if time.monotonic() > give_up:
                raise BusUnavailable(f"no confirmation for {subject} in {self.settings.publish_patience_s:g} s")
            await asyncio.sleep(_RETRY_PAUSE_S)

    async def _try_append(self, subject: str, data: bytes, headers: dict[str, str]) -> _PubAck | None:
        """One try: the broker's answer, or None when nothing certain is known."""
        try:
            reply = await self.client.request(
                subject, data, timeout=self.settings.request_timeout_s, headers=headers or None
            )
        except nats.errors.MaxPayloadError as exc:
            raise EventTooLarge(f"{len(data)} bytes for {subject}: over the broker's payload limit") from exc
        except (nats.errors.Error, TimeoutError, OSError):
            return None
        return _pub_ack.decode(reply.data)

    async def _own_last(self, stream: str, subject: str, headers: dict[str, str]) -> Stored | None:
        last = await self.leader_last(stream, subject)
        if last is not None and last[1].get(MSG_ID) == headers.get(MSG_ID):
            return Stored(last[0], duplicate=True)
        return None

    async def leader_last(self, stream: str, subject: str) -> tuple[int, Mapping[str, str]] | None:
        """Sequence and headers of a subject's last message, from the stream's leader: never stale."""
        jetstream = self.client.jetstream(timeout=self.settings.request_timeout_s)
        try:
            found = await jetstream.get_last_msg(stream, subject)
        except nats.js.errors.NotFoundError:
            return None
        except (nats.errors.Error, TimeoutError, OSError) as exc:
            raise BusUnavailable(f"no answer to a read of {subject}") from exc
        return found.seq or 0, found.headers or {}

    async def publish(self, subject: str, message: msgspec.Struct) -> None:
        """Send without storing; nobody may depend on it."""
        await self.client.publish(subject, encode(message), headers=tracing.outgoing() or None)

    async def request(self, subject: str, message: msgspec.Struct, *, timeout_s: float) -> bytes:
        """Ask whoever serves `subject`; `BusUnavailable` when nobody does or not in time."""
        try:
            headers: dict[str, Any] | None = tracing.outgoing() or None
            reply = await self.client.request(subject, encode(message), timeout=timeout_s, headers=headers)
        except (nats.errors.Error, TimeoutError, OSError) as exc:
            raise BusUnavailable(f"{subject}: {type(exc).__name__}") from exc
        return reply.data

    async def subscribe(self, subject: str, callback: Callback, *, queue: str = "") -> Subscription:
        """Call `callback` for each message, serially; the subscription survives reconnections."""
        return await self.client.subscribe(subject, queue=queue, cb=callback)

    async def read(self, subject: str, *, start: int = 1) -> list[StoredMessage]:
        """Stored messages of a subject filter from sequence `start` on."""
        return await self.direct.read(stream_of(subject), subject, start=start)

    async def catch_up(self) -> None:
        """Return once the broker has processed all that was sent before, subscriptions too.

        nats-py's own flush writes its ping past the queue of what is still to be sent; a request keeps its place.
        """
        await self.client.jetstream(timeout=self.settings.request_timeout_s).account_info()

    async def close(self) -> None:
        """Flush what was published and close. Pull inboxes must be unsubscribed first, or draining waits for them."""
        self.closing = True
        if self.client.is_connected:
            await self.client.drain()
        elif not self.client.is_closed:
            # With something left to send and nobody to send it to the library raises, and is closed all the same.
            with contextlib.suppress(OSError, nats.errors.Error):
                await self.client.close()
        metrics.BUS_CONNECTED.set(0)


async def connect(settings: BusSettings, *, name: str) -> Bus:
    """A connected bus. Waits for the broker for as long as it takes, and says so in the log."""
    client = FastHeadersClient()
    bus = Bus(client, settings)

    async def on_error(exc: Exception) -> None:
        metrics.BUS_ERRORS.inc()
        log.warning("bus.error_reported", error=repr(exc))

    async def on_disconnect() -> None:
        metrics.BUS_CONNECTED.set(0)
        if not bus.closing:
            log.warning("bus.disconnected")

    async def on_reconnect() -> None:
        metrics.BUS_CONNECTED.set(1)
        metrics.BUS_RECONNECTS.inc()
        log.info("bus.reconnected")
        for notify in bus.on_reconnect:
            notify()

    options: dict[str, Any] = {
        "servers": settings.url.split(","),
        "name": f"jada-{name}",
        "error_cb": on_error,
        "disconnected_cb": on_disconnect,
        "reconnected_cb": on_reconnect,
        "allow_reconnect": True,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.2,
        "connect_timeout": 2,
        "ping_interval": 2,  # the default of two minutes would not notice a frozen server
        "max_outstanding_pings": 2,
        "drain_timeout": 3,
    }
    if settings.token:
        options["token"] = settings.token.reveal()
    if settings.user:
        options["user"], options["password"] = settings.user, settings.password.reveal()
    await client.connect(**options)
    metrics.BUS_CONNECTED.set(1)
    await bus.direct.start()
    return bus
