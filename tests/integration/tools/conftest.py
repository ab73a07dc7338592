from collections.abc import AsyncIterator

import pytest

from services.tools.service import ToolsService
from shared.bus import Bus
from shared.settings.schema import Settings, Tools
from tests.integration.tools.jobs import serving
from tests.integration.tools.workbench import Bench
from tests.support.nats import PrivateNats, settings_for


@pytest.fixture
def settings(nats_server: PrivateNats) -> Settings:
    return settings_for(nats_server, tools=Tools(ack_wait_s=1.0, max_deliver=3, max_result_chars=1000))


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
async def bench_worker(bus: Bus, settings: Settings, bench: Bench) -> AsyncIterator[ToolsService]:
    async with serving(bus, settings, [bench.group]) as service:
        yield service


@pytest.fixture
async def tools(bus: Bus, settings: Settings) -> AsyncIterator[ToolsService]:
    """A worker that serves every shipped group."""
    async with serving(bus, settings) as service:
        yield service
