"""The rule table: for every rule and dialect a minimal request that breaks it, and a close one that does not."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.model_server import Limits, Terms, judge, violations
from tests.support.model_server.rules import ALL, ROWS, SHAPE_ROWS
from tests.support.model_server.terms import JsonObject
from tests.support.model_server.violations import envelope
from tests.unit.model_server.rule_cases import (
    ASSISTANT,
    CASES,
    EXCHANGE,
    ID,
    OTHER_ID,
    USER,
    body,
    call,
    calling,
    image,
    result,
    seen,
    tool,
    without_tools,
)

ROWS_BY_DIALECT = [(row, dialect) for row in SHAPE_ROWS + ROWS for dialect in sorted(row.dialects)]


@pytest.mark.parametrize(
    ("row", "dialect"), ROWS_BY_DIALECT, ids=[f"{row.kind}-{dialect}" for row, dialect in ROWS_BY_DIALECT]
)
def test_each_rule_refuses_what_breaks_it_and_nothing_close_to_it(row: Any, dialect: Any) -> None:
    case = CASES[row.kind]
    terms = msgspec.convert({"dialect": dialect, **msgspec.to_builtins(case.terms)}, Terms)
    found = violations(case.bad, terms)
    assert {row.kind} == {violation.kind for violation in found} - case.also
    assert violations(case.good, terms) == []
    first = next(violation for violation in found if violation.kind == row.kind)
    assert (row.status, row.type) == (first.status, first.type)
    json.dumps(envelope(first, dialect))


def test_every_case_belongs_to_a_rule() -> None:
    assert {row.kind for row in SHAPE_ROWS + ROWS} == set(CASES)


def test_rules_hold_only_for_the_dialects_that_have_them() -> None:
    cases = [
        ("user-after-tool", body(*EXCHANGE, USER), {"mistral"}),
        ("not-offered", CASES["not-offered"].bad, {"groq"}),
        ("role-order", body(USER, USER), {"llamacpp"}),
        ("id-format", body(USER, calling(call("call_1")), result("call_1")), {"mistral"}),
        ("orphan-call", CASES["orphan-call"].bad, {"openai", "groq", "mistral"}),
    ]
    for kind, request, dialects in cases:
        having = {d for d in ALL if kind in {v.kind for v in violations(request, Terms(dialect=d))}}
        assert (kind, dialects) == (kind, having)


MORE_BAD = [
    ("invalid-type", [USER]),
    ("invalid-type", body("hola")),
    ("invalid-type", body({"role": 3, "content": "x"})),
    ("invalid-type", body(USER, calling(call(arguments={"a": 1})), result())),
    ("invalid-type", body(USER, max_tokens=True)),
    ("missing-parameter", {"model": "test-model"}),
    ("missing-parameter", body({"content": "x"})),
    ("missing-parameter", seen({"type": "text"})),
    ("unknown-parameter", body(USER | {"timestamp": 1})),
    ("unknown-parameter", body(USER, {**ASSISTANT, "reasoning_content": "x"}, USER)),
    ("null-content", body({"role": "user"})),
    ("null-content", body(USER, calling(call()), {"role": "tool", "tool_call_id": ID})),
    ("max-tokens", body(USER, max_tokens=20_000)),
    ("temperature", body(USER, temperature=-1)),
    ("several-systems", body(USER, {"role": "system", "content": "x"})),
    ("orphan-call", body(USER, calling(call()))),
    ("orphan-call", body(USER, calling(call(), call(OTHER_ID)), result())),
    ("orphan-result", body(USER, result())),
    ("orphan-result", body(*EXCHANGE, ASSISTANT, result())),
    ("id-length", body(USER, calling(call("")), result(""))),
    ("bad-arguments", body(USER, calling(call(arguments="")), result())),
    ("arguments-not-object", body(USER, calling(call(arguments="null")), result())),
    ("choice-without-tools", without_tools(USER, parallel_tool_calls=False)),
    ("unknown-choice", body(USER, tool_choice="any")),
    ("undecodable", seen(image(b"<html>not found</html>"))),
    ("bad-base64", seen(image("AAA"))),
]


@pytest.mark.parametrize(("kind", "request_body"), MORE_BAD)
def test_further_ways_to_break_a_rule(kind: str, request_body: Any) -> None:
    assert kind in {violation.kind for violation in violations(request_body, Terms())}


BAD_SCHEMAS = [
    {"properties": {}},
    {"type": "object", "properties": []},
    {"type": "object", "properties": {"a": {"type": "text"}}},
    {"type": "object", "properties": {"a": {"type": "array"}}},
    {"type": "object", "properties": {"a": 1}},
    {"type": "object", "properties": {"a": {"enum": []}}},
    {"type": "object", "required": "a"},
    {"type": "object", "required": ["a", "a"]},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "nothing"}]}}},
    {"type": "object", "properties": {"a": {"anyOf": []}}},
]


@pytest.mark.parametrize("schema", BAD_SCHEMAS)
def test_parameters_must_be_a_json_schema(schema: JsonObject) -> None:
    assert [v.kind for v in violations(body(USER, tools=[tool(parameters=schema)]), Terms())] == ["bad-schema"]


def test_parameters_may_use_the_whole_of_json_schema_or_be_left_out() -> None:
    rich = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "level": {"type": ["integer", "null"], "enum": [1, 2, None]},
        },
        "required": ["tags"],
        "additionalProperties": False,
    }
    bare = {"type": "function", "function": {"name": "now"}}
    assert violations(body(USER, tools=[tool(parameters=rich), bare]), Terms()) == []


def test_openai_lets_pass_what_only_stricter_endpoints_refuse() -> None:
    lax = Terms(single_system=False, visible_text=False)
    for request in (CASES["empty-text"].bad, CASES["blank-text"].bad, CASES["several-systems"].bad):
        assert violations(request, lax) == []


def test_a_body_is_judged_as_it_came_over_the_wire() -> None:
    legal = json.dumps(body(USER)).encode()
    cases = [
        (legal, Terms(), []),
        (legal, Terms(limits=Limits(body_bytes=len(legal) - 1)), [("request-limit", 413)]),
        (legal[:-1], Terms(), [("malformed-json", 400)]),
        (legal.replace(b"hola", b"\xff"), Terms(), [("malformed-json", 400)]),
        (legal.replace(b'"hola"', b"NaN"), Terms(), [("malformed-json", 400)]),
        (b"[" * 100_000, Terms(), [("malformed-json", 400)]),
        (legal.replace(b"hola", b"\\ud83d"), Terms(), [("surrogate", 400)]),
    ]
    for raw, terms, expected in cases:
        assert expected == [(v.kind, v.status) for v in judge(raw, terms)[1]]


def test_errors_have_the_shape_of_their_dialect() -> None:
    [unknown] = violations(CASES["unknown-model"].bad, Terms())
    assert envelope(unknown, "openai") == {
        "error": {
            "message": "The model `other` does not exist or you do not have access to it.",
            "type": "invalid_request_error",
            "param": None,
            "code": "model_not_found",
        }
    }
    [bad_id] = violations(CASES["id-format"].bad, Terms(dialect="mistral"))
    assert envelope(bad_id, "mistral") == {
        "object": "error",
        "message": "Tool call id was call_1234 but must be a-z, A-Z, 0-9, with a length of 9.",
        "type": "invalid_function_call",
        "param": None,
        "code": "3280",
    }
    overflow = CASES["context-overflow"]
    terms = Terms(dialect="llamacpp", models=overflow.terms["models"])
    [long] = violations(overflow.bad, terms)
    error = envelope(long, "llamacpp")["error"]
    assert (error["code"], error["type"], error["n_ctx"]) == (400, "exceed_context_size_error", 100)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["role", "content", "tool_calls", "tool_call_id", "type", "function", "id", "image_url", "text"]
)
WORDS = st.sampled_from(["user", "assistant", "tool", "text", "image_url", "function", ""])
NEARLY = st.recursive(
    WORDS | JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner), max_leaves=20
)


@given(messages=NEARLY, tools=NEARLY, dialect=st.sampled_from(sorted(ALL)))
def test_any_json_at_all_is_judged_without_an_error_of_the_judge(messages: Any, tools: Any, dialect: Any) -> None:
    for violation in violations({"model": "test-model", "messages": messages, "tools": tools}, Terms(dialect=dialect)):
        assert violation.message
        json.dumps(envelope(violation, dialect))
