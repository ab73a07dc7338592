"""Per-user documents of a tool group (notes, workouts …), each one key of the `documents` bucket."""

from typing import Generic, TypeVar

import msgspec

from shared.buckets import Bucket
from shared.bus import Bus
from shared.errors import Malformed

T = TypeVar("T", bound=msgspec.Struct)


class Documents(Generic[T]):
    """The documents of one kind that one user has in one group; nobody else's can be reached through it."""

    def __init__(self, bus: Bus, *, group: str, user_id: str, kind: type[T]) -> None:
        self._bucket = Bucket(bus, "documents")
        self._path = (group, user_id)
        self._kind = kind

    async def get(self, document_id: str) -> tuple[T, int] | None:
        """A document and the revision to expect when replacing it, or None."""
        entry = await self._bucket.get(*self._path, document_id)
        return None if entry is None else (self._decode(entry.value), entry.revision)

    async def create(self, document_id: str, document: T) -> bool:
        """Store a new document; False when the id is taken."""
        return await self._bucket.create(*self._path, document_id, value=msgspec.json.encode(document))

    async def replace(self, document_id: str, document: T, *, revision: int) -> None:
        """Store a new version; `FenceLost` when somebody changed it since `revision`."""
        await self._bucket.put(*self._path, document_id, value=msgspec.json.encode(document), expect=revision)

    async def delete(self, document_id: str) -> None:
        """Remove a document; nothing happens when there is none."""
        await self._bucket.delete(*self._path, document_id)

    async def list(self) -> list[tuple[str, T]]:
        """All documents with their ids, the least recently changed first."""
        return [(entry.key[-1], self._decode(entry.value)) for entry in await self._bucket.list(*self._path)]

    def _decode(self, data: bytes) -> T:
        try:
            return msgspec.json.decode(data, type=self._kind)
        except msgspec.DecodeError as exc:
            raise Malformed(f"a document of {'/'.join(self._path)} cannot be read: {exc}") from exc
