"""One server for all tests of a module, as it was at the start of each."""

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio

from tests.support.model_server import ModelServer
from tests.unit.model_server.served_script import SCRIPT


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[ModelServer]:
    async with ModelServer(SCRIPT) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def client(served: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    served.use(SCRIPT)
    served.reset()
    async with httpx.AsyncClient(base_url=served.root_url, timeout=0.5, trust_env=False) as opened:
        yield opened
