"""Everything in one process as `jada up` does it, without a command line: `python -m bench.all_in_one`."""

import asyncio
from pathlib import Path

import msgspec
import uvloop

from services.agent.service import build_service as agent
from services.learner.service import build_service as learner
from services.router.service import build_service as router
from services.scheduler.service import build_service as scheduler
from services.tools.service import build_service as tools
from shared import logs
from shared.embedded import EmbeddedNats
from shared.http import HttpServer, health_app
from shared.lifecycle import Build, Runner, settings_or_exit, until_signal
from shared.secret import Secret
from shared.settings import Settings

BUILD: dict[str, Build] = {"tools": tools, "router": router, "learner": learner, "scheduler": scheduler, "agent": agent}


async def run(settings: Settings) -> None:
    """Start the embedded server and the five services; stop them in reverse on a signal."""
    nats = EmbeddedNats(
        Path(settings.embedded.data_dir),
        listen=settings.embedded.listen,
        sync=settings.embedded.sync,
        max_store_bytes=settings.bus.max_store_bytes,
    )
    await nats.start()
    bus = msgspec.structs.replace(settings.bus, url=nats.url, token=Secret(nats.token))
    runners = [Runner(name, build, msgspec.structs.replace(settings, bus=bus)) for name, build in BUILD.items()]

    def ready() -> dict[str, str]:
        return {name: why for runner in runners for name, why in runner.ready().items()}

    http = HttpServer(health_app("all", dict, ready), host=settings.http.host, port=settings.http.port)
    await http.start()
    for runner in runners:
        await runner.start()
    await until_signal(asyncio.Event())
    for runner in reversed(runners):
        await runner.stop()
    await http.stop()
    await nats.stop()


if __name__ == "__main__":
    found = settings_or_exit()
    logs.configure(level=found.log.level, style=found.log.format)
    uvloop.run(run(found))
