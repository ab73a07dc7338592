"""Which model is chosen: from settings, keys, local servers, and when there is nothing."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.model.dialects import DIALECTS
from shared.model.discover import PROVIDERS, build, discover
from shared.settings import SettingsError
from tests.support.model_server import ModelServer, Script, Terms
from tests.support.model_server.terms import Model


def network(**hosts: Any) -> httpx.AsyncClient:
    """A network where only the given `host_port` answer; the rest refuses."""

    async def answer(request: httpx.Request) -> httpx.Response:
        body = hosts.get(f"port_{request.url.port}")
        if body is None:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(200, json=body)

    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


OLLAMA = {"object": "list", "data": [{"id": "nomic-embed-text"}, {"id": "qwen3:4b"}]}
LLAMACPP = {"data": [{"id": "smol.gguf"}]}

CHOICES: list[tuple[dict[str, str], dict[str, Any], dict[str, Any]]] = [
    ({}, {}, {"provider": "offline", "dialect": "openai"}),
    ({"JADA_MODEL_NAME": "offline", "OPENAI_API_KEY": "k"}, {}, {"provider": "offline"}),
    ({"OPENAI_API_KEY": "k"}, {"port_11434": OLLAMA},
     {"provider": "openai", "model_id": "gpt-4.1-mini", "base_url": "https://api.openai.com/v1", "price_in": 0.4}),
    ({"GROQ_API_KEY": "k", "JADA_MODEL_NAME": "other"}, {},
     {"provider": "groq", "model_id": "other", "dialect": "groq", "price_in": 0.0}),
    ({"MISTRAL_API_KEY": "k"}, {}, {"provider": "mistral", "dialect": "mistral"}),
    ({"NVIDIA_API_KEY": "k"}, {}, {"provider": "nim", "dialect": "nim"}),
    ({"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}, {}, {"provider": "openai"}),
    ({"JADA_MODEL_PROVIDER": "deepseek", "JADA_MODEL_KEY": "k", "OPENAI_API_KEY": "x"}, {}, {"provider": "deepseek"}),
    ({"JADA_MODEL_URL": "https://api.groq.com/openai/v1/", "JADA_MODEL_NAME": "m", "JADA_MODEL_KEY": "k"}, {},
     {"provider": "groq", "base_url": "https://api.groq.com/openai/v1"}),
    ({"JADA_MODEL_URL": "http://gpu:8000/v1", "JADA_MODEL_NAME": "m", "OPENAI_API_KEY": "x"}, {},
     {"provider": "vllm", "dialect": "vllm", "model_id": "m", "base_url": "http://gpu:8000/v1"}),
    ({"JADA_MODEL_URL": "http://gpu:8000/v1"}, {"port_8000": LLAMACPP}, {"provider": "vllm", "model_id": "smol.gguf"}),
    ({"JADA_MODEL_URL": "http://gpu:8000/v1", "JADA_MODEL_NAME": "m", "JADA_MODEL_CONTEXT_WINDOW": "9000",
      "JADA_MODEL_PRICE_IN": "1.5", "JADA_MODEL_TIMEOUT_S": "12"}, {},
     {"context_window": 9000, "price_in": 1.5, "timeout_s": 12.0}),
    ({}, {"port_11434": OLLAMA, "port_8080": LLAMACPP}, {"provider": "ollama", "model_id": "qwen3:4b"}),
    ({}, {"port_8080": LLAMACPP}, {"provider": "llamacpp", "model_id": "smol.gguf"}),
    ({}, {"port_8080": {"hello": "I am another server"}}, {"provider": "offline"}),
    ({"JADA_MODEL_PROVIDER": "ollama", "JADA_MODEL_NAME": "llama3"}, {}, {"provider": "ollama", "model_id": "llama3"}),
]  # fmt: skip


@pytest.mark.parametrize(("env", "hosts", "expected"), CHOICES)
async def test_the_model_is_chosen_in_order(
    env: dict[str, str], hosts: dict[str, Any], expected: dict[str, Any]
) -> None:
    async with network(**hosts) as http:
        config = await discover(env, http)
    assert expected == {name: getattr(config, name) for name in expected}


@pytest.mark.parametrize(
    ("env", "word"),
    [
        ({"JADA_MODEL_PROVIDER": "nobody"}, "model.provider"),
        ({"JADA_MODEL_PROVIDER": "ollama"}, "does not answer"),
        ({"JADA_MODEL_PROVIDER": "vllm"}, "model.url"),
        ({"JADA_MODEL_NAME": "gpt"}, "model.name"),
        ({"JADA_MODEL_URL": "http://gpu:8000/v1"}, "model.name"),
        ({"JADA_MODEL_TIMEOUT_S": "soon"}, "model.timeout_s"),
    ],
)
async def test_what_cannot_be_used_stops_and_names_the_setting(env: dict[str, str], word: str) -> None:
    async with network() as http:
        with pytest.raises(SettingsError, match=word):
            await discover(env, http)


async def test_a_key_may_come_from_a_file_and_is_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("sk-from-file\n")
    env = {"JADA_MODEL_URL": "http://gpu/v1", "JADA_MODEL_NAME": "m", "JADA_MODEL_KEY_FILE": str(path)}
    async with network() as http:
        config = await discover(env, http)
    assert config.api_key.reveal() == "sk-from-file"
    assert "from-file" not in repr(config)


async def test_a_providers_key_is_not_sent_to_another_address() -> None:
    env = {"JADA_MODEL_URL": "http://gpu/v1", "JADA_MODEL_PROVIDER": "openai", "OPENAI_API_KEY": "sk-1"}
    async with network() as http:
        config = await discover(env, http)
    assert not config.api_key


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(Script(terms=Terms(models=(Model(id="served"),)))) as server:
        yield server


async def test_a_discovered_server_answers(server: ModelServer) -> None:
    async with httpx.AsyncClient() as http:
        config = await discover({"JADA_MODEL_URL": server.base_url}, http)
    assert config.model_id == "served"
    model = build(config)
    assert model.config is config
    await model.aclose()


def test_every_provider_has_a_dialect() -> None:
    assert {row.dialect or row.name for row in PROVIDERS.values()} <= set(DIALECTS)
