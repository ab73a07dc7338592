"""Batched direct reads of a stream: the cheapest way to read a conversation (one request, no consumer)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared.errors import BusUnavailable, Retryable

_BATCH = 2000
T = TypeVar("T")


class StoredMessage(msgspec.Struct, frozen=True):
    """A message as it lies in its stream."""

    seq: int
    subject: str
    data: bytes
    headers: Mapping[str, str]
    at: str


class _Read:
    """One request under way: what has come and the future its end resolves."""

    __slots__ = ("end", "messages")

    def __init__(self) -> None:
        self.messages: list[StoredMessage] = []
        self.end: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()


class DirectReader:
    """Reads through `$JS.API.DIRECT.GET` (ADR-31), with one inbox for all reads of a connection."""

    def __init__(self, client: Client, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self._reads: dict[str, _Read] = {}
        self._count = 0
        self._inbox = client.new_inbox()
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Subscribe to the inbox. No pending limits: a dropped reply would be a lost event."""
        self._subscription = await self._client.subscribe(
            f"{self._inbox}.*", cb=self._on_message, pending_msgs_limit=0, pending_bytes_limit=0
        )

    async def read(self, stream: str, subject: str, *, start: int = 1) -> list[StoredMessage]:
        """All messages of `subject` (wildcards allowed) with a sequence of at least `start`, in order.

        `BusUnavailable` when the broker does not answer in time.
        """
        found: list[StoredMessage] = []
        while True:
            wanted = {"batch": _BATCH, "seq": max(1, start), "next_by_subj": subject}
            read = await self._twice(lambda: self._request(stream, wanted))  # noqa: B023 - awaited at once
            found += read.messages
            end = read.end.result()
            if end["Status"] == "404" or int(end.get("Nats-Num-Pending", "0")) == 0:
                return found
            start = int(end["Nats-Last-Sequence"]) + 1

    async def page(self, stream: str, subject: str, *, start: int, limit: int) -> list[StoredMessage]:
        """The first `limit` messages (at most 2000) that `read` would find; fewer than that when there are no more."""
        request = {"batch": min(limit, _BATCH), "seq": max(1, start), "next_by_subj": subject}
        return (await self._twice(lambda: self._request(stream, request))).messages

    async def last(self, stream: str, subject: str) -> StoredMessage | None:
        """The last message of a subject, or None."""
        return await self._single(f"$JS.API.DIRECT.GET.{stream}.{subject}", b"")

    async def get(self, stream: str, seq: int) -> StoredMessage | None:
        """The message at a sequence, or None."""
        return await self._single(f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode({"seq": seq}))

    async def _single(self, api: str, body: bytes) -> StoredMessage | None:
        reply = await self._twice(lambda: self._client.request(api, body, timeout=self._timeout_s))
        headers = reply.headers or {}
        if "Status" in headers:
            if headers["Status"] == "404":
                return None
            raise Retryable(f"direct get refused: {headers['Status']} {headers.get('Description', '')}")
        return _stored(reply)

    async def _twice(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer to a read, asked for once more if need be: what is in flight when the broker goes is lost."""
        try:
            return await ask()
        except (nats.errors.Error, TimeoutError, OSError):
            pass
        try:
            return await ask()
        except (nats.errors.Error, TimeoutError, OSError) as exc:
            raise BusUnavailable(f"the broker did not answer a read: {exc!r}") from exc

    async def _request(self, stream: str, body: dict[str, object]) -> _Read:
        self._count += 1
        token = str(self._count)
        read = self._reads[token] = _Read()
        try:
            await self._client.publish(
                f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode(body), reply=f"{self._inbox}.{token}"
            )
            end = await asyncio.wait_for(read.end, self._timeout_s)
        finally:
            self._reads.pop(token, None)
        if end["Status"] not in ("204", "404"):
            raise Retryable(f"read of {stream} refused: {end['Status']} {end.get('Description', '')}")
        return read

    async def _on_message(self, message: Msg) -> None:
        read = self._reads.get(message.subject.rpartition(".")[2])
        if read is None:
            return
        headers = message.headers or {}
        if "Status" not in headers:
            read.messages.append(_stored(message))
        elif not read.end.done():
            read.end.set_result(headers)


def _stored(message: Msg) -> StoredMessage:
    headers = message.headers or {}
    return StoredMessage(
        int(headers["Nats-Sequence"]), headers["Nats-Subject"], message.data, headers, headers["Nats-Time-Stamp"]
    )
