"""`jada up`: starts everything on this machine and keeps it running until it is told to stop."""

import asyncio
import contextlib
import ipaddress
import os
import signal
from pathlib import Path

import uvloop

from cli.console_log import logging_to
from cli.exits import Exit
from cli.running import Running, remove_running, write_running
from cli.session import Session
from cli.system import AllInOne
from shared.embedded import DataDirectoryInUse
from shared.errors import JadaError
from shared.http import PortTaken
from shared.model.config import ModelConfig
from shared.settings import SettingsError

_LOG = "jada.log"
_POLL_S = 0.02
_SETTLE_S = 5.0
_SAY_WAITING_AFTER_S = 3.0


def run(session: Session) -> Exit:
    """Run until SIGTERM or SIGINT."""
    return uvloop.run(_up(session))


async def _up(session: Session) -> Exit:
    settings = session.settings
    _refuse_open_door(session)
    system = AllInOne(settings)
    data = session.data_dir
    data.mkdir(parents=True, exist_ok=True)
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    try:
        await _listen(session, system)
        with logging_to(data / _LOG, level=settings.log.level, verbose=session.args.verbose):
            await _serve(session, system, stop)
            await system.stop()
    finally:
        await system.stop()
        remove_running(data, pid=os.getpid())
    return Exit.OK


def _refuse_open_door(session: Session) -> None:
    """The API asks nobody for a token yet, so it must not be open to other machines."""
    host = session.settings.http.host
    if not _is_loopback(host):
        raise SettingsError([session.say("up.open_door", host=host)])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _listen(session: Session, system: AllInOne) -> None:
    settings = session.settings
    try:
        await system.listen()
    except DataDirectoryInUse as exc:
        raise JadaError(session.say("up.data_in_use", data=session.data_dir)) from exc
    except PortTaken as exc:
        raise JadaError(session.say("up.port_taken", host=settings.http.host, port=settings.http.port)) from exc


async def _serve(session: Session, system: AllInOne, stop: asyncio.Event) -> None:
    """Start the services and keep them running until `stop`; raises what kept them from starting."""
    starting = asyncio.create_task(_start(session, system))
    await _first(starting, stop)
    if not starting.done():
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        return
    await starting
    await stop.wait()
    _say(session, session.say("up.stopping"))


async def _first(starting: asyncio.Task[None], stop: asyncio.Event) -> None:
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


async def _start(session: Session, system: AllInOne) -> None:
    services = asyncio.create_task(system.start())
    try:
        await asyncio.wait({services}, timeout=_SAY_WAITING_AFTER_S)
        if not services.done():
            _say(session, session.say("up.waiting", url=session.settings.bus.url or "nats"))
        await services
    finally:
        services.cancel()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_complete(system), _SETTLE_S)
    _announce(session, system)


async def _complete(system: AllInOne) -> None:
    """Return when nothing is missing any more: the services have found each other."""
    while system.ready() or system.degraded():  # noqa: ASYNC110 - nobody announces it
        await asyncio.sleep(_POLL_S)


def _announce(session: Session, system: AllInOne) -> None:
    data, model = session.data_dir, system.model
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
