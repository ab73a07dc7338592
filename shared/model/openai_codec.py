"""A neutral request as the JSON bytes of an OpenAI-compatible chat completion.

Finished turns are encoded once and joined as bytes: a request costs its new messages, not its history.
Pairing of calls and results, budgets and untrusted-data marks are the renderer's work, not this module's.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Literal, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from shared.model.call_ids import wire_call_id
from shared.model.dialects import Dialect
from shared.model.roles import clash, settle
from shared.model.types import AssistantTurn, Block, Call, ChatMessage, ChatRequest, ToolSpec, ToolTurn, UserTurn
from shared.model.wire_parts import Content, ImageUrl, content, text_content, visible, wire_arguments, wire_name
from shared.text import clean

_TOOL_LISTS = 32
_encode = msgspec.json.Encoder().encode


class _Function(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    arguments: str


class _Call(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    type: Literal["function"]
    function: _Function
    extra_content: dict[str, Any] | UnsetType = UNSET


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["system", "user", "assistant", "tool"]
    tool_call_id: str | UnsetType = UNSET
    content: Content | None
    tool_calls: list[_Call] | UnsetType = UNSET


class OpenAICodec:
    """Encodes requests for one model. `image_url`, when given and the dialect has images, loads what may be sent."""

    def __init__(self, dialect: Dialect, model_id: str, *, image_url: ImageUrl | None = None) -> None:
        self._dialect = dialect
        self._orders = dialect.merge_roles or not dialect.user_after_tool
        self._image_url = image_url if dialect.images else None
        self._key = f"openai/{dialect.name}/{'images' if self._image_url else 'text'}"
        self._head = b'{"model":' + _encode(model_id) + b',"messages":['
        self._tool_lists: OrderedDict[int, tuple[tuple[ToolSpec, ...], bytes]] = OrderedDict()

    def encode(self, request: ChatRequest, *, stream: bool) -> bytes:
        """The request body; the same request gives the same bytes."""
        fragments = [self._run(run) for run in self._runs(request)]
        system = clean(request.system)
        if system.strip():
            fragments.insert(0, _encode(_Message(role="system", content=system)))
        tools = b',"tools":' + self._tools(request.tools) if request.tools else b""
        options = _encode(self._options(request, stream=stream))
        return b"".join((self._head, b",".join(fragments), b"]", tools, b",", options[1:]))

    def _runs(self, request: ChatRequest) -> list[list[Block]]:
        """Blocks that can be encoded apart from each other; a clash at a border binds two together."""
        runs: list[list[Block]] = []
        for block in (*request.history, Block(request.current, 0)):
            if not block.messages:
                continue
            if self._orders and runs and clash(runs[-1][-1].messages[-1], block.messages[0], self._dialect):
                runs[-1].append(block)
            else:
                runs.append([block])
        return runs

    def _run(self, run: list[Block]) -> bytes:
        if len(run) > 1:
            return self._messages(message for block in run for message in block.messages)
        wire = run[0].wire
        fragment = wire.get(self._key)
        if fragment is None:
            fragment = wire[self._key] = self._messages(run[0].messages)
        return fragment

    def _messages(self, messages: Iterable[ChatMessage]) -> bytes:
        return _encode([self._message(message) for message in settle(messages, self._dialect)])[1:-1]

    def _message(self, message: ChatMessage) -> _Message:
        match message:
            case UserTurn():
                return _Message(role="user", content=content(message.content, self._image_url))
            case AssistantTurn(calls=[]):
                return _Message(role="assistant", content=visible(text_content(message.content)))
            case AssistantTurn():
                calls = [self._call(call) for call in message.calls]
                return _Message(role="assistant", content=text_content(message.content) or None, tool_calls=calls)
            case ToolTurn():
                call_id = wire_call_id(message.call_id, self._dialect)
                return _Message(role="tool", tool_call_id=call_id, content=visible(message.content))
            case _:
                assert_never(message)

    def _call(self, call: Call) -> _Call:
        signature = self._dialect.call_signature
        return _Call(
            id=wire_call_id(call.call_id, self._dialect),
            type="function",
            function=_Function(name=wire_name(call.name), arguments=wire_arguments(call.arguments)),
            extra_content={"google": {"thought_signature": signature}} if signature else UNSET,
        )

    def _tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        # By identity: schemas are raw bytes, which have no hash. The entry keeps the tuple, so its id stays its own.
        known = self._tool_lists.get(id(tools))
        if known is not None:
            self._tool_lists.move_to_end(id(tools))
            return known[1]
        offered = tools[: self._dialect.max_tools]
        fragment = _encode([{"type": "function", "function": tool} for tool in offered])
        self._tool_lists[id(tools)] = (tools, fragment)
        if len(self._tool_lists) > _TOOL_LISTS:
            self._tool_lists.popitem(last=False)
        return fragment

    def _options(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        dialect = self._dialect
        options: dict[str, Any] = {dialect.max_tokens_field: request.max_tokens}
        if request.temperature is not None:
            options["temperature"] = request.temperature
        if request.tools:
            if request.tool_choice != "auto":
                options["tool_choice"] = dialect.required if request.tool_choice == "required" else "none"
            if dialect.parallel_tool_calls is not None:
                options["parallel_tool_calls"] = dialect.parallel_tool_calls
        if stream:
            options["stream"] = True
            if dialect.stream_usage:
                options["stream_options"] = {"include_usage": True}
        return options
