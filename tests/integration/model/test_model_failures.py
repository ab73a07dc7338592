"""The client against a real HTTP server: every way an answer goes wrong, and what the caller gets."""

import time

import httpx
import pytest

from shared.model.client import MAX_REPLY_BYTES, OpenAIChat
from shared.model.config import ModelConfig
from shared.model.discover import build
from shared.model.errors import BadHistory, Denied, ModelError, Refused, TooLong, Transient, Unclassified
from shared.secret import Secret
from tests.integration.model.harness import HELLO, KEY, Make, Screen, ask, both, request
from tests.support.model_server import Fault, Reply, Rule, Terms
from tests.support.model_server.terms import Model

PASSING: list[tuple[str, Fault]] = [
    ("500", Fault(status=500)),
    ("503", Fault(status=503)),
    ("429", Fault(status=429)),
    ("408", Fault(status=408)),
    ("cut at once", Fault(cut_after_chunks=0)),
    ("cut in the middle", Fault(cut_after_chunks=2)),
    ("error in 200", Fault(error_in_200=True)),
    ("error in a chunk", Fault(error_chunk=True)),
    ("null choices", Fault(null_choices=True)),
    ("garbage", Fault(garbage=True)),
    ("empty", Fault(empty=True)),
]
passing = pytest.mark.parametrize("fault", [fault for _, fault in PASSING], ids=[name for name, _ in PASSING])


@both
@passing
async def test_a_passing_failure_is_tried_once_more(make: Make, fault: Fault, stream: bool) -> None:
    server, model = await make(Rule(reply=HELLO, fault=fault, times=1), Rule(reply=HELLO))
    screen = Screen()
    reply = await ask(model, stream=stream, screen=screen)
    assert (reply.text, reply.attempts, len(server.received)) == (HELLO.text, 2, 2)
    assert server.received[0].body == server.received[1].body
    if stream:
        assert screen.text == HELLO.text


@both
@passing
async def test_a_failure_that_stays_is_transient_after_two_attempts(make: Make, fault: Fault, stream: bool) -> None:
    server, model = await make(Rule(reply=HELLO, fault=fault))
    with pytest.raises(Transient):
        await ask(model, stream=stream)
    assert len(server.received) == 2


async def test_a_stream_without_its_end_mark_is_no_answer(make: Make) -> None:
    server, model = await make(Rule(reply=HELLO, fault=Fault(no_done=True)))
    with pytest.raises(Transient, match="terminal marker"):
        await ask(model, stream=True)
    assert len(server.received) == 2


async def test_what_was_shown_is_voided_before_another_attempt(make: Make) -> None:
    _, model = await make(Rule(reply=HELLO, fault=Fault(cut_after_chunks=3), times=1), Rule(reply=HELLO))
    screen = Screen()
    await ask(model, stream=True, screen=screen)
    assert (screen.resets, screen.text) == (1, HELLO.text)


async def test_nothing_is_voided_when_nothing_was_shown(make: Make) -> None:
    _, model = await make(Rule(fault=Fault(status=500), times=1), Rule(reply=HELLO))
    screen = Screen()
    await ask(model, stream=True, screen=screen)
    assert screen.resets == 0


FINAL: list[tuple[int, str | None, type[ModelError]]] = [
    (400, '{"error":{"message":"Invalid request"}}', Unclassified),
    (400, '{"error":{"message":"messages.3.content.0: image exceeds 5 MB maximum"}}', BadHistory),
    (400, '{"error":{"code":"context_length_exceeded","message":"maximum context length is 8 tokens"}}', TooLong),
    (400, '{"error":{"code":"content_filter","message":"filtered"}}', Refused),
    (401, None, Denied),
    (402, None, Denied),
    (403, None, Denied),
    (404, '{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}', Denied),
    (413, "Payload Too Large", BadHistory),
    (500, '{"error":{"message":"image input is not supported","type":"server_error"}}', BadHistory),
]


@both
@pytest.mark.parametrize(("status", "body", "expected"), FINAL)
async def test_a_failure_that_repeating_cannot_help_is_not_repeated(
    make: Make, status: int, body: str | None, expected: type[ModelError], stream: bool
) -> None:
    server, model = await make(Rule(fault=Fault(status=status, body=body)))
    with pytest.raises(ModelError) as caught:
        await ask(model, stream=stream)
    assert type(caught.value) is expected
    assert (caught.value.model, caught.value.status, len(server.received)) == ("test", status, 1)


async def test_a_context_that_does_not_fit_is_too_long(make: Make) -> None:
    _, model = await make(terms=Terms(models=(Model(id="test-model", context_window=950),)))
    with pytest.raises(TooLong):
        await model.complete(request("palabra " * 2000), timeout_s=5)


async def test_retry_after_is_waited_for_when_the_time_allows(make: Make) -> None:
    _, model = await make(Rule(fault=Fault(status=429, retry_after_s=0.6), times=1), Rule(reply=HELLO))
    started = time.monotonic()
    reply = await ask(model, stream=False)
    assert time.monotonic() - started >= 0.6
    assert reply.attempts == 2


async def test_retry_after_beyond_the_time_left_is_not_waited_for(make: Make) -> None:
    server, model = await make(Rule(fault=Fault(status=429, retry_after_s=30)))
    started = time.monotonic()
    with pytest.raises(Transient) as caught:
        await ask(model, stream=False, timeout_s=5)
    assert time.monotonic() - started < 2
    assert (caught.value.retry_after_s, caught.value.status, len(server.received)) == (30, 429, 1)


HANGS = [Fault(hang=True), Fault(hang_after_chunks=1), Fault(delay_s=30), Fault(chunk_delay_s=30)]


@pytest.mark.parametrize("fault", HANGS, ids=["silent", "midway", "late", "slow"])
async def test_a_server_that_hangs_costs_no_more_than_the_time_given(make: Make, fault: Fault) -> None:
    _, model = await make(Rule(reply=HELLO, fault=fault))
    started = time.monotonic()
    with pytest.raises(Transient, match="in time"):
        await ask(model, stream=True, timeout_s=0.4)
    assert time.monotonic() - started < 2


async def test_the_models_own_time_limit_holds_too(make: Make) -> None:
    _, model = await make(Rule(fault=Fault(hang=True)), timeout_s=0.3)
    started = time.monotonic()
    with pytest.raises(Transient):
        await ask(model, stream=False, timeout_s=60)
    assert time.monotonic() - started < 2


@both
async def test_a_reply_over_the_size_limit_is_refused(make: Make, stream: bool) -> None:
    _, model = await make(Rule(reply=Reply(text="x" * (MAX_REPLY_BYTES + 1000)), name="huge"))
    with pytest.raises(Transient, match="bytes"):
        await ask(model, stream=stream, timeout_s=20)


async def test_a_request_over_the_size_limit_is_not_sent(make: Make) -> None:
    server, model = await make(max_request_bytes=2048)
    with pytest.raises(TooLong):
        await model.complete(request("x" * 3000), timeout_s=5)
    assert server.received == []


async def test_nobody_listening_is_transient() -> None:
    config = ModelConfig(
        name="t", provider="vllm", dialect="vllm", model_id="m", base_url="http://127.0.0.1:1/v1", api_key=Secret(KEY)
    )
    model = build(config)
    with pytest.raises(Transient, match="ConnectError"):
        await ask(model, stream=False, timeout_s=3)
    await model.aclose()


@pytest.mark.parametrize("shown", [KEY, f"Bearer {KEY}", KEY[:20] + "…", "x" * 290 + KEY])
async def test_a_key_that_the_server_repeats_is_in_no_error(make: Make, shown: str) -> None:
    _, model = await make(Rule(fault=Fault(status=400, body=f"bad key {shown} in request")))
    with pytest.raises(ModelError) as caught:
        await ask(model, stream=False)
    error = caught.value
    assert "planted" not in f"{error!r} {error} {error.gist} {model!r} {model.config!r}"
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert len(error.gist) <= 300


async def test_a_key_of_any_form_is_in_no_error() -> None:
    key = "any:form/of+planted=42"

    async def repeat(asked: httpx.Request) -> httpx.Response:
        return httpx.Response(400, text="x" * 290 + asked.headers["authorization"])

    config = ModelConfig(
        name="t", provider="vllm", dialect="vllm", model_id="m", base_url="http://h/v1", api_key=Secret(key)
    )
    model = OpenAIChat(config, httpx.AsyncClient(transport=httpx.MockTransport(repeat)))
    with pytest.raises(Unclassified) as caught:
        await ask(model, stream=False)
    assert "any" not in caught.value.gist
    await model.aclose()


async def test_the_key_is_sent_and_a_wrong_one_is_denied(make: Make) -> None:
    _, model = await make(api_key=Secret("sk-wrong-000000000000"))
    with pytest.raises(Denied):
        await ask(model, stream=False)
