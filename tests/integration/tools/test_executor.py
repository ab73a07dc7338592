"""A job from queue to result: at most once if it has effects, within its deadline, reported exactly once."""

import asyncio
from datetime import timedelta

import pytest

from shared import subjects
from shared.blobs import get_output
from shared.buckets import Bucket
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.log import put_result
from shared.messages.conversation import CallAbandoned, ToolFinished
from shared.messages.tools import ToolJob
from shared.settings.schema import Settings
from shared.settle import Delivery, HandBack
from shared.topology import tools_consumer
from shared.worker import Worker
from tests.integration.tools.jobs import job, queue_is_empty, result, results, run, send, serving, value
from tests.integration.tools.workbench import Bench
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected

# A worker serves the bench throughout.
served = pytest.mark.usefixtures("bench_worker")


@served
async def test_a_result_says_whose_it_is_and_the_queue_is_empty_afterwards(bus: Bus) -> None:
    one = job("bench", "look")
    await send(bus, one)
    finished = await result(bus, one)
    assert (finished.call_id, finished.turn_id, finished.name, finished.status) == (one.call_id, "1-t", "look", "ok")
    assert finished.worker
    await eventually(lambda: queue_is_empty(bus))


@served
@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("fail", "error", "the mail server refused the password"),
        ("crash", "error", "fault of its own"),
        ("crash_act", "unknown", "it may or may not have happened"),
    ],
)
async def test_a_tool_that_fails_is_told_for_what_it_is(bus: Bus, name: str, status: str, told: str) -> None:
    found, answer = await run(bus, "bench", name)
    assert found == status
    assert told in answer["error"]


@served
@pytest.mark.parametrize(
    ("name", "status", "told"),
    [("slow_look", "timeout", "no answer within 0.3 s"), ("slow_act", "unknown", "it may or may not have happened")],
)
async def test_a_call_past_its_deadline_is_ended(bus: Bus, bench: Bench, name: str, status: str, told: str) -> None:
    found, answer = await run(bus, "bench", name, deadline_s=0.3)
    assert (found, len(bench.ran)) == (status, 1)
    assert told in answer["error"]


@served
@pytest.mark.parametrize("name", ["look", "act"])
async def test_a_call_that_waited_too_long_is_not_run(bus: Bus, bench: Bench, name: str) -> None:
    found, answer = await run(bus, "bench", name, start_by=utc_now() - timedelta(seconds=1))
    assert (found, bench.ran) == ("timeout", [])
    assert "was not run" in answer["error"]


@served
@pytest.mark.parametrize(
    ("kind", "status"), [("surrogate", "error"), ("object", "error"), ("nan", "ok"), ("none", "ok"), ("bytes", "ok")]
)
async def test_whatever_a_tool_returns_there_is_a_result(bus: Bus, kind: str, status: str) -> None:
    found, answer = await run(bus, "bench", "odd", {"kind": kind})
    assert found == status
    assert found == "ok" or "fault of its own" in answer["error"]
    await eventually(lambda: queue_is_empty(bus))


@served
async def test_a_long_result_is_cut_and_kept_whole_beside(bus: Bus) -> None:
    one = job("bench", "look", {"count": 100})
    await send(bus, one)
    finished = await result(bus, one)
    shown = value(finished)
    assert (finished.status, finished.truncated, finished.full_ref) == ("ok", True, one.call_id)
    assert (shown["truncated"], shown["total"], shown["ref"]) == (True, 100, one.call_id)
    whole = await get_output(bus, "c", finished.full_ref)
    assert whole is not None
    assert whole.count("x" * 50) == 100


@served
async def test_a_job_with_effects_that_is_stored_twice_runs_once(bus: Bus, bench: Bench) -> None:
    one = job("bench", "act")
    for number in range(3):
        await send(bus, one, msg_id=f"copy{number}")
    await eventually(lambda: queue_is_empty(bus))
    assert bench.ran == [one.call_id]
    assert [(r.status, value(r)) for r in await results(bus, one)] == [("ok", {"done": True})]


@served
async def test_a_job_redelivered_while_it_runs_is_not_run_beside_itself(bus: Bus, bench: Bench) -> None:
    one = job("bench", "slow_act")
    await send(bus, one, msg_id="copy1")
    await eventually(lambda: bench.ran)
    await send(bus, one, msg_id="copy2")
    await eventually(lambda: results(bus, one))
    bench.release.set()
    await eventually(lambda: queue_is_empty(bus))
    assert bench.ran == [one.call_id]
    assert len(await results(bus, one)) == 1


async def claim(bus: Bus, one: ToolJob) -> None:
    await Bucket(bus, "claims").create(one.call_id, value=b"another worker")


@served
async def test_a_call_somebody_claimed_and_never_reported_is_unknown_and_not_run(bus: Bus, bench: Bench) -> None:
    one = job("bench", "act")
    await claim(bus, one)
    await send(bus, one)
    finished = await result(bus, one)
    assert (finished.status, bench.ran) == ("unknown", [])
    assert "is not run again" in value(finished)["error"]


@served
async def test_a_call_somebody_claimed_and_reported_adds_nothing(bus: Bus, bench: Bench) -> None:
    one = job("bench", "act")
    await claim(bus, one)
    reported = ToolFinished(call_id=one.call_id, turn_id="1-t", name="act", status="ok", at=utc_now(), worker="other")
    await put_result(bus, one.reply_to, reported)
    await send(bus, one)
    await eventually(lambda: queue_is_empty(bus))
    assert await results(bus, one) == [reported]
    assert bench.ran == []


@served
async def test_a_read_only_call_may_run_again_and_still_has_one_result(bus: Bus, bench: Bench) -> None:
    one = job("bench", "look")
    await send(bus, one, msg_id="copy1")
    await send(bus, one, msg_id="copy2")
    await eventually(lambda: queue_is_empty(bus))
    assert len(bench.ran) == 2
    assert len(await results(bus, one)) == 1


async def ask_to_stop(bus: Bus, call_id: str) -> None:
    abandoned = CallAbandoned(turn_id="1-t", call_id=call_id, reason="cancelled", at=utc_now())
    await bus.publish(subjects.tool_cancel(call_id), abandoned)


@served
@pytest.mark.parametrize(("name", "status"), [("slow_look", "error"), ("slow_act", "unknown")])
async def test_a_running_call_that_is_cancelled_stops_and_says_so(
    bus: Bus, bench: Bench, name: str, status: str
) -> None:
    one, other = job("bench", name), job("bench", name)
    await send(bus, one)
    await send(bus, other)
    await eventually(lambda: len(bench.ran) == 2)
    await ask_to_stop(bus, "1-t.9.9")
    await ask_to_stop(bus, one.call_id)
    finished = await result(bus, one)
    assert finished.status == status
    assert "cancelled" in value(finished)["error"]
    assert await results(bus, other) == []
    bench.release.set()
    assert (await result(bus, other)).status == "ok"


async def test_a_worker_that_stops_hands_a_read_only_call_to_another_at_once(
    bus: Bus, nats_server: PrivateNats, settings: Settings, bench: Bench
) -> None:
    one = job("bench", "slow_look")
    async with connected(nats_server.bus_settings(), "other") as other:
        async with serving(other, settings, [bench.group]):
            await send(bus, one)
            await eventually(lambda: bench.ran)
        bench.release.set()
        async with serving(bus, settings, [bench.group]):
            assert (await result(bus, one)).status == "ok"
    assert len(bench.ran) == 2


async def test_a_worker_that_stops_amid_an_effect_leaves_it_unknown(bus: Bus, settings: Settings, bench: Bench) -> None:
    one = job("bench", "slow_act")
    async with serving(bus, settings, [bench.group]):
        await send(bus, one)
        await eventually(lambda: bench.ran)
    async with serving(bus, settings, [bench.group]):
        assert (await result(bus, one)).status == "unknown"
    assert len(bench.ran) == 1


@served
async def test_calls_go_on_over_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats, bench: Bench) -> None:
    jobs = [job("bench", "act") for _ in range(10)]
    await asyncio.gather(*(send(bus, one) for one in jobs[:5]))
    nats_server.kill()
    await asyncio.gather(*(send(bus, one) for one in jobs[5:]))
    for one in jobs:
        assert (await result(bus, one, within_s=20)).status in {"ok", "unknown"}
    assert sorted(bench.ran) == sorted(set(bench.ran))


@served
@pytest.mark.parametrize("data", [b"not json", b"{}", b'{"type":"tool.job"}', b'{"type":"tool.\\r\\nX: y"}'])
async def test_what_is_no_job_becomes_a_dead_letter(bus: Bus, data: bytes) -> None:
    await bus.append_bytes("tool.bench.look", data, msg_id="bad")
    dead = await eventually(lambda: bus.read("dead.*"))
    assert [(m.data, m.headers["Jada-Subject"]) for m in dead] == [(data, "tool.bench.look")]
    await eventually(lambda: queue_is_empty(bus))


async def test_a_job_delivered_too_often_is_answered_kept_and_dropped(
    bus: Bus, nats_server: PrivateNats, settings: Settings, bench: Bench
) -> None:
    """Workers of the group that hand it back, until the broker has counted to `max_deliver` and gives it up."""
    one = job("bench", "look")

    async def hands_back(_delivery: Delivery) -> None:
        raise HandBack(0.1)

    async with connected(nats_server.bus_settings(), "sick") as other:
        sick = Worker(other, tools_consumer(settings, "bench"), hands_back, concurrency=1)
        async with serving(bus, settings, [bench.group]) as healthy:
            # It listens for given-up jobs but takes none itself.
            for worker in healthy._workers.values():
                await worker.stop(0)
            healthy._workers.clear()
            await sick.start()
            seq = await send(bus, one)
            finished = await result(bus, one)
            await eventually(lambda: queue_is_empty(bus))
        await sick.stop(0)
    assert (finished.status, bench.ran) == ("error", [])
    assert "given up" in value(finished)["error"]
    dead = await bus.read("dead.*")
    assert [(m.headers["Jada-Subject"], m.headers["Nats-Msg-Id"]) for m in dead] == [
        ("tool.bench.look", f"TOOLS.{seq}")
    ]
