"""Rules about the tools a request offers."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.support.model_server.checks.request import empty_array
from tests.support.model_server.terms import JsonObject, Terms
from tests.support.model_server.violations import Finding

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_CHOICES = frozenset({"none", "auto", "required"})


def offered_names(body: JsonObject) -> list[str]:
    """The names of the tools a request offers, in order."""
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def empty_tools(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """A list of tools has at least one: without tools the parameter is left out."""
    if body.get("tools") == []:
        yield empty_array("tools")


def too_many(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """At most 128 tools."""
    count, most = len(body.get("tools", [])), terms.limits.tools
    if count > most:
        expected = f"Expected an array with maximum length {most}, but got an array with length {count} instead."
        yield Finding(f"Invalid 'tools': array too long. {expected}", "tools")


def tool_name(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Names match `^[a-zA-Z0-9_-]{1,64}$`."""
    for at, name in enumerate(offered_names(body)):
        if not NAME.fullmatch(name):
            yield bad_name(f"tools[{at}].function.name", name)


def duplicate_tool(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Names are unique."""
    for name, times in Counter(offered_names(body)).items():
        if times > 1:
            yield Finding(f"tools: Tool names must be unique, '{name}' is used {times} times.", "tools")


def bad_schema(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Parameters, when given, are a JSON schema of an object."""
    for at, tool in enumerate(body.get("tools", [])):
        function = tool["function"]
        parameters = function.get("parameters")
        if parameters is None:
            continue
        faults = list(_schema_faults(parameters, ()))
        if not faults and parameters.get("type") != "object":
            got = f"'type: \"{parameters.get('type')}\"'"
            faults = [f"schema must be a JSON Schema of 'type: \"object\"', got {got}."]
        for fault in faults:
            yield Finding(
                f"Invalid schema for function '{function['name']}': {fault}", f"tools[{at}].function.parameters"
            )


def choice_without_tools(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """`tool_choice` and `parallel_tool_calls` need tools."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and not body.get("tools"):
            yield Finding(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)


def unknown_choice(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """`tool_choice` is one of the documented words, or names an offered tool."""
    choice = body.get("tool_choice")
    if choice is None or not body.get("tools"):
        return
    if isinstance(choice, str):
        words = _CHOICES | {"any"} if terms.dialect == "mistral" else _CHOICES
        if choice not in words:
            supported = ", ".join(f"'{word}'" for word in sorted(words))
            message = f"Invalid value: '{choice}'. Supported values are: {supported}."
            yield Finding(message, "tool_choice", "invalid_value")
        return
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if choice.get("type") != "function" or name not in offered_names(body):
        yield Finding(f"Tool choice '{name}' not found in 'tools' parameter.", "tool_choice")


def bad_name(path: str, name: str) -> Finding:
    """The finding for a function name outside the pattern."""
    if len(name) > 64:
        expected = f"Expected a string with maximum length 64, but got a string with length {len(name)} instead."
        return Finding(f"Invalid '{path}': string too long. {expected}", path, "string_above_max_length")
    if not name:
        expected = "Expected a string with minimum length 1, but got an empty string instead."
        return Finding(f"Invalid '{path}': empty string. {expected}", path, "empty_string")
    expected = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    return Finding(f"Invalid '{path}': string does not match pattern. {expected}", path, "invalid_value")


def _schema_faults(schema: Any, path: tuple[str, ...]) -> Iterator[str]:
    context = f"In context={path!r}, " if path else ""
    if isinstance(schema, bool) and path:
        return
    if not isinstance(schema, dict):
        yield f"{context}{schema!r} is not of type 'object', 'boolean'."
        return
    declared = schema.get("type", [])
    types = declared if isinstance(declared, list) else [declared]
    for name in types:
        if not isinstance(name, str) or name not in _TYPES:
            yield f"{context}{name!r} is not valid under any of the given schemas."
    if "array" in types and "items" not in schema:
        yield f"{context}array schema missing items."
    if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
        yield f"{context}enum must be a non-empty array."
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield f"{context}{required!r} is not of type 'array' of strings."
    elif len(set(required)) < len(required):
        yield f"{context}{required!r} has non-unique elements."
    yield from _inner_faults(schema, path)


def _inner_faults(schema: JsonObject, path: tuple[str, ...]) -> Iterator[str]:
    for word in ("properties", "$defs", "definitions", "patternProperties"):
        named = schema.get(word, {})
        if not isinstance(named, dict):
            yield f"In context={(*path, word)!r}, {named!r} is not of type 'object'."
            continue
        for name, inner in named.items():
            yield from _schema_faults(inner, (*path, word, name))
    for word in ("anyOf", "oneOf", "allOf"):
        listed = schema.get(word)
        if listed is not None and (not isinstance(listed, list) or not listed):
            yield f"In context={(*path, word)!r}, {listed!r} is not a non-empty array."
            continue
        for at, inner in enumerate(listed or []):
            yield from _schema_faults(inner, (*path, word, str(at)))
    for word in ("items", "additionalProperties", "not"):
        if word in schema:
            yield from _schema_faults(schema[word], (*path, word))
