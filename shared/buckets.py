"""Key-value buckets, wire-compatible with NATS KV, on the bus's certain appends."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared import subjects, tasks
from shared.bus import Bus, Stored
from shared.errors import FenceLost, JadaError, Malformed
from shared.ids import uuid7
from shared.logs import get_logger

T = TypeVar("T")
_OPERATION = "KV-Operation"
_RELOAD_S = 30.0

log = get_logger()


class Entry(msgspec.Struct, frozen=True):
    """A key's value and the revision to expect when replacing it. `key` is the path of decoded tokens."""

    key: tuple[str, ...]
    value: bytes
    revision: int


class Bucket:
    """One bucket. Keys are paths of ids: each id is encoded, so any text is allowed."""

    def __init__(self, bus: Bus, name: str) -> None:
        self._bus = bus
        self._name = name

    async def get(self, *key: str) -> Entry | None:
        """The current value of a key, or None."""
        found = await self._bus.direct.last(f"KV_{self._name}", subjects.kv(self._name, *key))
        if found is None or _OPERATION in found.headers:
            return None
        return Entry(key, found.data, found.seq)

    async def put(self, *key: str, value: bytes, expect: int | None = None) -> int:
        """Set a key; its new revision. With `expect`, `FenceLost` when the key has another revision by now."""
        return (await self._append(key, value, expect, {})).seq

    async def create(self, *key: str, value: bytes) -> bool:
        """Set a key that must not exist (a deleted key does not); whether this call was the one that made it."""
        try:
            await self._append(key, value, 0, {})
        except FenceLost:
            last = await self._bus.leader_last(f"KV_{self._name}", subjects.kv(self._name, *key))
            if last is None or _OPERATION not in last[1]:
                return False
            try:
                await self._append(key, value, last[0], {})
            except FenceLost:
                return False
        return True

    async def delete(self, *key: str) -> None:
        """Remove a key; nothing happens when there is none."""
        await self._append(key, b"", None, {_OPERATION: "DEL"})

    async def list(self, *prefix: str) -> list[Entry]:
        """All entries below a key prefix, oldest change first."""
        pattern = ".".join(filter(None, [subjects.kv(self._name, *prefix), ">"]))
        found = await self._bus.direct.read(f"KV_{self._name}", pattern)
        return [Entry(_key_of(m.subject), m.data, m.seq) for m in found if _OPERATION not in m.headers]

    async def _append(self, key: tuple[str, ...], value: bytes, expect: int | None, headers: dict[str, str]) -> Stored:
        subject = subjects.kv(self._name, *key)
        return await self._bus.append_bytes(subject, value, msg_id=uuid7(), expect=expect, headers=headers)


def _key_of(subject: str) -> tuple[str, ...]:
    return tuple(subjects.decode_id(token) for token in subject.split(".")[2:])


class Mirror(Generic[T]):
    """A bucket, or what is below `prefix` in it, kept in memory.

    Read at start, updated as it changes, read again after a reconnection.
    `$KV` subjects are ordinary subjects, so a plain subscription sees every change; the periodic reload covers
    what was published while this process was cut off.
    """

    def __init__(self, bus: Bus, name: str, decode: Callable[[bytes], T], *, prefix: str = "") -> None:
        self._bus = bus
        self._name = name
        self._prefix = (prefix,) if prefix else ()
        self._decode = decode
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._reload_now = asyncio.Event()
        self._changed: set[tuple[str, ...]] = set()
        self._raw: dict[tuple[str, ...], bytes] = {}
        self.values: dict[tuple[str, ...], T] = {}
        self.version = 0

    async def start(self) -> None:
        """Load the bucket and follow it."""
        self._subscription = await self._bus.subscribe(f"{subjects.kv(self._name, *self._prefix)}.>", self._on_change)
        self._bus.on_reconnect.append(self._reload_now.set)
        await self._load()
        self._task = asyncio.create_task(self._reload())

    async def stop(self) -> None:
        """Stop following."""
        if self._task is not None:
            await tasks.cancel([self._task])
        if self._subscription is not None:
            await self._subscription.unsubscribe()
        self._bus.on_reconnect.remove(self._reload_now.set)

    async def _on_change(self, message: Msg) -> None:
        key = _key_of(message.subject)
        self._changed.add(key)
        if _OPERATION in (message.headers or {}):
            self._drop(key)
        else:
            self._set(key, message.data)

    def _drop(self, key: tuple[str, ...]) -> None:
        self._raw.pop(key, None)
        self.values.pop(key, None)
        self.version += 1

    def _set(self, key: tuple[str, ...], data: bytes) -> None:
        if self._raw.get(key) == data:
            return
        try:
            self.values[key] = self._decode(data)
            self._raw[key] = data
            self.version += 1
        except (Malformed, msgspec.DecodeError) as exc:
            log.warning("bucket.entry_skipped", bucket=self._name, key=key, error=str(exc))

    async def _load(self) -> None:
        self._changed.clear()
        entries = {entry.key: entry.value for entry in await Bucket(self._bus, self._name).list(*self._prefix)}
        # What changed while the bucket was read is newer than what was read.
        for gone in set(self.values) - set(entries) - self._changed:
            self._drop(gone)
        for key in set(entries) - self._changed:
            self._set(key, entries[key])

    async def _reload(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._reload_now.wait(), _RELOAD_S)
            self._reload_now.clear()
            try:
                await self._load()
            except JadaError as exc:
                log.warning("bucket.reload_failed", bucket=self._name, error=str(exc))
                self._reload_now.set()
                await asyncio.sleep(1)
