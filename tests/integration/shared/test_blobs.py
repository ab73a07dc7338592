"""Bytes outside the log: whole or absent, and each under its own owner."""

import hashlib
import os

import msgspec
import pytest

from shared.blobs import CHUNK_BYTES, BlobMissing, get_blob, get_output, put_blob, put_output
from shared.buckets import Bucket
from shared.bus import Bus
from shared.documents import Documents
from shared.errors import FenceLost, Malformed


@pytest.mark.parametrize(
    ("size", "chunks"),
    [
        (0, 1),
        (1, 1),
        (CHUNK_BYTES - 1, 1),
        (CHUNK_BYTES, 1),
        (CHUNK_BYTES + 1, 2),
        (2 * 1024 * 1024, 4),
        (12 * 1024 * 1024 + 7, 25),
    ],
)
async def test_a_blob_comes_back_as_it_went_in(bus: Bus, size: int, chunks: int) -> None:
    data = os.urandom(size)
    digest = await put_blob(bus, data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert await get_blob(bus, digest) == data
    assert len(await bus.read(f"blob.{digest}.*")) == chunks


async def test_storing_the_same_bytes_again_costs_nothing(bus: Bus) -> None:
    data = os.urandom(CHUNK_BYTES + 1)
    assert await put_blob(bus, data) == await put_blob(bus, data)
    assert (await bus.client.jetstream().stream_info("BLOBS")).state.messages == 2


@pytest.mark.parametrize("index", [0, 1, 2])
async def test_a_blob_without_one_of_its_chunks_is_missing_and_never_cut(bus: Bus, index: int) -> None:
    digest = await put_blob(bus, os.urandom(3 * CHUNK_BYTES))
    await bus.client.jetstream().purge_stream("BLOBS", subject=f"blob.{digest}.{index}")
    with pytest.raises(BlobMissing):
        await get_blob(bus, digest)


@pytest.mark.parametrize("digest", ["0" * 64, "nonsense", "*", ">"])
async def test_a_blob_nobody_stored_is_missing(bus: Bus, digest: str) -> None:
    await put_blob(bus, b"x")
    with pytest.raises(BlobMissing):
        await get_blob(bus, digest)


async def test_an_output_is_found_in_its_conversation_only(bus: Bus) -> None:
    text = "ñ👩🏽" * 100_000
    ref = await put_output(bus, "c1", "7-t.1.0", text)
    assert await get_output(bus, "c1", ref) == text
    assert await get_output(bus, "c2", ref) is None
    assert await get_output(bus, "c1", "other") is None
    assert await get_output(bus, "*", ref) is None
    assert await get_output(bus, "c1", "*") is None


async def test_an_output_stored_again_by_a_redone_call_is_the_same(bus: Bus) -> None:
    for _ in range(2):
        ref = await put_output(bus, "c1", "7-t.1.0", "x" * (CHUNK_BYTES + 5))
    assert await get_output(bus, "c1", ref) == "x" * (CHUNK_BYTES + 5)


class Thing(msgspec.Struct, frozen=True):
    text: str


def documents(bus: Bus, user: str = "ana", group: str = "notes") -> Documents[Thing]:
    return Documents(bus, group=group, user_id=user, kind=Thing)


async def test_a_document_belongs_to_one_user_in_one_group(bus: Bus) -> None:
    await documents(bus).create("n1", Thing("mío"))
    for other in (documents(bus, "luis"), documents(bus, "an"), documents(bus, "*"), documents(bus, group="gym")):
        assert await other.get("n1") is None
        assert await other.list() == []
        await other.delete("n1")
    assert await documents(bus).list() == [("n1", Thing("mío"))]


async def test_a_document_id_that_reads_like_another_users_path_stays_ones_own(bus: Bus) -> None:
    await documents(bus, "luis").create("n1", Thing("suyo"))
    for hostile in ("../luis/n1", "luis.n1", ">", "*", ".luis.n1"):
        assert await documents(bus).get(hostile) is None
        assert await documents(bus).create(hostile, Thing("x"))
    assert await documents(bus, "luis").list() == [("n1", Thing("suyo"))]


async def test_a_document_is_replaced_at_its_revision_only(bus: Bus) -> None:
    mine = documents(bus)
    assert await mine.create("n1", Thing("1"))
    assert not await mine.create("n1", Thing("x"))
    found = await mine.get("n1")
    assert found is not None
    await mine.replace("n1", Thing("2"), revision=found[1])
    with pytest.raises(FenceLost):
        await mine.replace("n1", Thing("3"), revision=found[1])
    await mine.delete("n1")
    assert await mine.get("n1") is None
    assert await mine.create("n1", Thing("4"))


async def test_documents_are_listed_the_least_recently_changed_first(bus: Bus) -> None:
    mine = documents(bus)
    for name in ("a", "b", "c"):
        await mine.create(name, Thing(name))
    found = await mine.get("a")
    assert found is not None
    await mine.replace("a", Thing("z"), revision=found[1])
    assert [name for name, _ in await mine.list()] == ["b", "c", "a"]


async def test_a_document_of_another_shape_is_told_as_such(bus: Bus) -> None:
    await Bucket(bus, "documents").put("notes", "ana", "n1", value=b'{"text":5}')
    with pytest.raises(Malformed, match="notes/ana"):
        await documents(bus).get("n1")
