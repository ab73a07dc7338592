"""Buckets and what is kept in memory of them."""

import asyncio
from collections import Counter

import pytest
from nats.js.errors import KeyNotFoundError

from shared.buckets import Bucket, Mirror
from shared.bus import Bus
from shared.errors import FenceLost, Malformed
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats


def decode(data: bytes) -> str:
    if data == b"bad":
        raise Malformed("bad")
    return data.decode()


@pytest.fixture
def bucket(bus: Bus) -> Bucket:
    return Bucket(bus, "profiles")


async def test_a_key_holds_what_was_put_last(bucket: Bucket) -> None:
    assert await bucket.get("a") is None
    await bucket.put("a", value=b"1")
    revision = await bucket.put("a", value=b"2")
    entry = await bucket.get("a")
    assert entry is not None
    assert (entry.key, entry.value, entry.revision) == (("a",), b"2", revision)


async def test_a_key_is_replaced_only_at_the_revision_expected(bucket: Bucket) -> None:
    first = await bucket.put("a", value=b"1")
    await bucket.put("a", value=b"2", expect=first)
    with pytest.raises(FenceLost):
        await bucket.put("a", value=b"3", expect=first)
    entry = await bucket.get("a")
    assert entry is not None
    assert entry.value == b"2"


async def test_a_key_is_created_once_and_again_after_it_was_deleted(bucket: Bucket) -> None:
    assert await bucket.create("a", value=b"1")
    assert not await bucket.create("a", value=b"2")
    await bucket.delete("a")
    assert await bucket.get("a") is None
    assert await bucket.create("a", value=b"3")
    assert not await bucket.create("a", value=b"4")
    entry = await bucket.get("a")
    assert entry is not None
    assert entry.value == b"3"


@pytest.mark.parametrize("deleted", [False, True])
async def test_of_many_creators_exactly_one_makes_the_key(bucket: Bucket, *, deleted: bool) -> None:
    if deleted:
        await bucket.put("a", value=b"old")
        await bucket.delete("a")
    made = await asyncio.gather(*(bucket.create("a", value=b"%d" % n) for n in range(20)))
    assert Counter(made) == {True: 1, False: 19}
    entry = await bucket.get("a")
    assert entry is not None
    assert entry.value == b"%d" % made.index(True)


async def test_deleting_what_is_not_there_does_no_harm(bucket: Bucket) -> None:
    await bucket.delete("none")
    assert await bucket.list() == []


async def test_a_listing_holds_the_entries_below_a_prefix_oldest_change_first(bucket: Bucket) -> None:
    for key in (("n", "ana", "1"), ("n", "ana", "2"), ("n", "anabel", "1"), ("n", "ana", "3"), ("w", "ana", "1")):
        await bucket.put(*key, value=b"x")
    await bucket.put("n", "ana", "1", value=b"y")
    await bucket.delete("n", "ana", "3")
    assert [entry.key[-1] for entry in await bucket.list("n", "ana")] == ["2", "1"]
    assert len(await bucket.list()) == 4


@pytest.mark.parametrize("key", ["a.b", "*", ">", "ñandú 7", "$KV", "=2E", "a b"])
async def test_any_text_is_a_key(bucket: Bucket, key: str) -> None:
    await bucket.put("x", key, value=key.encode())
    found = await bucket.list("x")
    assert [(entry.key, entry.value) for entry in found] == [(("x", key), key.encode())]


async def test_other_clients_read_it_as_a_key_value_bucket(bus: Bus, bucket: Bucket) -> None:
    await bucket.put("a", value=b"1")
    await bucket.put("b", value=b"2")
    await bucket.delete("b")
    store = await bus.client.jetstream().key_value("profiles")
    assert (await store.get("a")).value == b"1"
    with pytest.raises(KeyNotFoundError):
        await store.get("b")


async def test_a_mirror_has_what_was_there_and_follows_what_changes(bus: Bus, bucket: Bucket) -> None:
    await bucket.put("a", value=b"1")
    mirror = Mirror(bus, "profiles", decode)
    await mirror.start()
    assert mirror.values == {("a",): "1"}
    version = mirror.version
    await bucket.put("b", value=b"2")
    await bucket.delete("a")
    await eventually(lambda: mirror.values == {("b",): "2"})
    assert mirror.version > version
    await mirror.stop()


async def test_an_entry_that_cannot_be_read_is_skipped_and_its_last_good_value_stays(bus: Bus, bucket: Bucket) -> None:
    await bucket.put("broken", value=b"bad")
    await bucket.put("a", value=b"1")
    mirror = Mirror(bus, "profiles", decode)
    await mirror.start()
    assert mirror.values == {("a",): "1"}
    await bucket.put("a", value=b"bad")
    await bucket.put("b", value=b"2")
    await eventually(lambda: ("b",) in mirror.values)
    assert mirror.values == {("a",): "1", ("b",): "2"}
    await mirror.stop()


async def test_a_mirror_catches_up_after_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    bucket = Bucket(bus, "profiles")
    await bucket.put("a", value=b"1")
    await bucket.put("gone", value=b"1")
    mirror = Mirror(bus, "profiles", decode)
    await mirror.start()
    nats_server.kill()
    await asyncio.gather(bucket.put("a", value=b"2"), bucket.put("b", value=b"3"), bucket.delete("gone"))
    await eventually(lambda: mirror.values == {("a",): "2", ("b",): "3"})
    await bucket.put("c", value=b"4")
    await eventually(lambda: mirror.values.get(("c",)) == "4")
    await mirror.stop()
