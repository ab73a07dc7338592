"""What a model is asked and what it answers, in no provider's dialect."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

import msgspec

from shared.messages.conversation import Usage
from shared.messages.parts import Part

Finish = Literal["stop", "calls", "length", "refused"]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool offered to the model; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: msgspec.Raw


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, in history or in a reply. `arguments` is the JSON text of an object, as bytes."""

    call_id: str
    name: str
    arguments: msgspec.Raw


class UserTurn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Words (and images) from outside."""

    content: list[Part]


class AssistantTurn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What the model said and called."""

    content: list[Part] = []
    calls: list[Call] = []


class ToolTurn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The result of one call, as text for the model."""

    call_id: str
    name: str
    content: str


ChatMessage = UserTurn | AssistantTurn | ToolTurn


class Block:
    """Messages that never change again (a finished turn), so that a codec encodes them once and keeps the bytes."""

    __slots__ = ("messages", "tokens", "wire")

    def __init__(self, messages: tuple[ChatMessage, ...], tokens: int) -> None:
        self.messages = messages
        self.tokens = tokens
        self.wire: dict[str, bytes] = {}


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One model call. `history` holds finished turns, `current` the running one; `tool_choice` as its name says."""

    system: str
    tools: tuple[ToolSpec, ...]
    history: tuple[Block, ...]
    current: tuple[ChatMessage, ...]
    max_tokens: int
    tool_choice: Literal["auto", "none", "required"] = "auto"
    temperature: float | None = None


class ReplyCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the model wrote it. `arguments` is a JSON object; `malformed` holds what it wrote if it was none."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    malformed: str = ""


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """A proven success: text, calls, or an explicit refusal or length state.

    Calls of a reply cut by the length limit are dropped: none of a cut batch may run.
    """

    model: str
    finish: Finish
    text: str = ""
    calls: tuple[ReplyCall, ...] = ()
    usage: Usage = Usage()
    cost_usd: float = 0.0
    attempts: int = 1
    tried: tuple[str, ...] = ()


OnDelta = Callable[[str], Awaitable[None]]
OnReset = Callable[[], Awaitable[None]]


class ChatModel(Protocol):
    """Whatever answers a request: one model, or later a chain of them."""

    async def complete(
        self,
        request: ChatRequest,
        *,
        timeout_s: float,
        on_delta: OnDelta | None = None,
        on_reset: OnReset | None = None,
    ) -> ChatReply:
        """One reply within `timeout_s`, or a `ModelError`.

        With `on_delta` the reply is streamed; `on_reset` voids what was streamed so far before another attempt.
        """
        ...


JsonObject = dict[str, Any]
