"""The life of a service: connect, start, serve health, wait for a signal, stop in order."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import msgspec
import structlog
import uvloop
from fastapi import FastAPI

from shared import logs
from shared.bus import Bus, connect
from shared.errors import JadaError
from shared.http import HttpServer, health_app
from shared.settings import Settings, SettingsError, load
from shared.topology import ensure_streams

_STALL_S = 30.0

log = logs.get_logger()


class Service(Protocol):
    """What the lifecycle needs of a service. `workers_alive_at` are monotonic times of its loops' last sign of life."""

    name: str

    async def start(self) -> None:
        """Subscribe and begin to work."""
        ...

    async def stop(self, grace_s: float) -> None:
        """Take no new work, finish what fits into `grace_s`, hand the rest back."""
        ...

    def alive_at(self) -> float:
        """The monotonic time at which the service's slowest loop last made progress."""
        ...

    def problems(self) -> dict[str, str]:
        """What keeps the service from its work right now, by name; empty when nothing does."""
        ...

    def degraded(self) -> dict[str, str]:
        """What is missing that the service can work without, by name."""
        ...


class Context(msgspec.Struct, frozen=True):
    """What a service is built from."""

    bus: Bus
    settings: Settings


Build = Callable[[Context], Service]
Connect = Callable[..., Awaitable[Bus]]


class Runner:
    """One service on one connection: its parts are started and stopped in order."""

    def __init__(self, name: str, build: Build, settings: Settings, *, connect: Connect = connect) -> None:
        self.name = name
        self._build = build
        self._settings = settings
        self._connect = connect
        self._bus: Bus | None = None
        self.service: Service | None = None

    async def start(self) -> None:
        """Connect (waiting for the broker as long as it takes), set up the streams, start the service."""
        self._bus = await _connect_patiently(self._connect, self._settings, self.name)
        service = self._build(Context(self._bus, self._settings))
        await service.start()
        self.service = service
        log.info("service.started", service=self.name)

    async def stop(self) -> None:
        """Stop the service within the grace period and close the connection; once is enough."""
        service, self.service = self.service, None
        if service is not None:
            await service.stop(self._settings.service.grace_s)
        bus, self._bus = self._bus, None
        if bus is not None:
            await bus.close()
        log.info("service.stopped", service=self.name)

    def alive(self) -> dict[str, str]:
        """Why this process should be restarted, if at all: a loop that made no progress."""
        if self.service is None:
            return {}
        idle = time.monotonic() - self.service.alive_at()
        return {self.name: f"no progress for {idle:.0f} s"} if idle > _STALL_S else {}

    def ready(self) -> dict[str, str]:
        """What this service waits for, if anything."""
        if self.service is None or self._bus is None:
            return {f"{self.name}.nats": "not connected yet"}
        if not self._bus.connected:
            return {f"{self.name}.nats": "connection lost, reconnecting"}
        return self._named(self.service.problems())

    def degraded(self) -> dict[str, str]:
        """What this service works without, if anything."""
        return self._named(self.service.degraded()) if self.service is not None else {}

    def _named(self, found: dict[str, str]) -> dict[str, str]:
        return {f"{self.name}.{key}": why for key, why in found.items()}


async def _connect_patiently(connect: Connect, settings: Settings, name: str) -> Bus:
    pause = 0.1
    while True:
        try:
            bus = await connect(settings.bus, name=name)
            await ensure_streams(bus.client.jetstream(timeout=settings.bus.request_timeout_s), settings)
        except Exception as exc:  # noqa: BLE001 - the client library has no common base for "not reachable yet"
            log.warning("service.waiting_for_bus", service=name, error=f"{type(exc).__name__}: {exc}")
        else:
            return bus
        await asyncio.sleep(pause)
        pause = min(2.0, pause * 2)


async def until_signal(stop: asyncio.Event | None = None) -> None:
    """Return when the process is asked to end (SIGTERM, SIGINT), or when `stop` is set."""
    stop = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    await stop.wait()


MakeApp = Callable[[Runner, Settings], FastAPI]


def only_health(runner: Runner, settings: Settings) -> FastAPI:
    """The HTTP side of a service without an API."""
    del settings
    return health_app(runner.name, runner.alive, runner.ready, runner.degraded)


async def run(runner: Runner, settings: Settings, *, app: FastAPI, port: int) -> None:
    """Run one service and its HTTP side until a signal; raises what kept the service from starting."""
    structlog.contextvars.bind_contextvars(service=runner.name)
    http = HttpServer(app, host=settings.http.host, port=port) if port else None
    if http is not None:
        await http.start()
    stop = asyncio.Event()
    starting = asyncio.create_task(runner.start())
    starting.add_done_callback(lambda task: stop.set() if not task.cancelled() and task.exception() else None)
    await until_signal(stop)
    if not starting.done():
        starting.cancel()
    outcome = (await asyncio.gather(starting, return_exceptions=True))[0]
    await runner.stop()
    if http is not None:
        await http.stop()
    if isinstance(outcome, Exception):
        raise outcome


def settings_or_exit() -> Settings:
    """The process's settings; prints what is wrong with them and exits with 2 when they cannot be used."""
    try:
        return load(env=os.environ, folder=Path.cwd())
    except SettingsError as exc:
        sys.stderr.write(f"{exc}\n")
        raise SystemExit(2) from exc


def main(name: str, build: Build, make_app: MakeApp | None = None) -> None:
    """Run one service as this process until it is told to stop; exit status 0 after an orderly stop.

    A service with an API (`make_app`) listens on `http.port`, any other with health and metrics on
    `http.health_port`.
    """
    settings = settings_or_exit()
    logs.configure(level=settings.log.level, style=settings.log.format)
    if not settings.bus.url:
        sys.stderr.write("bus.url is empty: set JADA_BUS_URL, or run `jada up` for everything in one process\n")
        raise SystemExit(2)
    try:
        runner = Runner(name, build, settings)
        app = (make_app or only_health)(runner, settings)
        port = settings.http.port if make_app else settings.http.health_port
        uvloop.run(run(runner, settings, app=app, port=port))
    except JadaError as exc:
        log.error("service.failed", service=name, error=str(exc))  # noqa: TRY400 - expected, no traceback
        raise SystemExit(1) from exc
