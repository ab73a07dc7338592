"""The rule table: what a provider refuses, per dialect, and the answer it gives.

Written from the providers' documents and their own error texts as users report them, never from what Jada renders:
the server answers by it over HTTP and property tests judge by it directly. Another rule is another row; another
dialect is another name in `Dialect` with its rows (and its fields in `checks/shape.py`).
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from tests.support.model_server.checks import images, messages, pairing, request, shape, tools
from tests.support.model_server.terms import Dialect, JsonObject, Terms
from tests.support.model_server.violations import Finding, Violation

Check = Callable[[JsonObject, Terms], Iterable[Finding]]

ALL: frozenset[Dialect] = frozenset({"openai", "mistral", "groq", "llamacpp"})
OPENAI_LIKE: frozenset[Dialect] = frozenset({"openai", "groq"})
MISTRAL: frozenset[Dialect] = frozenset({"mistral"})
GROQ: frozenset[Dialect] = frozenset({"groq"})
LLAMACPP: frozenset[Dialect] = frozenset({"llamacpp"})
# llama.cpp checks neither pairing nor limits of its own; what it lacks here it really lets pass.
HOSTED: frozenset[Dialect] = OPENAI_LIKE | MISTRAL

ORDER = "invalid_request_message_order"
SERVER_ERROR = "server_error"


class Row(NamedTuple):
    """One rule: `check` finds the places, the rest is how the dialects it holds for answer."""

    kind: str
    check: Check
    dialects: frozenset[Dialect]
    code: str | None = None
    status: int = 400
    type: str = "invalid_request_error"


def _shape(kind: str) -> Check:
    return partial(_shape_findings, kind)


def _shape_findings(kind: str, body: JsonObject, terms: Terms) -> Iterator[Finding]:
    return (finding for found, finding in shape.problems(body, terms.dialect) if found == kind)


# Judged first and alone: the other checks rely on the shape, and their messages on clean text.
SHAPE_ROWS = (
    Row("surrogate", messages.surrogate, ALL),
    Row("nul", messages.nul, ALL),
    Row("invalid-type", _shape("invalid-type"), ALL, "invalid_type"),
    Row("missing-parameter", _shape("missing-parameter"), ALL, "missing_required_parameter"),
    Row("unknown-role", _shape("unknown-role"), ALL, "invalid_value"),
    Row("unknown-part", _shape("unknown-part"), ALL, "invalid_value"),
    Row("unknown-tool-type", _shape("unknown-tool-type"), ALL, "invalid_value"),
    Row("unknown-parameter", _shape("unknown-parameter"), OPENAI_LIKE),
    Row("unknown-parameter", _shape("unknown-parameter"), MISTRAL, status=422),
)

ROWS = (
    Row("missing-model", request.missing_model, HOSTED),
    Row("unknown-model", request.unknown_model, OPENAI_LIKE, "model_not_found", 404),
    Row("unknown-model", request.unknown_model, MISTRAL, "1500", 400, "invalid_model"),
    Row("empty-messages", request.empty_messages, HOSTED, "empty_array"),
    Row("max-tokens", request.output_budget, HOSTED),
    Row("temperature", request.temperature, HOSTED),
    Row("stream-options", request.stream_options, OPENAI_LIKE),
    Row("null-content", messages.null_content, ALL),
    Row("empty-content", messages.empty_content, HOSTED, "empty_array"),
    Row("empty-text", messages.empty_text, HOSTED),
    Row("blank-text", messages.blank_text, HOSTED),
    Row("empty-assistant", messages.empty_assistant, OPENAI_LIKE | LLAMACPP),
    Row("empty-assistant", messages.empty_assistant, MISTRAL, "3240", type="invalid_request_assistant_message"),
    Row("several-systems", messages.several_systems, HOSTED),
    Row("several-systems", messages.several_systems, LLAMACPP, None, 500, SERVER_ERROR),
    Row("part-role", messages.part_role, HOSTED, "invalid_value"),
    Row("empty-calls", pairing.empty_calls, HOSTED, "empty_array"),
    Row("orphan-call", pairing.orphan_call, OPENAI_LIKE),
    Row("orphan-call", pairing.orphan_call, MISTRAL, "3230", type=ORDER),
    Row("orphan-result", pairing.orphan_result, OPENAI_LIKE),
    Row("orphan-result", pairing.orphan_result, MISTRAL, "3230", type=ORDER),
    Row("duplicate-result", pairing.duplicate_result, OPENAI_LIKE),
    Row("duplicate-result", pairing.duplicate_result, MISTRAL, "3230", type=ORDER),
    Row("duplicate-id", pairing.duplicate_id, OPENAI_LIKE),
    Row("duplicate-id", pairing.duplicate_id, MISTRAL, "3230", type=ORDER),
    Row("id-length", pairing.id_length, OPENAI_LIKE),
    Row("id-format", pairing.id_format, MISTRAL, "3280", type="invalid_function_call"),
    Row("call-name", pairing.call_name, HOSTED),
    Row("bad-arguments", pairing.bad_arguments, HOSTED),
    Row("bad-arguments", pairing.bad_arguments, LLAMACPP, None, 500, SERVER_ERROR),
    Row("arguments-not-object", pairing.arguments_not_object, HOSTED),
    Row("not-offered", pairing.not_offered, GROQ, "tool_use_failed"),
    Row("user-after-tool", pairing.user_after_tool, MISTRAL, "3230", type=ORDER),
    Row("ends-with-assistant", pairing.ends_with_assistant, MISTRAL, "3230", type=ORDER),
    Row("role-order", pairing.role_order, LLAMACPP, None, 500, SERVER_ERROR),
    Row("empty-tools", tools.empty_tools, HOSTED, "empty_array"),
    Row("too-many-tools", tools.too_many, HOSTED, "array_above_max_length"),
    Row("tool-name", tools.tool_name, HOSTED),
    Row("duplicate-tool", tools.duplicate_tool, HOSTED),
    Row("bad-schema", tools.bad_schema, HOSTED, "invalid_function_parameters"),
    Row("bad-schema", tools.bad_schema, LLAMACPP, None, 400),
    Row("choice-without-tools", tools.choice_without_tools, HOSTED),
    Row("unknown-choice", tools.unknown_choice, HOSTED),
    Row("no-vision", images.no_vision, HOSTED),
    Row("no-vision", images.no_vision, LLAMACPP, None, 500, SERVER_ERROR),
    Row("remote-image", images.remote_image, ALL, "invalid_image_url"),
    Row("bad-data-uri", images.bad_data_uri, ALL, "invalid_image_url"),
    Row("type-unsupported", images.type_unsupported, HOSTED, "invalid_image_format"),
    Row("bad-base64", images.bad_base64, ALL, "invalid_base64"),
    Row("undecodable", images.undecodable, ALL, "image_parse_error"),
    Row("type-mismatch", images.type_mismatch, HOSTED),
    Row("side-limit", images.side_limit, HOSTED),
    Row("bytes-limit", images.bytes_limit, HOSTED),
    Row("image-count", images.image_count, HOSTED),
    Row("context-overflow", request.context_overflow, OPENAI_LIKE, "context_length_exceeded"),
    Row("context-overflow", request.context_overflow, MISTRAL, "3051"),
    Row("context-overflow", request.context_overflow, LLAMACPP, type="exceed_context_size_error"),
)


def violations(body: Any, terms: Terms) -> list[Violation]:
    """Everything wrong with a decoded request body, in the order of the table; a provider reports the first."""
    found = _apply(SHAPE_ROWS, body, terms)
    return found or _apply(ROWS, body, terms)


def judge(raw: bytes, terms: Terms) -> tuple[Any, list[Violation]]:
    """A request as it came over the wire: the decoded body (None when it is no JSON) and everything wrong with it."""
    most = terms.limits.body_bytes
    if len(raw) > most:
        message = f"Maximum content size limit ({most}) exceeded ({len(raw)} bytes read)"
        return None, [Violation(kind="request-limit", message=message, status=413, type=SERVER_ERROR)]
    try:
        body = json.loads(raw.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as exc:
        message = f"We could not parse the JSON body of your request. ({exc})"
        return None, [Violation(kind="malformed-json", message=message)]
    return body, violations(body, terms)


def _apply(rows: tuple[Row, ...], body: Any, terms: Terms) -> list[Violation]:
    return [
        Violation(
            kind=row.kind,
            message=finding.message,
            status=row.status,
            type=row.type,
            code=finding.code or row.code,
            param=finding.param,
            extra=finding.extra or {},
        )
        for row in rows
        if terms.dialect in row.dialects
        for finding in row.check(body, terms)
    ]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
