"""Requests in pieces, and for every rule one that breaks it and a close one that does not."""

import base64
import struct
import zlib
from typing import Any, NamedTuple

from tests.support.model_server import Limits, Model
from tests.support.model_server.terms import JsonObject

ID = "abcdefgh1"
OTHER_ID = "abcdefgh2"
USER: JsonObject = {"role": "user", "content": "hola"}
ASSISTANT: JsonObject = {"role": "assistant", "content": "buenas"}
SCHEMA: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}}


def tool(name: str = "note_save", parameters: Any = SCHEMA) -> JsonObject:
    return {"type": "function", "function": {"name": name, "description": "x", "parameters": parameters}}


def call(call_id: str = ID, name: str = "note_save", arguments: Any = "{}") -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: JsonObject, **fields: Any) -> JsonObject:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)} | fields


def result(call_id: str = ID, content: Any = "saved") -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def body(*messages: Any, **fields: Any) -> JsonObject:
    return {"model": "test-model", "messages": list(messages), "tools": [tool()]} | fields


def without_tools(*messages: Any, **fields: Any) -> JsonObject:
    return {"model": "test-model", "messages": list(messages)} | fields


def png(width: int = 1, height: int = 1) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress((b"\0" + b"\0" * width) * height)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def image(data: bytes | str, media_type: str = "image/png") -> JsonObject:
    encoded = data if isinstance(data, str) else base64.b64encode(data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}


def seen(*parts: JsonObject) -> JsonObject:
    return body({"role": "user", "content": list(parts)})


TEXT: JsonObject = {"type": "text", "text": "mira"}
PNG = image(png())
EXCHANGE = (USER, calling(call()), result())


class Case(NamedTuple):
    bad: Any
    good: JsonObject
    terms: JsonObject = {}
    also: frozenset[str] = frozenset()


CASES = {
    "surrogate": Case(body({"role": "user", "content": "a\ud83d"}), body({"role": "user", "content": "a😀"})),
    "nul": Case(body(USER, tools=[tool("a\0")]), body(USER)),
    "invalid-type": Case(body(USER, stream="yes"), body(USER, stream=True)),
    "missing-parameter": Case(body(USER, {"role": "tool", "content": "x"}), body(*EXCHANGE)),
    "unknown-role": Case(body({"role": "robot", "content": "x"}), body(USER)),
    "unknown-part": Case(seen({"type": "video", "video": "x"}), seen(TEXT)),
    "unknown-tool-type": Case(body(USER, tools=[{"type": "retrieval"}]), body(USER)),
    "unknown-parameter": Case(body(USER, temperatur=1), body(USER, temperature=1)),
    "missing-model": Case(body(USER, model=""), body(USER)),
    "unknown-model": Case(body(USER, model="other"), body(USER)),
    "empty-messages": Case(body(), body(USER)),
    "max-tokens": Case(body(USER, max_tokens=0), body(USER, max_tokens=1)),
    "temperature": Case(body(USER, temperature=2.1), body(USER, temperature=2)),
    "stream-options": Case(
        body(USER, stream_options={"include_usage": True}),
        body(USER, stream_options={"include_usage": True}, stream=True),
    ),
    "null-content": Case(body({"role": "user", "content": None}), body(USER)),
    "empty-content": Case(seen(), seen(TEXT)),
    "empty-text": Case(body(USER, calling(call()), result(content="")), body(*EXCHANGE)),
    "blank-text": Case(seen({"type": "text", "text": " \n"}), seen(TEXT)),
    "empty-assistant": Case(
        body(USER, {"role": "assistant", "content": ""}, USER),
        body(USER, ASSISTANT, USER),
        also=frozenset({"role-order"}),
    ),
    "several-systems": Case(
        body({"role": "system", "content": "a"}, {"role": "system", "content": "b"}, USER),
        body({"role": "system", "content": "a"}, USER),
    ),
    "part-role": Case(body(USER, calling(call()), result(content=[PNG])), body(USER, calling(call()), result())),
    "empty-calls": Case(body(USER, calling(content="x"), USER), body(USER, ASSISTANT, USER)),
    "orphan-call": Case(
        body(USER, calling(call()), USER),
        body(*EXCHANGE),
    ),
    "orphan-result": Case(body(USER, ASSISTANT, USER, result()), body(*EXCHANGE)),
    "duplicate-result": Case(body(*EXCHANGE, result()), body(*EXCHANGE)),
    "duplicate-id": Case(
        body(*EXCHANGE, calling(call()), result()),
        body(*EXCHANGE, calling(call(OTHER_ID)), result(OTHER_ID)),
    ),
    "id-length": Case(
        body(USER, calling(call("i" * 41)), result("i" * 41)), body(USER, calling(call("i" * 40)), result("i" * 40))
    ),
    "id-format": Case(body(USER, calling(call("call_1234")), result("call_1234")), body(*EXCHANGE)),
    "call-name": Case(
        body(USER, calling(call(name="note.save")), result()), body(*EXCHANGE), also=frozenset({"not-offered"})
    ),
    "bad-arguments": Case(body(USER, calling(call(arguments='{"a":')), result()), body(*EXCHANGE)),
    "arguments-not-object": Case(body(USER, calling(call(arguments="[]")), result()), body(*EXCHANGE)),
    "not-offered": Case(
        body(USER, calling(call(name="mail_send")), result()),
        body(USER, calling(call(name="mail_send")), result(), tools=[tool("mail_send")]),
    ),
    "user-after-tool": Case(body(*EXCHANGE, USER), body(*EXCHANGE, ASSISTANT, USER)),
    "ends-with-assistant": Case(body(USER, ASSISTANT), body(USER, ASSISTANT, USER)),
    "role-order": Case(body(USER, USER), body(*EXCHANGE, ASSISTANT, USER)),
    "empty-tools": Case(body(USER, tools=[]), without_tools(USER)),
    "too-many-tools": Case(
        body(USER, tools=[tool(f"t{at}") for at in range(129)]), body(USER, tools=[tool(f"t{at}") for at in range(128)])
    ),
    "tool-name": Case(body(USER, tools=[tool("n" * 65)]), body(USER, tools=[tool("n" * 64)])),
    "duplicate-tool": Case(body(USER, tools=[tool(), tool()]), body(USER, tools=[tool(), tool("note_read")])),
    "bad-schema": Case(body(USER, tools=[tool(parameters={"type": "array", "items": {}})]), body(USER)),
    "choice-without-tools": Case(without_tools(USER, tool_choice="auto"), body(USER, tool_choice="auto")),
    "unknown-choice": Case(
        body(USER, tool_choice={"type": "function", "function": {"name": "mail_send"}}),
        body(USER, tool_choice={"type": "function", "function": {"name": "note_save"}}),
    ),
    "no-vision": Case(seen(PNG), seen(TEXT), {"models": (Model(id="test-model", vision=False),)}),
    "remote-image": Case(
        seen({"type": "image_url", "image_url": {"url": "https://example.org/a.png?signature=1"}}), seen(PNG)
    ),
    "bad-data-uri": Case(seen({"type": "image_url", "image_url": {"url": "blob:abc"}}), seen(PNG)),
    "type-unsupported": Case(seen(image(b"<svg/>", "image/svg+xml")), seen(PNG)),
    "bad-base64": Case(seen(image("data:image/png;base64,AAAA")), seen(PNG)),
    "undecodable": Case(seen(image(png()[:-8])), seen(PNG)),
    "type-mismatch": Case(seen(image(png(), "image/jpeg")), seen(PNG)),
    "side-limit": Case(seen(image(png(8001))), seen(image(png(8000)))),
    "bytes-limit": Case(seen(PNG), seen(TEXT), {"limits": Limits(image_base64_bytes=50)}),
    "image-count": Case(seen(PNG, PNG), seen(PNG), {"limits": Limits(images=1)}),
    "context-overflow": Case(
        body({"role": "user", "content": "palabra " * 200}),
        body(USER),
        {"models": (Model(id="test-model", context_window=100),)},
    ),
}
