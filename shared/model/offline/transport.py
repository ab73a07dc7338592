"""Speaks OpenAI's chat completions in process, so that the offline model goes through codec, client and checks."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import httpx
import msgspec

from shared.model.offline.chat import WireRequest, read_chat
from shared.model.offline.machine import Decision, decide
from shared.text import estimate_tokens

_pieces = re.compile(r"\S+\s*|\s+")
_encode = msgspec.json.Encoder().encode
_MODEL = "offline"


class OfflineTransport(httpx.AsyncBaseTransport):
    """Answers `POST …/chat/completions` and `GET …/models`; everything else is 404."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request, streamed if it asks for that; 400 when it is no chat completion."""
        path = request.url.path
        if request.method == "GET" and path.endswith("/models"):
            return _json(200, {"object": "list", "data": [{"id": _MODEL, "object": "model"}]})
        if request.method != "POST" or not path.endswith("/chat/completions"):
            return _error(404, f"no such resource: {request.method} {path}")
        body = await request.aread()
        try:
            wire = msgspec.json.decode(body, type=WireRequest)
        except msgspec.DecodeError as exc:
            return _error(400, f"could not parse the request: {exc}")
        decision = decide(read_chat(wire))
        usage = _usage(body, decision)
        if not wire.stream:
            return _json(200, _completion(decision, usage))
        with_usage = wire.stream_options is not None and wire.stream_options.include_usage
        events = _Events(_chunks(decision, usage if with_usage else None))
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=events)


class _Events(httpx.AsyncByteStream):
    """Chunks as server-sent events, with the closing mark."""

    def __init__(self, chunks: Iterable[dict[str, Any]]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield b"data: " + _encode(chunk) + b"\n\n"
        yield b"data: [DONE]\n\n"


def _json(status: int, tree: dict[str, Any]) -> httpx.Response:
    return httpx.Response(status, headers={"content-type": "application/json"}, content=_encode(tree))


def _error(status: int, message: str) -> httpx.Response:
    return _json(status, {"error": {"message": message, "type": "invalid_request_error", "code": None}})


def _calls(decision: Decision) -> list[dict[str, Any]]:
    return [
        {
            "index": at,
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": _encode(call.arguments).decode()},
        }
        for at, call in enumerate(decision.calls)
    ]


def _finish(decision: Decision) -> str:
    return "tool_calls" if decision.calls else "stop"


def _usage(body: bytes, decision: Decision) -> dict[str, int]:
    tokens_in = len(body) // 4 + 1
    tokens_out = estimate_tokens(decision.text) + sum(len(_encode(call.arguments)) // 4 + 4 for call in decision.calls)
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


def _completion(decision: Decision, usage: dict[str, int]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": decision.text or None}
    if decision.calls:
        message["tool_calls"] = _calls(decision)
    choice = {"index": 0, "message": message, "finish_reason": _finish(decision)}
    return {"object": "chat.completion", "model": _MODEL, "choices": [choice], "usage": usage}


def _chunks(decision: Decision, usage: dict[str, int] | None) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    for piece in _pieces.findall(decision.text):
        yield _chunk({"content": piece})
    for call in _calls(decision):
        yield _chunk({"tool_calls": [call]})
    yield _chunk({}, finish=_finish(decision))
    if usage is not None:
        yield {"object": "chat.completion.chunk", "model": _MODEL, "choices": [], "usage": usage}


def _chunk(delta: dict[str, Any], *, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": _MODEL, "choices": [choice]}
