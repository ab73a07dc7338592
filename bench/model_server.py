"""A model that answers at once, as a process: `python -m bench.model_server`; prints its port when it listens.

It speaks just enough HTTP and chat completions for the bench and proves nothing about requests; the strict server
of the tests does that. Whoever has fewer than two tool results since the last user message calls `note_list`.
"""

import asyncio
import re
import sys
from typing import cast

import msgspec
import uvloop

TOOL_STEPS = 2
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_MARKER = re.compile(rb"RACE-\d+-\d+")
# Jada encodes without spaces, and inside a JSON text these bytes would carry backslashes.
_USER, _TOOL = b'"role":"user"', b'"role":"tool"'


def reply_to(body: bytes, number: int) -> bytes:
    """The completion for a request, decided from the tool results since its last user message."""
    last_user = body.rfind(_USER)
    if last_user < 0:
        raise ValueError("a request without a user message")
    if body.count(_TOOL, last_user) < TOOL_STEPS:
        function = {"name": "note_list", "arguments": '{"limit":5}'}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
        }
        reason = "tool_calls"
    else:
        message = {"role": "assistant", "content": "No tienes ninguna nota guardada."}
        reason = "stop"
    return msgspec.json.encode(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "test-model",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
    )


class ModelConnection(asyncio.Protocol):
    """One keep-alive connection. `seen` holds the race markers of each request that had any, in order."""

    seen: list[list[str]] = []
    requests = 0

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but inheritance

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end])
            length = _LENGTH.search(head)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < whole:
                return
            body = bytes(self._buffer[end + 4 : whole])
            del self._buffer[:whole]
            answer = self._answer(head.split(b" ", 2)[1], body)
            start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
            self._transport.write(start + answer)

    def _answer(self, path: bytes, body: bytes) -> bytes:
        cls = type(self)
        match path:
            case b"/v1/chat/completions":
                cls.requests += 1
                if markers := _MARKER.findall(body):
                    cls.seen.append([marker.decode() for marker in markers])
                return reply_to(body, cls.requests)
            case b"/v1/models":
                return b'{"object":"list","data":[{"id":"test-model","object":"model"}]}'
            case b"/seen":
                seen, cls.seen = cls.seen, []
                return msgspec.json.encode(seen)
            case _:
                raise ValueError(f"no such path: {path!r}")


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(ModelConnection, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
