"""Rules about single messages and their text."""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.model_server.checks.request import empty_array
from tests.support.model_server.terms import JsonObject, Terms
from tests.support.model_server.violations import Finding

SYSTEM_ROLES = ("system", "developer")
PARTS_BY_ROLE = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
_SURROGATE = re.compile("[\ud800-\udfff]")


def parts_of(message: JsonObject) -> list[JsonObject]:
    """The content parts of a message; none when its content is plain text."""
    content = message.get("content")
    return content if isinstance(content, list) else []


def text_of(message: JsonObject) -> str:
    """All the text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in parts_of(message) if part["type"] == "text")


def null_content(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Only an assistant's content may be null or left out."""
    for at, message in enumerate(body["messages"]):
        if message["role"] != "assistant" and message.get("content") is None:
            yield _no_content(at)


def empty_assistant(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """An assistant message says something, refuses, or calls something."""
    for at, message in enumerate(body["messages"]):
        said = message.get("content") or message.get("refusal") or message.get("audio")
        if message["role"] == "assistant" and not said and not message.get("tool_calls"):
            yield _no_content(at)


def empty_content(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """A list of content parts has at least one."""
    for at, message in enumerate(body["messages"]):
        if message.get("content") == []:
            yield empty_array(f"messages[{at}].content")


def empty_text(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Text is not empty; plain assistant content may be, beside calls."""
    if terms.visible_text:
        for path, text in _texts(body):
            if not text:
                yield Finding(f"{path}: text content must be non-empty", path)


def blank_text(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Text is more than white space."""
    if terms.visible_text:
        for path, text in _texts(body):
            if text and not text.strip():
                yield Finding(f"{path}: text content must contain non-whitespace text", path)


def several_systems(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """At most one system message, and it comes first."""
    if terms.single_system:
        for at, message in enumerate(body["messages"]):
            if at and message["role"] in SYSTEM_ROLES:
                yield Finding("System message must be at the beginning.", f"messages.[{at}].role")


def part_role(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Images, sounds and files come from the user; a refusal comes from the assistant."""
    for at, message in enumerate(body["messages"]):
        role = message["role"]
        for part in parts_of(message):
            if part["type"] not in PARTS_BY_ROLE[role]:
                which = f"this message with role '{role}' contains '{part['type']}'"
                yield Finding(
                    f"Invalid 'messages[{at}]'. Content type not allowed for this role: {which}.", f"messages.[{at}]"
                )


def nul(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """No NUL character anywhere."""
    for path, text in _strings(body, ""):
        if "\0" in text:
            yield Finding(f"Invalid '{path}': the string contains a null character (\\u0000).", path)


def surrogate(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """No unpaired surrogate anywhere: such JSON cannot be turned into UTF-8 (RFC 8259, section 8.2)."""
    for path, text in _strings(body, ""):
        if _SURROGATE.search(text):
            yield Finding(f"Invalid body: failed to parse JSON value at '{path}': lone surrogate in string.")


def _no_content(at: int) -> Finding:
    return Finding("Invalid value for 'content': expected a string, got null.", f"messages.[{at}].content")


def _texts(body: JsonObject) -> Iterator[tuple[str, str]]:
    for at, message in enumerate(body["messages"]):
        content = message.get("content")
        if isinstance(content, str) and (content or message["role"] != "assistant"):
            yield f"messages.[{at}].content", content
        for part_at, part in enumerate(parts_of(message)):
            if part["type"] == "text":
                yield f"messages.[{at}].content.[{part_at}].text", part["text"]


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _strings(item, f"{path}[{at}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            yield inner, key
            yield from _strings(item, inner)
