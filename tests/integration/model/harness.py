"""What the tests of the model client share: what is asked, and who watches the answer."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from shared.messages.parts import Text
from shared.model.client import OpenAIChat
from shared.model.types import ChatReply, ChatRequest, ToolSpec, UserTurn
from tests.support.model_server import ModelServer, Reply
from tests.support.model_server.script import Usage as SaidUsage

KEY = "sk-planted-secret-0123456789abcdef"
NOTE = ToolSpec(
    name="note_save",
    description="Saves a note.",
    parameters=msgspec.Raw(b'{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'),
)
HELLO = Reply(text="Hola, soy un modelo.", usage=SaidUsage(prompt_tokens=1000, completion_tokens=500))
Make = Callable[..., Awaitable[tuple[ModelServer, OpenAIChat]]]


class Screen:
    """What a watcher sees of a streamed reply."""

    def __init__(self) -> None:
        self.text = ""
        self.resets = 0

    async def show(self, delta: str) -> None:
        self.text += delta

    async def clear(self) -> None:
        self.text = ""
        self.resets += 1


def request(text: str = "hola", **options: Any) -> ChatRequest:
    current = (UserTurn(content=[Text(text=text)]),)
    return ChatRequest(
        **{"system": "Eres Jada.", "tools": (NOTE,), "max_tokens": 900, **options}, history=(), current=current
    )


async def ask(model: OpenAIChat, *, stream: bool, timeout_s: float = 10, screen: Screen | None = None) -> ChatReply:
    screen = screen or Screen()
    if not stream:
        return await model.complete(request(), timeout_s=timeout_s)
    return await model.complete(request(), timeout_s=timeout_s, on_delta=screen.show, on_reset=screen.clear)


both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
