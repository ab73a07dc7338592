"""Scripts: what they may say, which rule answers, and what a reply looks like, all without a server."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.model_server import Call, Fault, Reply, Rule, Script, TextMatch, When, load
from tests.support.model_server.matching import choose, facts_of
from tests.support.model_server.replies import as_chunks, complete
from tests.support.model_server.terms import JsonObject

TOOL = {"type": "function", "function": {"name": "note_save"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "note_save", "arguments": "{}"}}
SYSTEM = {"role": "system", "content": "Eres Jada."}
ASK = {"role": "user", "content": [{"type": "text", "text": "Guarda una nota: comprar pan"}]}
CALLED: list[JsonObject] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "saved 7"},
]


def asked(*messages: JsonObject) -> JsonObject:
    return {"model": "test-model", "messages": list(messages), "tools": [TOOL]}


BEFORE = asked(SYSTEM, ASK)
AFTER = asked(SYSTEM, ASK, *CALLED)
NEXT_TURN = asked(
    SYSTEM, ASK, *CALLED, {"role": "assistant", "content": "Listo"}, {"role": "user", "content": "gracias"}
)


@pytest.mark.parametrize(
    ("when", "matching", "other"),
    [
        (When(last_user="GUARDA"), BEFORE, NEXT_TURN),
        (When(last_user=TextMatch(regex="^gra")), NEXT_TURN, BEFORE),
        (When(system="jada"), BEFORE, asked(ASK)),
        (When(model="test-model"), BEFORE, BEFORE | {"model": "other"}),
        (When(tool_results_since_user=0), NEXT_TURN, AFTER),
        (When(tool_results_since_user=1), AFTER, BEFORE),
        (When(offered="note_save"), BEFORE, BEFORE | {"tools": []}),
        (When(has_result_of="note_save"), AFTER, NEXT_TURN),
        (When(last_result="saved"), AFTER, BEFORE),
        (When(has_image=False), BEFORE, None),
        (When(last_user="nota", tool_results_since_user=1), AFTER, BEFORE),
    ],
)
def test_conditions_hold_for_what_they_describe_only(
    when: When, matching: JsonObject, other: JsonObject | None
) -> None:
    rules = (Rule(when=when, reply=Reply(text="x")),)
    assert choose(rules, facts_of(matching), [0]).at == 0
    if other is not None:
        assert choose(rules, facts_of(other), [0]).at == -1


def test_the_first_matching_rule_that_is_not_used_up_answers() -> None:
    rules = (
        Rule(name="once", fault=Fault(status=503), times=1),
        Rule(name="then", reply=Reply(text="x")),
        Rule(name="never", reply=Reply(text="y")),
    )
    assert [choose(rules, facts_of(BEFORE), [used, 0, 0]).at for used in (0, 1)] == [0, 1]


def test_placeholders_are_filled_from_the_request_and_from_named_groups() -> None:
    rule = Rule(
        when=When(last_user=TextMatch(regex="nota: (?P<title>.+)")),
        reply=Reply(
            text="{count}: {last_result} {not json}", calls=(Call(name="note_save", arguments={"a": ["{title}"]}),)
        ),
    )
    choice = choose((rule,), facts_of(AFTER), [0])
    assert rule.reply is not None
    completion = complete(rule.reply, choice.values, AFTER, dialect="openai", created=0)
    assert completion.text == "1: saved 7 {not json}"
    assert completion.calls[0]["function"]["arguments"] == '{"a": ["comprar pan"]}'


def test_the_same_request_gets_the_same_ids_and_another_gets_others() -> None:
    reply = Reply(calls=(Call(name="note_save"), Call(name="note_save")))

    def ids(body: JsonObject) -> list[str]:
        return [call["id"] for call in complete(reply, {}, body, dialect="mistral", created=0).calls]

    assert ids(BEFORE) == ids(BEFORE)
    assert len({*ids(BEFORE), *ids(AFTER)}) == 4
    assert {len(call_id) for call_id in ids(BEFORE)} == {9}


def test_mistral_reports_usage_with_the_finish_reason() -> None:
    completion = complete(Reply(text="hola"), {}, BEFORE, dialect="mistral", created=0)
    last = as_chunks(completion, usage=False, usage_in_last=True)[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"]["total_tokens"] > 0


FILE = """
key = "sk-test"

[terms]
dialect = "groq"
models = [{ id = "big", context_window = 1000 }]

[[rules]]
name = "busy"
times = 2
[rules.when]
last_user = "hola"
[rules.fault]
status = 429
retry_after_s = 0.5

[[rules]]
when = { last_user = { regex = "suma (?P<a>\\\\d+)" }, offered = "add" }
reply = { calls = [{ name = "add", arguments = { a = "{a}" } }] }
"""


def test_a_script_is_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(FILE)
    script = load(path)
    assert (script.key, script.terms.dialect, script.terms.models[0].id) == ("sk-test", "groq", "big")
    assert script.rules[0].fault == Fault(status=429, retry_after_s=0.5)
    assert script.rules[1].reply == Reply(calls=(Call(name="add", arguments={"a": "{a}"}),))


@pytest.mark.parametrize(
    ("wrong", "naming"),
    [
        ({"rulez": []}, "rulez"),
        ({"rules": [{"when": {"last_usr": "x"}, "reply": {}}]}, "last_usr"),
        ({"rules": [{"name": "idle"}]}, "idle"),
        ({"rules": [{"reply": {"text": "{lastuser}"}}]}, "lastuser"),
        ({"rules": [{"fault": {"hang": True, "garbage": True}}]}, "hang and garbage"),
        ({"rules": [{"fault": {"body": "x"}}]}, "go with a status"),
        ({"rules": [{"when": {"system": {"regex": "("}}, "reply": {}}]}, "bad regular expression"),
        ({"terms": {"dialect": "cobol"}}, "cobol"),
        ({"terms": {"models": []}}, "at least one model"),
    ],
)
def test_a_script_that_makes_no_sense_is_refused_with_the_reason(wrong: Any, naming: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=naming):
        msgspec.convert(wrong, Script)
