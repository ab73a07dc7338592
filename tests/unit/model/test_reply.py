"""Replies, whole and streamed: what counts as a success, and what does not."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.messages.conversation import Usage
from shared.model.dialects import DIALECTS
from shared.model.errors import BadHistory, ModelError, Refused, Transient, Unclassified
from shared.model.reasoning import ThinkFilter, without_thinking
from shared.model.reply import decode_reply
from shared.model.stream import MAX_CALLS, EventParser, ReplyAssembler
from shared.model.types import ChatReply, ReplyCall

OPENAI = DIALECTS["openai"]
LENIENT = DIALECTS["vllm"]


def whole(content: Any = "hola", finish: str | None = "stop", *, max_tokens: int = 100, **message: Any) -> ChatReply:
    body = {
        "choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    return decode_reply(json.dumps(body).encode(), dialect="openai", max_tokens=max_tokens)


def function(arguments: Any = '{"a":1}', name: str = "t", call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def arguments(reply: ChatReply) -> list[Any]:
    return [msgspec.json.decode(call.arguments) for call in reply.calls]


def test_text_with_a_finish_reason_is_a_reply() -> None:
    assert whole() == ChatReply(model="", finish="stop", text="hola", usage=Usage(tokens_in=7, tokens_out=3))


def test_calls_are_a_reply_whatever_the_finish_says() -> None:
    for finish in ("tool_calls", "stop", "STOP"):
        reply = whole(None, finish, tool_calls=[function()])
        assert (reply.finish, reply.text, arguments(reply)) == ("calls", "", [{"a": 1}])


@pytest.mark.parametrize(
    ("written", "kept", "malformed"),
    [
        ('{"a":', {}, '{"a":'),
        ("[1]", {}, "[1]"),
        ("null", {}, "null"),
        ('"text"', {}, '"text"'),
        ("", {}, ""),
        ("  ", {}, ""),
        ({"a": 2}, {"a": 2}, ""),
        (None, {}, ""),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_malformed(written: Any, kept: Any, malformed: str) -> None:
    reply = whole(None, "tool_calls", tool_calls=[function(written)])
    assert arguments(reply) == [kept]
    assert reply.calls[0].malformed == malformed


def test_a_call_sent_twice_under_one_id_counts_once() -> None:
    assert len(whole(None, "tool_calls", tool_calls=[function(), function(), function(call_id="c2")]).calls) == 2


def test_calls_cut_by_the_length_limit_are_dropped() -> None:
    reply = whole("voy", "length", tool_calls=[function('{"a":')])
    assert (reply.finish, reply.text, reply.calls) == ("length", "voy", ())


def test_a_cut_call_reported_as_finished_is_a_length_state() -> None:
    reply = whole(None, "tool_calls", tool_calls=[function('{"a":')], max_tokens=3)
    assert (reply.finish, reply.calls) == ("length", ())


def test_explicit_states_are_replies_without_text() -> None:
    assert whole("", "length").finish == "length"
    assert whole(None, "content_filter").finish == "refused"
    refused = whole(None, "stop", refusal="No puedo ayudar con eso.")
    assert (refused.finish, refused.text) == ("refused", "No puedo ayudar con eso.")


def test_thinking_is_no_part_of_the_answer() -> None:
    assert whole("<think>mmm</think>\n\nhola").text == "hola"
    assert whole("mmm</think>hola").text == "hola"
    assert whole("hola", reasoning_content="mmm").text == "hola"
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "mmm"}]}, {"type": "text", "text": "hola"}]
    assert whole(parts).text == "hola"


def test_half_an_emoji_does_not_lose_the_reply() -> None:
    body = b'{"choices":[{"message":{"content":"sol \\ud83d y \\ud83d\\ude00"},"finish_reason":"stop"}]}'
    assert decode_reply(body, dialect="openai", max_tokens=9).text == "sol \ufffd y 😀"


FAILURES: list[tuple[type[ModelError], bytes]] = [
    (Transient, b""),
    (Transient, b"<html>"),
    (Transient, b"[]"),
    (Transient, b"{}"),
    (Transient, b'{"choices":null}'),
    (Transient, b'{"choices":[]}'),
    (Transient, b'{"choices":[{"finish_reason":"stop"}]}'),
    (Transient, b'{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}'),
    (Transient, b'{"choices":[{"message":{"content":" \\n"},"finish_reason":"stop"}]}'),
    (Transient, b'{"choices":[{"message":{"content":"<think>mmm"},"finish_reason":"stop"}]}'),
    (Transient, b'{"choices":[{"message":{"content":"hola"},"finish_reason":null}]}'),
    (Transient, b'{"choices":[{"message":{"content":"hola"},"finish_reason":"error"}]}'),
    (Transient, b'{"choices":[{"message":{"content":"hola"},"finish_reason":"insufficient_system_resource"}]}'),
    (Transient, b'{"choices":[{"message":{"tool_calls":[{"id":"a"}]},"finish_reason":"tool_calls"}]}'),
    (Transient, b'{"choices":"many"}'),
    (Transient, b'{"choices":null,"error":{"message":"overloaded"}}'),
    (Unclassified, b'{"error":"boom","choices":[{"message":{"content":"hola"},"finish_reason":"stop"}]}'),
    (BadHistory, b'{"choices":[{"error":{"message":"messages.3: image too big"},"message":{"content":"h"}}]}'),
    (Refused, b'{"error":{"code":"content_filter","message":"x"}}'),
    (Transient, b'{"object":"error","message":"service unavailable","code":503}'),
]


@pytest.mark.parametrize(("expected", "body"), FAILURES)
def test_without_positive_proof_a_200_is_an_error(expected: type[ModelError], body: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        decode_reply(body, dialect="openai", max_tokens=100)
    assert type(caught.value) is expected


def sse(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content, **delta}, "finish_reason": finish}]}


def piece(arguments: str, index: int | None = 0, name: str | None = None, call_id: str | None = None) -> dict[str, Any]:
    call: dict[str, Any] = {"function": {"arguments": arguments}}
    call |= {"index": index} if index is not None else {}
    call["function"] |= {"name": name} if name else {}
    return chunk(tool_calls=[call | ({"id": call_id} if call_id else {})])


def assemble(data: bytes, *, strict: bool = True, step: int = 7) -> tuple[ChatReply, str]:
    parser, assembler = EventParser(), ReplyAssembler(OPENAI if strict else LENIENT, max_tokens=100)
    shown = ""
    for start in range(0, len(data), step):
        shown += "".join(assembler.feed(event) for event in parser.feed(data[start : start + step]))
    shown += "".join(assembler.feed(event) for event in parser.close())
    return assembler.finish(), shown


USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
TEXT = (chunk(""), chunk("ho"), chunk("la ñ"), chunk(None, "stop"), USAGE)


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_stream_is_one_reply_however_it_is_cut_into_packets(step: int) -> None:
    reply, shown = assemble(sse(*TEXT), step=step)
    assert reply == ChatReply(model="", finish="stop", text="hola ñ", usage=Usage(tokens_in=7, tokens_out=3))
    assert shown == "hola ñ"


def test_comments_other_line_ends_and_a_missing_last_blank_line_are_fine() -> None:
    data = b": OPENROUTER PROCESSING\r\n\r\n" + sse(*TEXT).replace(b"\n", b"\r\n").removesuffix(b"\r\n\r\n")
    assert assemble(data)[0].text == "hola ñ"


def test_a_stream_without_done_is_cut_unless_the_dialect_trusts_the_finish_reason() -> None:
    with pytest.raises(Transient, match="terminal marker"):
        assemble(sse(*TEXT, done=False))
    assert assemble(sse(*TEXT, done=False), strict=False)[0].text == "hola ñ"
    with pytest.raises(Transient, match="terminal marker"):
        assemble(sse(chunk("hola"), done=False), strict=False)


def test_done_alone_is_a_terminal_marker() -> None:
    assert assemble(sse(chunk("hola")))[0].finish == "stop"


CALLS: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]]]] = [
    ("in pieces", [piece("", name="t", call_id="a"), piece('{"a"'), piece(":1}")], [("t", {"a": 1})]),
    (
        "two interleaved",
        [piece("", 0, "t", "a"), piece("", 1, "u", "b"), piece('{"a":1}', 0), piece('{"b":2}', 1)],
        [("t", {"a": 1}), ("u", {"b": 2})],
    ),
    (
        "cumulative",
        [piece('{"a"', 0, "t", "a"), piece('{"a":1', 0, "t", "a"), piece('{"a":1}', 0, "t", "a")],
        [("t", {"a": 1})],
    ),
    ("sent twice", [piece('{"a":1}', 0, "t", "a"), piece('{"a":1}', 0, "t", "a")], [("t", {"a": 1})]),
    ("nested, not cumulative", [piece('{"a":', 0, "t", "a"), piece('{"a":1}'), piece("}")], [("t", {"a": {"a": 1}})]),
    (
        "all at index 0 with their own ids",
        [piece('{"a":1}', 0, "t", "a"), piece('{"b":2}', 0, "t", "b")],
        [("t", {"a": 1}), ("t", {"b": 2})],
    ),
    ("without index", [piece('{"a"', None, "t", "a"), piece(":1}", None)], [("t", {"a": 1})]),
    ("without arguments", [piece("", 0, "t", "a")], [("t", {})]),
]


@pytest.mark.parametrize(("chunks", "expected"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_calls_are_assembled(chunks: list[dict[str, Any]], expected: list[tuple[str, Any]]) -> None:
    reply, _ = assemble(sse(*chunks, chunk(None, "tool_calls")))
    assert [(call.name, msgspec.json.decode(call.arguments)) for call in reply.calls] == expected


def test_calls_of_a_stream_cut_by_length_are_dropped() -> None:
    reply, _ = assemble(sse(piece('{"a"', 0, "t", "a"), chunk(None, "length")))
    assert (reply.finish, reply.calls) == ("length", ())


def test_a_malformed_call_of_a_stream_is_kept_as_such() -> None:
    reply, _ = assemble(sse(piece('{"a"', 0, "t", "a"), chunk(None, "tool_calls")))
    assert reply.calls == (ReplyCall(name="t", malformed='{"a"'),)


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        (Transient, b""),
        (Transient, b"not an event stream"),
        (Transient, sse()),
        (Transient, sse(chunk(None, "stop"))),
        (Transient, b"data: {oops\n\n" + sse(*TEXT)),
        (Transient, sse(chunk("ho"), {"error": {"message": "server_error", "type": "server_error"}}, done=False)),
        (Transient, sse(chunk("ho"), {"error": {"message": "overloaded"}}, chunk("la", "stop"))),
        (BadHistory, sse({"error": {"code": 400, "message": "tool_call_id missing"}})),
        (Transient, b'event: error\ndata: {"message": "overloaded"}\n\n' + sse()),
        (Transient, sse({"choices": [{"delta": {}, "error": {"code": 502, "message": "x"}}]})),
        (Transient, sse({"object": "error", "message": "unavailable"})),
        (Transient, sse(*[piece("", n, "t", f"c{n}") for n in range(MAX_CALLS + 1)])),
    ],
)
def test_a_stream_without_proof_is_an_error(expected: type[ModelError], data: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        assemble(data)
    assert type(caught.value) is expected


@pytest.mark.parametrize(
    ("pieces", "visible"),
    [
        (["hola"], "hola"),
        (["<th", "ink>mm", "m</thi", "nk>\n\nho", "la"], "hola"),
        (["\n<think>", "</think>", "hola"], "hola"),
        (["<thin", "g is"], "<thing is"),
        (["a <think> b"], "a <think> b"),
        (["<think>never ends"], ""),
        (["<", "3"], "<3"),
        ([""], ""),
    ],
)
def test_thinking_is_filtered_piece_by_piece(pieces: list[str], visible: str) -> None:
    think = ThinkFilter()
    assert "".join(think.feed(piece) for piece in pieces) + think.close() == visible
    assert without_thinking("".join(pieces)) == visible


PIECES = st.sampled_from(
    [
        '{"choices":[{"delta":{"content":"', "x", "\\ud83d", '"}}]}', "data: ", "\n", "\r\n", "\n\n", "[DONE]",
        ": c",
        '{"error":', "null", "[]", "{}", '{"choices":null}', '"tool_calls":[{"function":{"arguments":',
        "event: error\n",
        "[" * 3000, '{"error":' + "[" * 3000 + "]" * 3000 + "}", "\xff", '{"choices":[{"message":{"content":1}}]}',
        '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"t","arguments":"\\ud800"}}]}}]}',
        '{"object":"error"}',
        '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"t","arguments":[1]}}]},"finish_reason":"stop"}]}',
    ]
)  # fmt: skip
BODIES = st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=12).map(lambda p: "".join(p).encode("latin-1")))


@given(BODIES)
@settings(max_examples=300)
def test_any_bytes_are_a_reply_or_a_model_error(data: bytes) -> None:
    with contextlib.suppress(ModelError):
        assemble(data)
    with contextlib.suppress(ModelError):
        decode_reply(data, dialect="openai", max_tokens=9)
