"""Which fields a request may have and of which JSON types, after OpenAI's API reference for chat completions.

Message roles and content parts are chosen by their discriminator. The retired `function` role is not listed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.model_server.terms import Dialect
from tests.support.model_server.violations import Finding


class Field(NamedTuple):
    """A field's JSON types; `inner` describes the object, or each object of the array."""

    types: tuple[str, ...]
    required: bool = False
    inner: "Fields | Choice | None" = None


class Choice(NamedTuple):
    """Objects that one of their fields tells apart; an unlisted value is a violation of `kind`."""

    key: str
    kind: str
    options: "Mapping[str, Fields]"


Fields = Mapping[str, Field]

ANY = Field(("string", "number", "integer", "boolean", "array", "object", "null"))
TEXT = Field(("string",))
NEEDED_TEXT = Field(("string",), required=True)
NUMBER = Field(("number", "integer", "null"))
COUNT = Field(("integer", "null"))
FLAG = Field(("boolean", "null"))

PARTS = Choice(
    "type",
    "unknown-part",
    {
        "text": {"text": NEEDED_TEXT},
        "image_url": {"image_url": Field(("object",), required=True, inner={"url": NEEDED_TEXT, "detail": TEXT})},
        "input_audio": {"input_audio": Field(("object",), required=True)},
        "refusal": {"refusal": NEEDED_TEXT},
        "file": {"file": Field(("object",), required=True)},
    },
)
CONTENT = Field(("string", "array", "null"), inner=PARTS)
FUNCTION_CALL: Fields = {"name": NEEDED_TEXT, "arguments": NEEDED_TEXT}
CALLS = Choice(
    "type",
    "unknown-tool-type",
    {"function": {"id": NEEDED_TEXT, "function": Field(("object",), required=True, inner=FUNCTION_CALL)}},
)
MESSAGES = Choice(
    "role",
    "unknown-role",
    {
        "system": {"content": CONTENT, "name": TEXT},
        "developer": {"content": CONTENT, "name": TEXT},
        "user": {"content": CONTENT, "name": TEXT},
        "assistant": {
            "content": CONTENT,
            "name": TEXT,
            "refusal": Field(("string", "null")),
            "audio": Field(("object", "null")),
            "tool_calls": Field(("array",), inner=CALLS),
        },
        "tool": {"content": CONTENT, "tool_call_id": NEEDED_TEXT},
    },
)
FUNCTION: Fields = {
    "name": NEEDED_TEXT,
    "description": TEXT,
    "parameters": Field(("object",)),
    "strict": FLAG,
}
TOOLS = Choice(
    "type", "unknown-tool-type", {"function": {"function": Field(("object",), required=True, inner=FUNCTION)}}
)
COMMON: Fields = {
    "model": TEXT,
    "messages": Field(("array",), required=True, inner=MESSAGES),
    "tools": Field(("array",), inner=TOOLS),
    "tool_choice": Field(("string", "object")),
    "parallel_tool_calls": Field(("boolean",)),
    "max_tokens": COUNT,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "n": COUNT,
    "stop": Field(("string", "array", "null")),
    "stream": FLAG,
    "response_format": Field(("object",)),
    "frequency_penalty": NUMBER,
    "presence_penalty": NUMBER,
    "metadata": Field(("object", "null")),
    "reasoning_effort": Field(("string", "null")),
    "prediction": Field(("object", "null")),
}
GROQ: Fields = {
    **COMMON,
    "max_completion_tokens": COUNT,
    "stream_options": Field(("object", "null"), inner={"include_usage": FLAG, "include_obfuscation": FLAG}),
    "seed": COUNT,
    "service_tier": Field(("string", "null")),
    "store": FLAG,
    "user": TEXT,
}
# https://docs.mistral.ai/api: the usage is always sent, so `stream_options` is no parameter there.
MISTRAL: Fields = {**COMMON, "random_seed": COUNT, "safe_prompt": FLAG, "prompt_mode": Field(("string", "null"))}
OPENAI: Fields = {
    **GROQ,
    "audio": Field(("object", "null")),
    "logit_bias": Field(("object", "null")),
    "logprobs": FLAG,
    "modalities": Field(("array", "null")),
    "prompt_cache_key": TEXT,
    "safety_identifier": TEXT,
    "top_logprobs": COUNT,
    "verbosity": Field(("string", "null")),
    "web_search_options": Field(("object",)),
}
REQUESTS: Mapping[Dialect, Fields] = {"openai": OPENAI, "groq": GROQ, "mistral": MISTRAL, "llamacpp": OPENAI}


def problems(body: Any, dialect: Dialect) -> Iterator[tuple[str, Finding]]:
    """Every departure from the documented shape, with its kind."""
    if json_type(body) != "object":
        yield "invalid-type", Finding("Invalid request body: expected a JSON object.", None, "invalid_type")
        return
    yield from _object(body, REQUESTS[dialect], "")


def json_type(value: Any) -> str:
    """The JSON type's name of a decoded value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _object(value: Mapping[str, Any], fields: Fields, path: str) -> Iterator[tuple[str, Finding]]:
    for name in (name for name in value if name not in fields):
        where = _join(path, name)
        message = f"Unknown parameter: '{where}'." if path else f"Unrecognized request argument supplied: {name}"
        yield "unknown-parameter", Finding(message, where, "unknown_parameter" if path else None)
    for name, field in fields.items():
        where = _join(path, name)
        if name in value:
            yield from _field(value[name], field, where)
        elif field.required:
            message = f"Missing required parameter: '{where}'."
            yield "missing-parameter", Finding(message, where, "missing_required_parameter")


def _field(value: Any, field: Field, path: str) -> Iterator[tuple[str, Finding]]:
    if json_type(value) not in field.types:
        yield "invalid-type", _wrong_type(value, field.types, path)
    elif field.inner is not None and isinstance(value, list):
        for at, item in enumerate(value):
            yield from _inner(item, field.inner, f"{path}[{at}]")
    elif field.inner is not None and isinstance(value, dict):
        yield from _inner(value, field.inner, path)


def _inner(value: Any, shape: Fields | Choice, path: str) -> Iterator[tuple[str, Finding]]:
    if not isinstance(value, dict):
        yield "invalid-type", _wrong_type(value, ("object",), path)
        return
    if not isinstance(shape, Choice):
        yield from _object(value, shape, path)
        return
    where = _join(path, shape.key)
    if shape.key not in value:
        message = f"Missing required parameter: '{where}'."
        yield "missing-parameter", Finding(message, where, "missing_required_parameter")
        return
    chosen = value[shape.key]
    if not isinstance(chosen, str):
        yield "invalid-type", _wrong_type(chosen, ("string",), where)
    elif chosen not in shape.options:
        supported = ", ".join(f"'{option}'" for option in shape.options)
        yield shape.kind, Finding(f"Invalid value: '{chosen}'. Supported values are: {supported}.", where)
    else:
        yield from _object(value, {shape.key: NEEDED_TEXT, **shape.options[chosen]}, path)


def _wrong_type(value: Any, types: tuple[str, ...], path: str) -> Finding:
    expected = " or ".join(types)
    return Finding(
        f"Invalid type for '{path}': expected {expected}, but got {json_type(value)} instead.", path, "invalid_type"
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
