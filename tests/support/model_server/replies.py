"""A scripted reply as OpenAI's completion object and as its stream of chunks."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tests.support.model_server.script import PLACEHOLDER, Finish, Reply, Usage
from tests.support.model_server.terms import Dialect, JsonObject
from tests.support.model_server.tokens import prompt_tokens, text_tokens

_PIECE = re.compile(r"\S+\s*|\s+")
_ARGUMENT_PIECE = 8
ECHO_OF_RESULT = Reply(text="{last_result}")
ECHO_OF_USER = Reply(text="{last_user}")


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A reply with everything filled in; `calls` as they go on the wire, `created` in Unix seconds."""

    id: str
    created: int
    model: str
    text: str
    refusal: str | None
    calls: tuple[JsonObject, ...]
    finish: Finish
    usage: Usage

    def usage_object(self) -> JsonObject:
        """The usage as the protocol names it."""
        counts: JsonObject = msgspec.to_builtins(self.usage)
        return counts | {"total_tokens": self.usage.prompt_tokens + self.usage.completion_tokens}


def echo(values: Mapping[str, str]) -> Reply:
    """What is said when no rule matches: the latest tool result, else the user's own words; nothing invented."""
    return ECHO_OF_RESULT if values["count"] != "0" else ECHO_OF_USER


def complete(
    reply: Reply, values: Mapping[str, str], body: JsonObject, *, dialect: Dialect, created: int
) -> Completion:
    """`reply` to `body`. Ids derive from the request, so that the same request is answered with the same ids."""
    seed = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    text = fill(reply.text, values)
    refusal = None if reply.refusal is None else fill(reply.refusal, values)
    calls: list[JsonObject] = []
    written = text + (refusal or "")
    for at, call in enumerate(reply.calls):
        arguments = _arguments(call.arguments, values)
        function = {"name": call.name, "arguments": arguments}
        calls.append({"id": call.id or _call_id(seed, at, dialect), "type": "function", "function": function})
        written += arguments
    usage = reply.usage or Usage(
        prompt_tokens=sum(prompt_tokens(body)), completion_tokens=text_tokens(written) + len(calls)
    )
    return Completion(
        id=f"chatcmpl-{seed[:24]}",
        created=created,
        model=body.get("model", ""),
        text=text,
        refusal=refusal,
        calls=tuple(calls),
        finish=reply.finish or ("tool_calls" if calls else "stop"),
        usage=usage,
    )


def fill(value: Any, values: Mapping[str, str]) -> Any:
    """`value` with the placeholders in its strings replaced; other braces stay as they are."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {key: fill(inner, values) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, values) for inner in value]
    return value


def as_object(completion: Completion) -> JsonObject:
    """The answer to a request without `stream`."""
    message: JsonObject = {
        "role": "assistant",
        "content": completion.text or None,
        "refusal": completion.refusal,
    }
    if completion.calls:
        message["tool_calls"] = list(completion.calls)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": completion.finish}
    return _head(completion, "chat.completion") | {"choices": [choice], "usage": completion.usage_object()}


def as_chunks(completion: Completion, *, usage: bool, usage_in_last: bool = False) -> list[JsonObject]:
    """The chunks of a streamed answer: role, text, refusal, calls, finish reason.

    `usage` adds OpenAI's extra chunk without choices (`stream_options.include_usage`); `usage_in_last` puts the usage
    into the finishing chunk unasked, as Mistral does.
    """
    first: JsonObject = {"role": "assistant", "content": None if completion.calls and not completion.text else ""}
    deltas = [first]
    deltas += [{"content": piece} for piece in _PIECE.findall(completion.text)]
    deltas += [{"refusal": piece} for piece in _PIECE.findall(completion.refusal or "")]
    for at, call in enumerate(completion.calls):
        deltas += _call_deltas(at, call)
    head = _head(completion, "chat.completion.chunk") | ({"usage": None} if usage else {})
    chunks = [head | {"choices": [_choice(delta, None)]} for delta in deltas]
    last = head | {"choices": [_choice({}, completion.finish)]}
    chunks.append(last | {"usage": completion.usage_object()} if usage_in_last else last)
    if usage:
        chunks.append(head | {"choices": [], "usage": completion.usage_object()})
    return chunks


def _head(completion: Completion, kind: str) -> JsonObject:
    return {"id": completion.id, "object": kind, "created": completion.created, "model": completion.model}


def _choice(delta: JsonObject, finish: str | None) -> JsonObject:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _call_deltas(at: int, call: JsonObject) -> list[JsonObject]:
    arguments: str = call["function"]["arguments"]
    opening = call | {"index": at, "function": {"name": call["function"]["name"], "arguments": ""}}
    pieces = [arguments[start : start + _ARGUMENT_PIECE] for start in range(0, len(arguments), _ARGUMENT_PIECE)]
    rest = [{"index": at, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [delta]} for delta in (opening, *rest)]


def _arguments(arguments: JsonObject | str, values: Mapping[str, str]) -> str:
    if isinstance(arguments, str):
        return str(fill(arguments, values))
    return json.dumps(fill(arguments, values), ensure_ascii=False)


def _call_id(seed: str, at: int, dialect: Dialect) -> str:
    digest = hashlib.sha256(f"{seed}.{at}".encode()).hexdigest()
    return digest[:9] if dialect == "mistral" else f"call_{digest[:24]}"
