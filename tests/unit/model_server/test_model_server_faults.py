"""Each fault of a script, as a plain client meets it on the wire."""

import json
import time

import httpx
import pytest

from tests.unit.model_server.served_script import PATH, asking, assembled, events, post

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_fault_status_comes_with_the_providers_shape_or_the_given_body(client: httpx.AsyncClient) -> None:
    limited = await post(client, "[status]")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "2")
    assert limited.json()["error"]["code"] == "rate_limit_exceeded"
    custom = await post(client, "[custom]", stream=True)
    assert (custom.status_code, custom.text) == (400, "<html>Bad Request</html>")
    assert custom.headers["content-type"].startswith("text/html")


async def test_fault_cut_closes_the_connection_in_mid_answer(client: httpx.AsyncClient) -> None:
    seen = []
    with pytest.raises(httpx.RemoteProtocolError):  # noqa: PT012 - the chunks before the cut count
        async with client.stream("POST", PATH, json=asking("[cut]", stream=True)) as response:
            async for line in response.aiter_lines():
                seen.append(line)  # noqa: PERF401 - a comprehension would lose what came before the cut
    assert len([line for line in seen if line]) == 2
    with pytest.raises(httpx.RemoteProtocolError):
        await post(client, "[cut]")


async def test_fault_no_done_ends_cleanly_without_the_marker(client: httpx.AsyncClient) -> None:
    last = json.loads((await events(client, "[no-done]"))[-1])
    assert last["choices"][0]["finish_reason"] == "stop"


async def test_fault_error_chunk_is_an_error_inside_a_stream_and_a_500_without_one(client: httpx.AsyncClient) -> None:
    first, last = await events(client, "[error-chunk]")
    assert "choices" in json.loads(first)
    assert json.loads(last)["error"]["type"] == "server_error"
    assert (await post(client, "[error-chunk]")).status_code == 500


@pytest.mark.parametrize("stream", [False, True])
async def test_fault_error_in_200_hides_an_error_in_a_success(client: httpx.AsyncClient, stream: bool) -> None:
    response = await post(client, "[error-in-200]", stream=stream)
    assert (response.status_code, list(response.json())) == (200, ["error"])


async def test_fault_null_choices_has_no_choices(client: httpx.AsyncClient) -> None:
    assert (await post(client, "[null-choices]")).json()["choices"] is None
    first, done = await events(client, "[null-choices]")
    assert (json.loads(first)["choices"], done) == (None, "[DONE]")


async def test_fault_garbage_is_no_json(client: httpx.AsyncClient) -> None:
    for text in ((await post(client, "[garbage]")).text, (await events(client, "[garbage]"))[1]):
        with pytest.raises(ValueError, match="Expecting value"):
            json.loads(text)


async def test_fault_empty_stops_having_said_nothing(client: httpx.AsyncClient) -> None:
    *data, done = await events(client, "[empty]")
    assert (assembled([json.loads(event) for event in data]), done) == (("", [], ["stop"]), "[DONE]")
    assert (await post(client, "[empty]")).json()["choices"][0]["message"]["content"] is None


async def test_fault_hang_never_answers_and_stall_stops_answering(client: httpx.AsyncClient) -> None:
    client.timeout = httpx.Timeout(0.15)
    for text, status in (("[hang]", None), ("[stall]", 200)):
        seen = None
        with pytest.raises(httpx.ReadTimeout):  # noqa: PT012 - how far it came counts
            async with client.stream("POST", PATH, json=asking(text, stream=True)) as response:
                seen = response.status_code
                await response.aread()
        assert seen == status


async def test_fault_delays_come_before_the_answer_or_between_its_chunks(client: httpx.AsyncClient) -> None:
    for text, least_s in (("[late]", 0.15), ("[slow]", 0.2)):
        started = time.monotonic()
        assert (await events(client, text))[-1] == "[DONE]"
        assert time.monotonic() - started >= least_s
