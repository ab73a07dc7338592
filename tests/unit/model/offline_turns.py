"""Turns of the offline model, asked through the real client, streamed and not."""

import json
from typing import Any

import msgspec

from shared.messages.parts import Text
from shared.model.client import OpenAIChat
from shared.model.types import (
    AssistantTurn,
    Block,
    Call,
    ChatMessage,
    ChatReply,
    ChatRequest,
    ToolSpec,
    ToolTurn,
    UserTurn,
)

PARAMETERS = {
    "note_save": ["text"],
    "note_list": [],
    "note_search": ["query"],
    "note_update": ["id", "text"],
    "note_delete": ["id"],
    "set_reminder": ["text", "when"],
    "list_reminders": [],
    "cancel_reminder": ["id"],
    "cancel_reminders": [],
    "recall": ["query"],
    "read_result": ["ref", "offset"],
}
TOOLS = tuple(
    ToolSpec(
        name=name,
        description=name,
        parameters=msgspec.Raw(
            json.dumps({"type": "object", "properties": {p: {} for p in needed}, "required": needed}).encode()
        ),
    )
    for name, needed in PARAMETERS.items()
)
BREAD = {"id": "n1", "text": "comprar pan"}
BANK = {"id": "n2", "text": "llamar al banco"}
CLOTHES = {"id": "r1", "text": "sacar la ropa", "local": "lunes 30 de noviembre de 2026, 19:25"}


def user(text: str) -> UserTurn:
    return UserTurn(content=[Text(text=text)])


def said(text: str) -> AssistantTurn:
    return AssistantTurn(content=[Text(text=text)])


def call(name: str, arguments: dict[str, Any], result: object, number: int = 0) -> list[ChatMessage]:
    call_id = f"7-0193.{number}"
    raw = msgspec.Raw(msgspec.json.encode(arguments))
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return [
        AssistantTurn(calls=[Call(call_id=call_id, name=name, arguments=raw)]),
        ToolTurn(call_id=call_id, name=name, content=text),
    ]


async def ask(model: OpenAIChat, current: list[ChatMessage], history: tuple[list[ChatMessage], ...] = ()) -> ChatReply:
    request = ChatRequest(
        system="You are Jada.",
        tools=TOOLS,
        history=tuple(Block(tuple(messages), 1) for messages in history),
        current=tuple(current),
        max_tokens=500,
    )
    reply = await model.complete(request, timeout_s=5)
    deltas: list[str] = []

    async def collect(delta: str) -> None:
        deltas.append(delta)

    streamed = await model.complete(request, timeout_s=5, on_delta=collect)
    assert (streamed.text, streamed.calls, streamed.finish) == (reply.text, reply.calls, reply.finish)
    assert "".join(deltas).strip() == reply.text
    return reply


def called(reply: ChatReply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, msgspec.json.decode(call.arguments)) for call in reply.calls]
