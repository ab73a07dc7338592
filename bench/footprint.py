"""Memory of everything in one process, nats-server included, after it has worked a little."""

import re
from pathlib import Path

import msgspec
import psutil

from bench.processes import Running, environment, free_port, python, ready
from bench.stack import bus_settings, model_server, model_settings
from bench.turns import Watch, new, run_turns
from shared.bus import connect

TURNS = 20


class Footprint(msgspec.Struct, frozen=True):
    """Resident MB of `jada up` and of its nats-server, at rest and after some turns."""

    at_rest: dict[str, float]
    after_turns: dict[str, float]
    turns: int


async def all_in_one(folder: Path) -> Footprint:
    """Start `jada up`, run turns through it, and weigh it."""
    port = free_port()
    async with model_server(folder) as model_url:
        env = environment(JADA_DATA=str(folder / "data"), JADA_HTTP_PORT=str(port), **model_settings(model_url, folder))
        async with python("all", "cli.main", "up", env=env, folder=folder) as process:
            await ready(process, f"http://127.0.0.1:{port}/readyz", folder)
            at_rest = _weigh(process)
            await _work((folder / "data/nats.conf").read_text(encoding="utf-8"))
            return Footprint(at_rest, _weigh(process), TURNS)


def _weigh(process: Running) -> dict[str, float]:
    servers = psutil.Process(process.pid).children(recursive=True)
    weights = {"python": process.rss_mb(), "nats-server": sum(Running("", child.pid).rss_mb() for child in servers)}
    return {**weights, "sum": round(sum(weights.values()), 1)}


async def _work(config: str) -> None:
    """Run turns on the server that the process started for itself: address and token are in its configuration."""
    listen, token = re.search(r'listen: "(.+?)"', config), re.search(r'token: "(.+?)"', config)
    if listen is None or token is None:
        raise ValueError("no address or token in the server's configuration")
    bus = await connect(bus_settings(f"nats://{listen[1]}", token[1]), name="bench")
    try:
        watch = Watch(bus)
        await watch.start()
        await run_turns(watch, new("all"), range(TURNS))
    finally:
        await bus.close()
