"""`jada up`: starts everything on this machine and keeps it running until it is told to stop."""

import asyncio
import os
import signal
from pathlib import Path

import uvloop

from cli.console_log import log_to_file
from cli.exits import Exit
from cli.running import Running, remove_running, write_running
from cli.session import Session
from cli.system import AllInOne
from shared.model.config import ModelConfig

_LOG = "jada.log"
_POLL_S = 0.02
_SAY_WAITING_AFTER_S = 3.0


def run(session: Session) -> Exit:
    """Run until SIGTERM or SIGINT."""
    return uvloop.run(_up(session))


async def _up(session: Session) -> Exit:
    settings = session.settings
    system = AllInOne(settings)
    data = session.data_dir
    data.mkdir(parents=True, exist_ok=True)
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    try:
        await system.listen()
        log_to_file(data / _LOG, level=settings.log.level, verbose=session.args.verbose)
        starting = asyncio.create_task(_start(session, system, data))
        await _first(starting, stop)
        if starting.done():
            await starting
            await stop.wait()
            _say(session, session.say("up.stopping"))
        else:
            starting.cancel()
    finally:
        await system.stop()
        remove_running(data)
    return Exit.OK


async def _first(starting: asyncio.Task[None], stop: asyncio.Event) -> None:
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


async def _start(session: Session, system: AllInOne, data: Path) -> None:
    services = asyncio.create_task(system.start())
    try:
        await asyncio.wait({services}, timeout=_SAY_WAITING_AFTER_S)
        if not services.done():
            _say(session, session.say("up.waiting", url=session.settings.bus.url or "nats"))
        await services
        while system.ready() or system.model is None:  # noqa: ASYNC110 - readiness is computed, nobody announces it
            await asyncio.sleep(_POLL_S)
    finally:
        services.cancel()
    _announce(session, system, data)


def _announce(session: Session, system: AllInOne, data: Path) -> None:
    model = system.model
    if model is None:
        return
    nats = system.nats
    running = Running(
        api=system.api,
        model=model.name,
        pid=os.getpid(),
        bus_url=nats.url if nats else "",
        bus_token=nats.token if nats else "",
    )
    write_running(data, running)
    if session.json:
        provider = model.provider
        session.print_json(
            {"api": running.api, "model": running.model, "provider": provider, "pid": running.pid, "data": str(data)}
        )
        return
    print(_banner(session, system.api, model, data), flush=True)


def _banner(session: Session, api: str, model: ModelConfig, data: Path) -> str:
    say = session.say
    lines = [say("up.api", api=api), say("up.model", model=model.name, provider=model.provider)]
    if model.provider == "offline":
        lines.append(say("up.offline"))
    return "\n".join([*lines, say("up.talk"), say("up.data", data=data, log=data / _LOG), say("up.stop")])


def _say(session: Session, text: str) -> None:
    if not session.json:
        print(text, flush=True)
