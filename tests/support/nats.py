"""A private nats-server for a test: own port, own store, gone afterwards."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from shared.bus import Bus, connect
from shared.embedded import EmbeddedNats
from shared.secret import Secret
from shared.settings.schema import Bus as BusSettings
from shared.settings.schema import Settings


class PrivateNats(EmbeddedNats):
    """The embedded server of the product, with the means to kill it."""

    def __init__(self, folder: Path, *, sync: str = "1s", max_store_bytes: int = 1 << 30) -> None:
        super().__init__(folder, listen="127.0.0.1", sync=sync, max_store_bytes=max_store_bytes)

    def kill(self) -> None:
        """SIGKILL; the launcher starts it again on the same port and data."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)

    def bus_settings(self, **changes: object) -> BusSettings:
        return BusSettings(url=self.url, token=Secret(self.token), **changes)  # type: ignore[arg-type]

    def environment(self) -> dict[str, str]:
        """What a service process needs to connect here."""
        return {"JADA_BUS_URL": self.url, "JADA_BUS_TOKEN": self.token}


@asynccontextmanager
async def private_nats(folder: Path, **options: object) -> AsyncIterator[PrivateNats]:
    server = PrivateNats(folder, **options)  # type: ignore[arg-type]
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def connected(settings: BusSettings, name: str = "test") -> AsyncIterator[Bus]:
    bus = await connect(settings, name=name)
    try:
        yield bus
    finally:
        await asyncio.wait_for(bus.close(), 5)


def settings_for(server: PrivateNats, **sections: object) -> Settings:
    """Default settings, connected to `server`; sections replace the defaults."""
    return Settings(bus=server.bus_settings(), **sections)  # type: ignore[arg-type]
