"""The offline model behind its client."""

from collections.abc import AsyncIterator

import pytest

from shared.model.client import OpenAIChat
from shared.model.discover import build, offline_config


@pytest.fixture
async def model() -> AsyncIterator[OpenAIChat]:
    model = build(offline_config())
    yield model
    await model.aclose()
