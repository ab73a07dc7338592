"""Tools declared from typed functions: schema, defaults, and what a model is told about wrong arguments."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from services.tools import groups
from services.tools.context import ToolContext
from services.tools.declare import BadArguments, Group, Tool
from services.tools.registry import UnknownGroup, find_groups
from tests.support.model_server import Terms, violations

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOTES = Path(next(iter(groups.__path__))) / "notes"


async def sample(
    context: ToolContext,
    text: Annotated[str, Meta(description="What.", min_length=1, max_length=5)],
    kind: Literal["a", "b"] = "a",
    limit: Annotated[int, Meta(ge=1, le=9)] = 3,
    tags: list[str] | None = None,
) -> Any:
    """Do a thing.

    More about it.
    """
    return context, text, kind, limit, tags


TOOL = Tool(sample, side_effects="reversible", deadline_s=5.0)


def test_the_schema_comes_from_the_annotations() -> None:
    assert TOOL.parameters == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What.", "minLength": 1, "maxLength": 5},
            "kind": {"enum": ["a", "b"], "default": "a"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_the_declaration_says_what_the_function_is() -> None:
    declared = TOOL.declared()
    assert (declared.name, declared.description) == ("sample", "Do a thing.\n\nMore about it.")
    assert (declared.side_effects, declared.deadline_s) == ("reversible", 5.0)
    assert msgspec.json.decode(declared.parameters) == TOOL.parameters


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (b'{"text":"x"}', {"text": "x", "kind": "a", "limit": 3, "tags": None}),
        (b'{"text":"x","limit":9,"tags":["t"]}', {"text": "x", "kind": "a", "limit": 9, "tags": ["t"]}),
        (b' {"kind":"b","text":"\\u00f1"}\n', {"text": "ñ", "kind": "b", "limit": 3, "tags": None}),
    ],
)
def test_good_arguments_get_their_defaults(arguments: bytes, expected: dict[str, Any]) -> None:
    assert TOOL.check(msgspec.Raw(arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b"{}", "text"),
        (b'{"text":""}', "text"),
        (b'{"text":"too long"}', "text"),
        (b'{"text":5}', "text"),
        (b'{"text":"x","limit":"3"}', "limit"),
        (b'{"text":"x","limit":0}', "limit"),
        (b'{"text":"x","kind":"c"}', "kind"),
        (b'{"text":"x","colour":"red"}', "colour"),
        (b"[]", "object"),
        (b"null", "object"),
        (b'{"text":', "truncated"),
        (b"", "truncated"),
        (b'{"text":"\xff"}', "wrong arguments"),
        (b'{"text":"\\ud83d"}', "wrong arguments"),
        (b"[" * 100_000, "wrong arguments"),
    ],
)
def test_wrong_arguments_are_answered_with_the_reason_and_the_schema(arguments: bytes, told: str) -> None:
    with pytest.raises(BadArguments) as caught:
        TOOL.check(msgspec.Raw(arguments))
    assert told in str(caught.value)
    assert str(caught.value).startswith("wrong arguments for sample: ")
    assert '"required":["text"]' in str(caught.value)


def test_a_group_without_its_configuration_says_what_is_missing() -> None:
    group = Group("g", titles={"es": "G", "en": "G"}, folder=NOTES, needs=["mail.host", "mail.key"])
    declared = group.declared(lambda name: name == "mail.host", at=AT)
    assert (declared.configured, declared.missing) == (False, ["mail.key"])
    assert group.declared(lambda _: True, at=AT).configured


@pytest.mark.parametrize("group", find_groups(), ids=lambda group: group.name)
def test_every_shipped_group_can_be_offered_to_any_provider(group: Group) -> None:
    declared = group.declared(lambda _: True, at=AT)
    tools = [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": msgspec.json.decode(t.parameters)},
        }
        for t in declared.tools
    ]
    body = {"model": "test-model", "messages": [{"role": "user", "content": "hola"}], "tools": tools}
    for dialect in ("openai", "mistral", "groq", "llamacpp"):
        assert violations(body, Terms(dialect=dialect)) == []  # type: ignore[arg-type]
    assert all(t.description for t in declared.tools)
    assert declared.title.keys() == declared.phrases.keys() == {"es", "en"}


def test_no_two_shipped_tools_share_a_name() -> None:
    names = [name for group in find_groups() for name in group.tools]
    assert len(names) == len(set(names))


def test_groups_are_found_by_name_and_an_unknown_one_is_told_with_those_there_are() -> None:
    assert [group.name for group in find_groups(["notes"])] == ["notes"]
    with pytest.raises(UnknownGroup, match=r"no tool group gym2; there are: .*notes"):
        find_groups(["notes", "gym2"])
