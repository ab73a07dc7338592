"""A scripted provider and a client of it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from shared.model.client import OpenAIChat
from shared.model.config import ModelConfig
from shared.model.discover import build
from shared.secret import Secret
from tests.integration.model.harness import HELLO, KEY, Make
from tests.support.model_server import ModelServer, Rule, Script, Terms


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    opened: list[tuple[ModelServer, OpenAIChat]] = []

    async def start(*rules: Rule, terms: Terms | None = None, **options: Any) -> tuple[ModelServer, OpenAIChat]:
        script = Script(key=KEY, terms=terms or Terms(), rules=rules or (Rule(reply=HELLO),))
        server = await ModelServer(script).__aenter__()
        defaults: dict[str, Any] = {"dialect": "openai", "api_key": Secret(KEY), "price_in": 2.0, "price_out": 4.0}
        model = build(
            ModelConfig(
                name="test", provider="openai", model_id="test-model", base_url=server.base_url, **(defaults | options)
            )
        )
        opened.append((server, model))
        return server, model

    yield start
    for server, model in opened:
        await model.aclose()
        await server.__aexit__(None, None, None)
