"""Bytes too large for the log: content-addressed blobs (attachments), and full tool outputs by call.

Plain chunk messages read by one batched direct get: nats-py's object store stalls half a second on objects over
2 MiB and leaves a consumer behind for each read. A blob's bytes are complete or absent: readers check the hash.
"""

import asyncio
import hashlib

from shared import subjects
from shared.bus import Bus
from shared.errors import JadaError

CHUNK_BYTES = 512 * 1024
_WINDOW = 8


class BlobMissing(JadaError):
    """No complete blob under that hash."""


async def put_blob(bus: Bus, data: bytes) -> str:
    """Store bytes; their SHA-256 in hex, by which they are found. Storing the same bytes again costs nothing."""
    digest = hashlib.sha256(data).hexdigest()
    chunks = max(1, -(-len(data) // CHUNK_BYTES))
    if await bus.direct.last("BLOBS", f"blob.{digest}.{chunks - 1}") is not None:
        return digest
    window = asyncio.Semaphore(_WINDOW)

    async def put(index: int) -> None:
        async with window:
            await _put_chunk(bus, f"blob.{digest}.{index}", f"{digest}.{index}", data, index)

    # The last chunk is stored last: where it is, all the others are.
    await asyncio.gather(*(put(i) for i in range(chunks - 1)))
    await put(chunks - 1)
    return digest


async def get_blob(bus: Bus, sha256: str) -> bytes:
    """The bytes of a blob; `BlobMissing` when they are not all there."""
    found = await bus.direct.read("BLOBS", f"blob.{subjects.encode_id(sha256)}.*")
    chunks = {int(m.subject.rpartition(".")[2]): m.data for m in found}
    data = b"".join(chunks[i] for i in sorted(chunks))
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BlobMissing(f"no blob {sha256[:12]}…")
    return data


async def put_output(bus: Bus, conversation_id: str, call_id: str, text: str) -> str:
    """Store a call's full output for `read_result`; its reference, valid within the conversation only."""
    data = text.encode("utf-8")
    base = f"output.{subjects.encode_id(conversation_id)}.{subjects.encode_id(call_id)}"
    for index in range(max(1, -(-len(data) // CHUNK_BYTES))):
        await _put_chunk(bus, f"{base}.{index}", f"output.{call_id}.{index}", data, index)
    return call_id


async def get_output(bus: Bus, conversation_id: str, ref: str) -> str | None:
    """A call's full output, or None when there is none (it may have expired)."""
    found = await bus.direct.read(
        "OUTPUTS", f"output.{subjects.encode_id(conversation_id)}.{subjects.encode_id(ref)}.*"
    )
    if not found:
        return None
    chunks = {int(m.subject.rpartition(".")[2]): m.data for m in found}
    return b"".join(chunks[i] for i in sorted(chunks)).decode("utf-8")


async def _put_chunk(bus: Bus, subject: str, msg_id: str, data: bytes, index: int) -> None:
    piece = data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
    await bus.append_bytes(subject, piece, msg_id=msg_id, limit=CHUNK_BYTES)
