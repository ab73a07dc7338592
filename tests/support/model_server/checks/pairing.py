"""Rules about tool calls in the history, their results, and the order of roles."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.support.model_server.checks.request import empty_array
from tests.support.model_server.checks.tools import NAME, bad_name, offered_names
from tests.support.model_server.terms import JsonObject, Terms
from tests.support.model_server.violations import Finding

_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


class Group(NamedTuple):
    """Calls of one assistant message and the tool messages right behind it; `at` is None for results after no call."""

    at: int | None
    ids: list[str]
    results: list[tuple[int, str]]


def groups(body: JsonObject) -> list[Group]:
    """The history's calls with the results that directly follow them."""
    found: list[Group] = []
    current: Group | None = None
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if current is None:
                current = Group(None, [], [])
                found.append(current)
            current.results.append((at, message["tool_call_id"]))
            continue
        ids = [call["id"] for call in message.get("tool_calls", [])]
        current = Group(at, ids, []) if ids else None
        if current is not None:
            found.append(current)
    return found


def calls_of(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Every call of the history with its path."""
    for at, message in enumerate(body["messages"]):
        for call_at, call in enumerate(message.get("tool_calls", [])):
            yield f"messages[{at}].tool_calls[{call_at}]", call


def empty_calls(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """A list of calls has at least one."""
    for at, message in enumerate(body["messages"]):
        if message.get("tool_calls") == []:
            yield empty_array(f"messages[{at}].tool_calls")


def orphan_call(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Each call has its result before any other role speaks."""
    for group in groups(body):
        answered = {result for _, result in group.results}
        missing = [call for call in group.ids if call not in answered]
        if missing and terms.dialect == "mistral":
            yield Finding("Not the same number of function calls and responses")
        elif missing:
            rule = "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            ids = ", ".join(missing)
            yield Finding(
                f"{rule} 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
                f"messages.[{group.at}].role",
            )


def orphan_result(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Each result follows the message that called for it."""
    message = (
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    )
    if terms.dialect == "mistral":
        message = "Unexpected tool call id in tool results"
    for group in groups(body):
        for at, result in group.results:
            if result not in group.ids:
                yield Finding(message, f"messages.[{at}].role")


def duplicate_result(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """A call is answered once."""
    for group in groups(body):
        seen: dict[str, int] = {}
        for at, result in group.results:
            if result not in seen:
                seen[result] = at
            elif terms.dialect == "mistral":
                yield Finding("Not the same number of function calls and responses")
            else:
                where = f"in messages[{seen[result]}] and messages[{at}]"
                yield Finding(
                    f"Invalid parameter: Duplicate value for 'tool_call_id' of '{result}', {where}.",
                    f"messages.[{at}].tool_call_id",
                )


def duplicate_id(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """A call id occurs once in the whole request."""
    for call, times in Counter(call["id"] for _, call in calls_of(body)).items():
        if times > 1:
            yield Finding(f"Duplicate tool call id: '{call}' is used by {times} calls.", "messages")


def id_length(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Call ids have 1 to 40 characters."""
    most = terms.limits.call_id_length
    for path, call in calls_of(body):
        size = len(call["id"])
        if size > most:
            expected = f"Expected a string with maximum length {most}, but got a string with length {size} instead."
            yield Finding(f"Invalid '{path}.id': string too long. {expected}", f"{path}.id", "string_above_max_length")
        elif not size:
            expected = "Expected a string with minimum length 1, but got an empty string instead."
            yield Finding(f"Invalid '{path}.id': empty string. {expected}", f"{path}.id", "empty_string")


def id_format(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Mistral's call ids are exactly nine alphanumerics."""
    for _path, call in calls_of(body):
        if not _MISTRAL_ID.fullmatch(call["id"]):
            yield Finding(f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9.")


def call_name(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Names of past calls match the pattern for tool names."""
    for path, call in calls_of(body):
        if not NAME.fullmatch(call["function"]["name"]):
            yield bad_name(f"{path}.function.name", call["function"]["name"])


def bad_arguments(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Arguments are the text of a JSON value."""
    for path, call in calls_of(body):
        if _arguments(call) is _NOT_JSON:
            where = f"{path}.function.arguments"
            yield Finding(f"Invalid '{where}': failed to parse tool call arguments as JSON.", where)


def arguments_not_object(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """That value is an object."""
    for path, call in calls_of(body):
        arguments = _arguments(call)
        if arguments is not _NOT_JSON and not isinstance(arguments, dict):
            where = f"{path}.function.arguments"
            yield Finding(f"Invalid '{where}': tool call arguments must be a JSON object.", where)


def not_offered(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Groq refuses a history that calls a tool the request does not offer."""
    offered = offered_names(body)
    for _path, call in calls_of(body):
        name = call["function"]["name"]
        if name not in offered:
            yield Finding(
                f"tool call validation failed: attempted to call tool '{name}' which was not in request.tools",
                extra={"failed_generation": json.dumps(call["function"])},
            )


def user_after_tool(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Mistral wants the assistant to speak after tool results."""
    roles = [message["role"] for message in body["messages"]]
    for before, after in itertools.pairwise(roles):
        if before == "tool" and after not in {"tool", "assistant"}:
            yield Finding(f"Unexpected role '{after}' after role 'tool'")


def ends_with_assistant(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Mistral wants the user or a tool to speak last."""
    if body["messages"] and body["messages"][-1]["role"] == "assistant":
        yield Finding("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")


def role_order(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """User and assistant alternate, the user first; tool calls and results don't count.

    The check of the chat template published with Mistral 7B Instruct v0.3, which llama.cpp runs.
    """
    expected = "user"
    for message in body["messages"]:
        if message["role"] not in {"user", "assistant"} or message.get("tool_calls"):
            continue
        if message["role"] != expected:
            yield Finding("Conversation roles must alternate user/assistant/user/assistant/...")
            return
        expected = "assistant" if expected == "user" else "user"


_NOT_JSON = object()


def _arguments(call: JsonObject) -> Any:
    try:
        return json.loads(call["function"]["arguments"])
    except (ValueError, RecursionError):
        return _NOT_JSON
