"""The client against a real HTTP server: replies, calls, connections."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from shared.model.client import OpenAIChat
from shared.model.config import ModelConfig
from shared.model.discover import build
from shared.model.types import AssistantTurn, Call, ToolTurn
from tests.integration.model.harness import HELLO, Make, Screen, ask, both, request
from tests.support.model_server import ModelServer, Reply, Rule, Script, Terms, When
from tests.support.model_server.script import Call as SaidCall


@both
async def test_a_reply_comes_with_its_usage_and_cost(make: Make, stream: bool) -> None:
    server, model = await make()
    screen = Screen()
    reply = await ask(model, stream=stream, screen=screen)
    assert (reply.text, reply.finish, reply.model, reply.tried) == (HELLO.text, "stop", "test", ("test",))
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.attempts) == (1000, 500, 1)
    assert reply.cost_usd == pytest.approx(0.004)
    assert screen.text == (HELLO.text if stream else "")
    assert server.received[0].violations == ()


@both
async def test_calls_and_their_results_make_a_round_trip(make: Make, stream: bool) -> None:
    said = Reply(calls=(SaidCall(name="note_save", arguments={"text": "pan y ñu"}), SaidCall(name="note_save")))
    server, model = await make(Rule(when=When(tool_results_since_user=0), reply=said), Rule(reply=HELLO))
    first = await ask(model, stream=stream)
    assert first.finish == "calls"
    assert [msgspec.json.decode(call.arguments) for call in first.calls] == [{"text": "pan y ñu"}, {}]
    calls = [
        Call(call_id=f"9-0193ab.0.{at}", name=call.name, arguments=call.arguments)
        for at, call in enumerate(first.calls)
    ]
    results = [ToolTurn(call_id=call.call_id, name=call.name, content="{}") for call in calls]
    asked = request()
    asked = msgspec.structs.replace(asked, current=(*asked.current, AssistantTurn(calls=calls), *results))
    assert (await model.complete(asked, timeout_s=5)).text == HELLO.text
    assert [received.violations for received in server.received] == [(), ()]


@pytest.mark.parametrize("dialect", ["mistral", "groq", "llamacpp"])
async def test_each_dialect_passes_its_servers_checks(make: Make, dialect: Any) -> None:
    server, model = await make(terms=Terms(dialect=dialect), dialect=dialect)
    await ask(model, stream=True)
    await ask(model, stream=False)
    assert [received.violations for received in server.received] == [(), ()]


async def test_a_connection_serves_many_requests_streamed_or_not() -> None:
    connections = 0

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(_pipe(reader, up_writer), _pipe(up_reader, writer))

    async with ModelServer(Script(rules=(Rule(reply=HELLO),))) as server:
        proxy = await asyncio.start_server(count, "127.0.0.1", 0)
        port = proxy.sockets[0].getsockname()[1]
        model = build(
            ModelConfig(
                name="t", provider="openai", dialect="openai", model_id="test-model",
                base_url=f"http://127.0.0.1:{port}/v1",
            )
        )  # fmt: skip
        for stream in (True, False, True, True, False):
            await ask(model, stream=stream)
        await model.aclose()
        proxy.close()
    assert connections == 1


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def test_an_error_of_the_watcher_is_not_taken_for_the_models(make: Make) -> None:
    _, model = await make()

    async def broken(_: str) -> None:
        raise TimeoutError("the bus")

    with pytest.raises(TimeoutError, match="the bus"):
        await model.complete(request(), timeout_s=5, on_delta=broken)


async def test_a_model_without_tools_is_offered_none(make: Make) -> None:
    server, model = await make(tools=False)
    await ask(model, stream=False)
    assert "tools" not in server.received[0].body


async def test_a_server_that_ignores_streaming_is_understood() -> None:
    async def plain(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"choices": [{"message": {"content": "hola"}, "finish_reason": "stop"}]})

    config = ModelConfig(name="t", provider="vllm", dialect="vllm", model_id="m", base_url="http://h/v1")
    model = OpenAIChat(config, httpx.AsyncClient(transport=httpx.MockTransport(plain)))
    screen = Screen()
    reply = await ask(model, stream=True, screen=screen)
    assert reply.text == screen.text == "hola"
    await model.aclose()
