"""What the rule machine sees of a request: the running turn, the results so far, the tools on offer."""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec


class _Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str = "{}"
    parameters: dict[str, Any] = {}


class _Call(msgspec.Struct, frozen=True):
    id: str
    function: _Function


class _Part(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] = []
    tool_call_id: str = ""

    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class _Tool(msgspec.Struct, frozen=True):
    function: _Function


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = False


class WireRequest(msgspec.Struct, frozen=True):
    """The fields of a chat completion request that the rule machine reads."""

    messages: list[_Message]
    tools: list[_Tool] = []
    tool_choice: Any = "auto"
    stream: bool = False
    stream_options: _StreamOptions | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's result: `data` is the JSON object found in its text, if any, `error` what went wrong."""

    name: str
    arguments: dict[str, Any]
    text: str
    data: dict[str, Any]

    @property
    def error(self) -> str:
        """What went wrong, in the tool's words; empty when nothing did."""
        error = self.data.get("error")
        if isinstance(error, dict):
            error = error.get("message") or error.get("detail") or error.get("code")
        return str(error) if error else ""


class Chat(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the rules need it.

    `texts` are the messages since the last answer, `clock` the time that stands before the newest; `results`
    are those of the running turn, `earlier` those before; `said` what the user wrote before, newest first; `offered`
    the JSON schema of each tool by name.
    """

    texts: list[str]
    clock: str = ""
    system: str = ""
    first: bool = True
    results: list[Result] = []
    earlier: list[Result] = []
    said: list[str] = []
    offered: dict[str, dict[str, Any]] = {}


# A note of the renderer above the user's words, such as the time they were written.
_heading = re.compile(r"\s*[\[(]([^\])\n]{3,120})[\])]:?[ \t]*\n?")
# The codec's notes of attachments, each on its own line below the words.
_attached = re.compile(r"\n\[(?:image|file) [^\n]*\bstored as blob:[^\n]*")
_time_of_day = re.compile(r"\d{1,2}:\d\d")
_decoder = json.JSONDecoder()


def read_chat(request: WireRequest) -> Chat:
    """Read a request."""
    messages = [message for message in request.messages if message.role != "system"]
    answers = [at for at, message in enumerate(messages) if message.role == "assistant" and not message.tool_calls]
    start = answers[-1] + 1 if answers else 0
    before, running = messages[:start], messages[start:]
    headed = [_split_heading(message.text()) for message in running if message.role == "user"]
    said = [_split_heading(message.text())[1] for message in before if message.role == "user"]
    return Chat(
        texts=[_attached.sub("", text) for _, text in headed],
        clock=next((head for head, _ in reversed(headed) if _time_of_day.search(head)), ""),
        system="\n".join(message.text() for message in request.messages if message.role == "system"),
        first=not any(message.role == "assistant" for message in before),
        results=_results(running),
        earlier=_results(before),
        said=said[::-1],
        offered={}
        if request.tool_choice == "none"
        else {t.function.name: t.function.parameters for t in request.tools},
    )


def _results(messages: Sequence[_Message]) -> list[Result]:
    calls = {call.id: call.function for message in messages for call in message.tool_calls}
    return [
        _result(calls[message.tool_call_id], message.text())
        for message in messages
        if message.role == "tool" and message.tool_call_id in calls
    ]


def _result(function: _Function, text: str) -> Result:
    return Result(name=function.name, arguments=_object_in(function.arguments), text=text, data=_object_in(text))


def _object_in(text: str) -> dict[str, Any]:
    """Find the first JSON object in a text that may be wrapped in marks of its origin; empty when there is none."""
    at = text.find("{")
    while at >= 0:
        try:
            tree, _ = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        return tree if isinstance(tree, dict) else {}
    return {}


def _split_heading(text: str) -> tuple[str, str]:
    heading = _heading.match(text)
    if heading is None or heading.end() == len(text):
        return "", text
    return heading[1], text[heading.end() :]
