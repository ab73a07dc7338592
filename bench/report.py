"""What `bench.turn` found, which goals that meets, and the table people read."""

import msgspec

from bench.footprint import Footprint
from bench.measures import Spread
from bench.race import Races
from bench.storage import Stored

MAX_RATIO = 3.0
MAX_CPU_MS = 10.0
MAX_MESSAGES = 9
MAX_BYTES = 5 * 1024
MAX_GROWTH = 1.3
MAX_SERVICE_MB = 60.0
MAX_ALL_MB = 150.0


class Load(msgspec.Struct, frozen=True):
    """Turns at one concurrency: how many a second, and CPU per turn by process in milliseconds.

    `cpu_ms` is the mean of the run; `quiet_ms` the tenth percentile of its blocks, which says what a turn takes when
    nothing else wants the machine's caches and cores.
    """

    turns: int
    concurrency: int
    turns_per_s: float
    cpu_ms: dict[str, float]
    cpu_ms_sum: float
    quiet_ms: dict[str, float]
    quiet_ms_sum: float


class Growth(msgspec.Struct, frozen=True):
    """Turns 1 to 20 of one conversation between turns 181 to 200 of another: medians, in milliseconds.

    Side by side, because the machine may be busier when a conversation has grown than when it began.
    `wall_by_block` are the medians of each 20 turns of the older one as it grew.
    """

    turns: int
    wall_first: float
    wall_last: float
    wall_ratio: float
    cpu_first: float
    cpu_last: float
    cpu_ratio: float
    wall_by_block: list[float]
    cpu_ms_first: dict[str, float]
    cpu_ms_last: dict[str, float]


class Report(msgspec.Struct, kw_only=True):
    """Everything that was measured. `seen` and `settled` as in `bench.turns.Timing`, in milliseconds."""

    conditions: dict[str, str | int | float]
    latency: dict[str, Spread]
    ratios: dict[str, float]
    loads: dict[str, Load]
    idle_cpu_ms_per_s: dict[str, float]
    stored: dict[str, Stored]
    growth: Growth
    rss_at_start: dict[str, float]
    rss_after_work: dict[str, float]
    race: Races
    all_in_one: Footprint
    goals: dict[str, bool] = {}


def goals(report: Report) -> dict[str, bool]:
    """Each goal and whether it is met, for a conversation that is known and for a new one where that differs."""
    stored, loads = report.stored, report.loads
    services = {name: mb for name, mb in report.rss_after_work.items() if name != "nats-server"}
    race = report.race
    return {
        "overhead_known_at_most_3_floors": report.ratios["known_seen"] <= MAX_RATIO,
        "overhead_new_at_most_3_floors": report.ratios["new_seen"] <= MAX_RATIO,
        "cpu_known_at_most_10_ms": loads["known_1"].quiet_ms_sum <= MAX_CPU_MS,
        "cpu_new_at_most_10_ms": loads["new_1"].quiet_ms_sum <= MAX_CPU_MS,
        "messages_known_at_most_9": stored["known"].turn_messages <= MAX_MESSAGES,
        "messages_new_at_most_9": stored["new"].turn_messages <= MAX_MESSAGES,
        "bytes_known_under_5_kib": stored["known"].beside_content_bytes < MAX_BYTES,
        "bytes_new_under_5_kib": stored["new"].beside_content_bytes < MAX_BYTES,
        "growth_wall_at_most_1_3": report.growth.wall_ratio <= MAX_GROWTH,
        "growth_cpu_at_most_1_3": report.growth.cpu_ratio <= MAX_GROWTH,
        "race_all_kept_in_order_knowing": race.sent == race.answered == race.in_order == race.knew_earlier,
        "service_at_most_60_mb": max(services.values()) <= MAX_SERVICE_MB,
        "all_in_one_at_most_150_mb": report.all_in_one.after_turns["sum"] <= MAX_ALL_MB,
    }


def table(report: Report) -> str:
    """The report for people."""
    return "\n".join(
        [
            *_latency(report),
            *_loads(report),
            *_stored(report),
            *_growth(report.growth),
            *_memory(report),
            *_race(report.race),
            "",
            "goals",
            *(f"  {'met ' if met else 'MISS'}  {name}" for name, met in report.goals.items()),
        ]
    )


def _latency(report: Report) -> list[str]:
    titles = {
        "floor": "floor: 9 synced appends, 2 of them jobs handed over",
        "known_seen": "turn, known conversation, end seen",
        "known_settled": "turn, known conversation, input acked",
        "new_seen": "turn, new conversation, end seen",
        "new_settled": "turn, new conversation, input acked",
    }
    rows = {title: report.latency[name] for name, title in titles.items()}
    ratios = ", ".join(f"{name} {value:g}" for name, value in report.ratios.items())
    return [
        f"{'latency, ms':54}{'n':>6}{'min':>8}{'p50':>8}{'p95':>8}{'p99':>8}",
        *(f"  {name:52}{s.n:6}{s.min:8.2f}{s.p50:8.2f}{s.p95:8.2f}{s.p99:8.2f}" for name, s in rows.items()),
        f"  median in floors: {ratios}",
        "",
    ]


def _loads(report: Report) -> list[str]:
    names = list(next(iter(report.loads.values())).cpu_ms)
    head = f"{'CPU ms per turn':24}{'turns/s':>9}{'sum':>8}" + "".join(f"{name:>13}" for name in names)

    def row(title: str, rate: str, cpu: dict[str, float]) -> str:
        return f"  {title:22}{rate:>9}{sum(cpu.values()):8.2f}" + "".join(f"{cpu[name]:13.2f}" for name in names)

    rows = []
    for key, load in report.loads.items():
        rows += [row(f"{key}, mean", str(load.turns_per_s), load.cpu_ms), row(f"{key}, quiet", "", load.quiet_ms)]
    return [head, *rows, row("idle, ms per s", "", report.idle_cpu_ms_per_s), ""]


def _stored(report: Report) -> list[str]:
    lines = ["stored per turn"]
    for name, stored in report.stored.items():
        streams = ", ".join(f"{k} {v:g} ({stored.bytes[k]:.0f} B)" for k, v in stored.messages.items())
        lines.append(
            f"  {name}: {stored.turn_messages:g} messages, {stored.turn_bytes:.0f} bytes, of which content "
            f"{stored.content_bytes:.0f}, beside it {stored.beside_content_bytes:.0f}"
        )
        lines.append(f"    {streams}")
    return [*lines, ""]


def _growth(growth: Growth) -> list[str]:
    return [
        f"growth: turns 1 to 20 of one conversation against the last 20 of {growth.turns} of another, side by side",
        f"  wall {growth.wall_first:.2f} -> {growth.wall_last:.2f} ms ({growth.wall_ratio:g} x)",
        f"  CPU  {growth.cpu_first:.2f} -> {growth.cpu_last:.2f} ms ({growth.cpu_ratio:g} x)",
        f"    first {growth.cpu_ms_first}",
        f"    last  {growth.cpu_ms_last}",
        "",
    ]


def _memory(report: Report) -> list[str]:
    lines = [f"{'memory, MB':24}{'at start':>10}{'after work':>12}"]
    lines += [f"  {n:22}{report.rss_at_start[n]:10.1f}{mb:12.1f}" for n, mb in report.rss_after_work.items()]
    one = report.all_in_one
    lines += [f"  all in one: {n:10}{mb:10.1f}{one.after_turns[n]:12.1f}" for n, mb in one.at_rest.items()]
    return [*lines, f"  all in one is `jada up`, after {one.turns} turns", ""]


def _race(race: Races) -> list[str]:
    line = (
        f"race: 4 messages at once, 2 agents, {race.rounds} rounds: of {race.sent} sent, {race.answered} answered, "
        f"{race.in_order} in order, {race.knew_earlier} knew all earlier ones; {race.owners} agents ran turns"
    )
    return [line]
