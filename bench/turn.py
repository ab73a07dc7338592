"""What a durable three-step turn costs: `python -m bench.turn [--quick] [--turns N] [--json]`.

User message, model, tool, model, tool, model, answer; through the real services as separate processes, on a private
nats-server that syncs every write, against a model that answers at once. Prints a table, then one JSON line;
`--json` prints the JSON line only. Exit status 0 whether or not the goals are met: it measures, it does not judge.
"""

import argparse
import asyncio
import os
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec
import nats
import uvloop

from bench.floor import floor
from bench.footprint import all_in_one
from bench.measures import Spread, per_turn_ms, quietest_tenth, ratio, spread
from bench.race import race
from bench.report import Growth, Load, Report, goals, table
from bench.stack import Stack, running_stack
from bench.storage import stored_per_turn
from bench.turns import NextConversation, Timing, Watch, known, new, run_turns

_BLOCK = 20
_KNOWN = 8
_IDLE_S = 2.0
_MOST_S = 175.0


class Plan(msgspec.Struct, frozen=True):
    """How much of everything to run. Growth needs all its turns to be growth."""

    samples: int
    turns: int
    growth_turns: int = 200
    stored_turns: int = 10
    races: int = 5


async def measure(plan: Plan, folder: Path) -> Report:
    """Start everything, measure, stop everything."""
    load_before = round(os.getloadavg()[0], 2)
    (folder / "stack").mkdir()
    (folder / "one").mkdir()
    async with running_stack(folder / "stack") as stack:
        rss_at_start = stack.rss_mb()
        watch = Watch(stack.bus)
        await watch.start()
        await run_turns(watch, new("warm"), range(2 * _BLOCK), concurrency=2)
        await run_turns(watch, known("known", _KNOWN), range(_KNOWN))
        latency = await _latency(stack, watch, plan.samples)
        stored = {
            "new": await stored_per_turn(stack, watch, new("stored"), plan.stored_turns),
            "known": await stored_per_turn(stack, watch, known("known", _KNOWN), plan.stored_turns),
        }
        loads = await _loads(stack, watch, plan.turns)
        grown = await _growth(stack, watch, plan.growth_turns)
        idle = await _idle(stack)
        rss_after_work = stack.rss_mb()
        conditions = _conditions(load_before, str(stack.bus.client.connected_server_version))
        races = await race(stack, plan.races)
    footprint = await all_in_one(folder / "one")
    report = Report(
        conditions=conditions,
        latency=latency,
        ratios={name: ratio(found.p50, latency["floor"].p50) for name, found in latency.items() if name != "floor"},
        loads=loads,
        idle_cpu_ms_per_s=idle,
        stored=stored,
        growth=grown,
        rss_at_start=rss_at_start,
        rss_after_work=rss_after_work,
        race=races,
        all_in_one=footprint,
    )
    report.goals = goals(report)
    return report


async def _latency(stack: Stack, watch: Watch, samples: int) -> dict[str, Spread]:
    """Floor, new conversation and known conversation by turns, so that whatever else the machine does hits all."""
    floors: list[float] = []
    fresh: list[Timing] = []
    familiar: list[Timing] = []
    where_new, where_known = new("fresh"), known("known", _KNOWN)
    asker, worker = [await nats.connect(**stack.plain_connection()) for _ in range(2)]
    try:
        async with floor(asker, worker) as bare:
            await bare.sample_ms()
            for number in range(samples):
                floors.append(await bare.sample_ms())
                fresh.append(await watch.turn(*where_new(number)))
                familiar.append(await watch.turn(*where_known(number)))
    finally:
        await asker.close()
        await worker.close()
    return {
        "floor": spread(floors),
        "known_seen": spread([t.seen for t in familiar]),
        "known_settled": spread([t.settled for t in familiar]),
        "new_seen": spread([t.seen for t in fresh]),
        "new_settled": spread([t.settled for t in fresh]),
    }


async def _loads(stack: Stack, watch: Watch, turns: int) -> dict[str, Load]:
    return {
        "known_1": await _load(stack, watch, known("known", _KNOWN), turns, 1),
        "new_1": await _load(stack, watch, new("one"), turns, 1),
        "new_16": await _load(stack, watch, new("sixteen"), 2 * turns, 16),
    }


async def _load(stack: Stack, watch: Watch, where: NextConversation, turns: int, concurrency: int) -> Load:
    """CPU over all, and in blocks, so that the quieter ones can be told from those that had to share the machine."""
    block = _BLOCK // 2 * concurrency
    blocks: list[dict[str, float]] = []
    took_s = 0.0
    await stack.learner_idle()
    began = before = stack.cpu_s()
    for at in range(0, turns, block):
        took_s += await run_turns(watch, where, range(at, at + block), concurrency=concurrency)
        after = stack.cpu_s()
        blocks.append(per_turn_ms(before, after, block))
        before = after
    await stack.learner_idle()
    turns = block * len(blocks)
    mean = per_turn_ms(began, stack.cpu_s(), turns)
    # The learner looks every few seconds, so most blocks are without its share.
    quiet = quietest_tenth(blocks, leave_out="learner") | {"learner": mean["learner"]}
    return Load(
        turns,
        concurrency,
        round(turns / took_s, 1),
        mean,
        round(sum(mean.values()), 3),
        quiet,
        round(sum(quiet.values()), 3),
    )


async def _growth(stack: Stack, watch: Watch, turns: int) -> Growth:
    """Let one conversation grow, then run its last turns between the first ones of another."""
    grown = [(await watch.turn("old", "user-old")).seen for _ in range(turns - _BLOCK)]
    await stack.learner_idle()
    walls: dict[str, list[float]] = {"young": [], "old": []}
    cpu: dict[str, list[dict[str, float]]] = {"young": [], "old": []}
    for _ in range(_BLOCK):
        for name in ("young", "old"):
            before = stack.cpu_s()
            walls[name].append((await watch.turn(name, f"user-{name}")).seen)
            cpu[name].append(per_turn_ms(before, stack.cpu_s(), 1))
    wall = {name: median(found) for name, found in walls.items()}
    sums = {name: median(sum(turn.values()) for turn in found) for name, found in cpu.items()}
    by_process = {
        name: {process: round(median(turn[process] for turn in found), 3) for process in found[0]}
        for name, found in cpu.items()
    }
    return Growth(
        turns=turns,
        wall_first=round(wall["young"], 3),
        wall_last=round(wall["old"], 3),
        wall_ratio=ratio(wall["old"], wall["young"]),
        cpu_first=round(sums["young"], 3),
        cpu_last=round(sums["old"], 3),
        cpu_ratio=ratio(sums["old"], sums["young"]),
        cpu_ms_first=by_process["young"],
        cpu_ms_last=by_process["old"],
        wall_by_block=[
            round(median(block), 3)
            for block in (*(grown[at : at + _BLOCK] for at in range(0, len(grown), _BLOCK)), walls["old"])
        ],
    )


async def _idle(stack: Stack) -> dict[str, float]:
    """CPU of processes that have nothing to do, in milliseconds per second."""
    await stack.learner_idle()
    before, began = stack.cpu_s(), time.perf_counter()
    await asyncio.sleep(_IDLE_S)
    took_s = time.perf_counter() - began
    return {name: round((used - before[name]) * 1000 / took_s, 3) for name, used in stack.cpu_s().items()}


def _conditions(load_before: float, nats_version: str) -> dict[str, str | int | float]:
    return {
        "load_before": load_before,
        "nats_server": nats_version,
        "cpus": os.cpu_count() or 0,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "sync": "always",
        "replicas": 1,
    }


async def _bounded(plan: Plan) -> Report:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("not in a task")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with tempfile.TemporaryDirectory(prefix="jada-bench-") as folder:
        async with asyncio.timeout(_MOST_S):
            return await measure(plan, Path(folder))


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="bench.turn", description="What a durable three-step turn costs.")
    parser.add_argument("--turns", type=int, default=300, help="turns per measurement of throughput (default 300)")
    parser.add_argument("--quick", action="store_true", help="fewer turns of everything, about half a minute")
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    arguments = parser.parse_args()
    if arguments.quick:
        plan = Plan(samples=20, turns=min(arguments.turns, 40), stored_turns=5, races=2)
    else:
        plan = Plan(samples=max(20, arguments.turns // 2), turns=arguments.turns)
    try:
        report = uvloop.run(_bounded(plan))
    except asyncio.CancelledError:
        raise SystemExit("stopped before the end; nothing is left running") from None
    if not arguments.json:
        sys.stdout.write(table(report) + "\n")
    sys.stdout.write(msgspec.json.encode(report).decode() + "\n")


if __name__ == "__main__":
    main()
