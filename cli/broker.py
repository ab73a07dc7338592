"""The way to NATS for the commands that look under the API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats.errors

from cli.exits import Unreachable
from cli.running import read_running
from cli.session import Session
from shared import logs
from shared.bus import Bus, connect
from shared.secret import Secret
from shared.settings.schema import Bus as BusSettings

_PATIENCE_S = 3.0


def bus_settings(session: Session) -> BusSettings:
    """The configured broker, else the one of the Jada that runs on the data folder; `Unreachable` without either."""
    configured = session.settings.bus
    if configured.url:
        return configured
    running = read_running(session.data_dir)
    if running is None or not running.bus_url:
        raise Unreachable(str(session.data_dir))
    return BusSettings(url=running.bus_url, token=Secret(running.bus_token))


@asynccontextmanager
async def open_bus(settings: BusSettings) -> AsyncIterator[Bus]:
    """A connection to a broker; `Unreachable` when it doesn't answer within 3 s."""
    logs.configure(level="error", style="json")  # a command's output is its own, retries are nobody's business
    try:
        bus = await asyncio.wait_for(connect(settings, name="cli"), _PATIENCE_S)
    except (TimeoutError, OSError, nats.errors.Error) as exc:
        raise Unreachable(settings.url) from exc
    try:
        yield bus
    finally:
        await bus.close()
