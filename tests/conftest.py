from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.bus import Bus
from shared.topology import ensure_streams
from tests.support.nats import PrivateNats, connected, private_nats, settings_for


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[PrivateNats]:
    async with private_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
async def bus(nats_server: PrivateNats) -> AsyncIterator[Bus]:
    """A connection to a private server with all streams set up."""
    async with connected(nats_server.bus_settings()) as bus:
        await ensure_streams(bus.client.jetstream(), settings_for(nats_server))
        yield bus
