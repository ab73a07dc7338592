"""The server over real HTTP, seen by a plain client: answers, streams, control, and the process form."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.support.model_server import ModelServer
from tests.unit.model_server.served_script import CALLS, PATH, SCRIPT, asking, assembled, events, post

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_without_a_rule_the_answer_is_an_echo(client: httpx.AsyncClient) -> None:
    answer = (await post(client, "¿Qué hora es?")).json()
    assert answer["choices"][0]["message"]["content"] == "¿Qué hora es?"
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


async def test_after_a_tool_result_the_echo_is_that_result(client: httpx.AsyncClient) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "hora"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "19:05"},
    ]
    answer = (await client.post(PATH, json={"model": "test-model", "messages": messages})).json()
    assert answer["choices"][0]["message"]["content"] == "19:05"


async def test_a_stream_assembles_to_the_answer_without_one(client: httpx.AsyncClient) -> None:
    message = (await post(client, "calls")).json()["choices"][0]["message"]
    *data, done = await events(client, "calls")
    chunks = [json.loads(event) for event in data]
    text, calls, finishes = assembled(chunks)
    assert done == "[DONE]"
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert (text, finishes) == (message["content"], ["tool_calls"])
    wanted = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    assert [(call["name"], call["arguments"]) for call in calls] == wanted
    assert json.loads(calls[0]["arguments"]) == CALLS[0].arguments
    assert len(chunks) > len(calls) + 4  # arguments come in pieces
    assert all("usage" not in chunk for chunk in chunks)


async def test_a_stream_reports_usage_only_when_asked(client: httpx.AsyncClient) -> None:
    *data, _done = await events(client, "hola", stream_options={"include_usage": True})
    chunks = [json.loads(event) for event in data]
    assert {chunk["usage"] for chunk in chunks[:-1]} == {None}
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == 1


@pytest.mark.parametrize(("text", "said", "finish"), [("refuse", "No puedo.", "stop"), ("long", "sin fin", "length")])
async def test_refusals_and_cut_answers_stream_too(
    client: httpx.AsyncClient, text: str, said: str, finish: str
) -> None:
    *data, _done = await events(client, text)
    assert assembled([json.loads(event) for event in data]) == (said, [], [finish])


async def test_a_request_that_breaks_a_rule_is_refused_and_remembered(
    client: httpx.AsyncClient, served: ModelServer
) -> None:
    response = await post(client, "hola", max_tokens=0, tool_choice="auto")
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "max_tokens"
    assert (await client.post(PATH, content=b"{")).status_code == 400
    assert [received.violations for received in served.received] == [
        ("max-tokens", "choice-without-tools"),
        ("malformed-json",),
    ]


async def test_a_key_is_demanded_when_the_script_names_one(client: httpx.AsyncClient, served: ModelServer) -> None:
    served.use(msgspec.structs.replace(SCRIPT, key="sk-right"))
    codes = []
    for headers in ({}, {"authorization": "Bearer sk-wrong"}, {"authorization": "Bearer sk-right"}):
        response = await client.post(PATH, json=asking("hola"), headers=headers)
        codes.append((response.status_code, response.json().get("error", {}).get("code")))
    assert codes == [(401, None), (401, "invalid_api_key"), (200, None)]
    assert (await client.get("/v1/models")).status_code == 401
    assert "sk-right" not in (await client.get("/_requests")).text


async def test_models_are_listed_and_other_paths_refused_in_the_providers_shape(client: httpx.AsyncClient) -> None:
    assert [model["id"] for model in (await client.get("/v1/models")).json()["data"]] == ["test-model"]
    for response, status in ((await client.get("/v1/nothing"), 404), (await client.get(PATH), 405)):
        assert response.status_code == status
        assert response.json()["error"]["type"] == "invalid_request_error"


async def test_a_transient_fault_passes_and_comes_back_after_a_reset(client: httpx.AsyncClient) -> None:
    assert [(await post(client, "busy")).status_code for _ in range(3)] == [503, 503, 200]
    await client.post("/_reset")
    assert (await post(client, "busy")).status_code == 503


async def test_the_script_can_be_changed_and_the_requests_read_over_http(client: httpx.AsyncClient) -> None:
    rules = [{"name": "new", "when": {"last_user": "hola"}, "reply": {"text": "otra cosa"}}]
    assert (await client.post("/_script", json={"rules": rules})).status_code == 204
    assert (await post(client, "hola")).json()["choices"][0]["message"]["content"] == "otra cosa"
    [received] = (await client.get("/_requests")).json()
    assert (received["rule"], received["status"], received["body"]) == ("new", 200, asking("hola"))
    refused = await client.post("/_script", json={"rulez": []})
    assert (refused.status_code, "rulez" in refused.text) == (400, True)


async def test_leaving_the_block_lets_hanging_requests_go_at_once() -> None:
    started = time.monotonic()
    async with ModelServer(SCRIPT) as server, httpx.AsyncClient(trust_env=False) as client:
        hanging = asyncio.ensure_future(client.post(server.root_url + PATH, json=asking("[hang]")))
        await server.until_received(1)
    with pytest.raises(httpx.TransportError):
        await hanging
    assert time.monotonic() - started < 1.0


async def test_a_provider_can_come_back_on_the_same_port() -> None:
    async with ModelServer() as first:
        port = first.port
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("/v1/models")
        async with ModelServer(port=port):
            assert (await client.get("/v1/models")).status_code == 200


async def test_the_process_says_when_it_is_ready_and_ends_on_sigterm(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[rules]]\nwhen = { last_user = "hola" }\nreply = { text = "buenas" }\n')
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.model_server", "--port", "0", "--script", str(script)),
        cwd=Path(__file__).parents[3],
        env=os.environ,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        ready, url = (await asyncio.wait_for(process.stdout.readline(), 10)).decode().split()
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(f"{url}/chat/completions", json=asking("hola"))
        assert (ready, answer.json()["choices"][0]["message"]["content"]) == ("ready", "buenas")
    finally:
        process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), 10)
    assert code == 0
