"""What can be offered, and a model's calls held against it."""

import msgspec
import pytest

from services.agent.toolbox import Toolbox
from shared.messages.tools import GroupDeclared, ToolDeclared
from shared.model.types import ReplyCall
from tests.unit.agent.turns import AT

SCHEMA = msgspec.Raw(b'{"type":"object"}')


def group(name: str, *tools: str, configured: bool = True) -> GroupDeclared:
    declared = [
        ToolDeclared(name=t, description=t, parameters=SCHEMA, side_effects="reversible", deadline_s=7.0) for t in tools
    ]
    return GroupDeclared(group=name, tools=declared, at=AT, configured=configured)


BOX = Toolbox(
    [group("web", "web_search"), group("notes", "note_save", "note_list"), group("tv", "tv_on", configured=False)]
)


@pytest.mark.parametrize(
    ("switched_on", "expected"),
    [([], ["notes", "web"]), (["web"], ["web"]), (["tv", "web", "none"], ["web"]), (["tv"], [])],
)
def test_only_configured_groups_that_are_switched_on_are_allowed(switched_on: list[str], expected: list[str]) -> None:
    assert BOX.allowed(switched_on) == expected


def test_a_group_that_is_gone_or_not_configured_offers_nothing() -> None:
    assert [s.name for s in BOX.specs(["notes", "gone", "tv"])] == ["note_save", "note_list"]
    assert BOX.specs(["tv"]) == ()


def test_the_same_groups_give_the_same_list_so_that_it_is_encoded_once() -> None:
    assert BOX.specs(["notes", "web"]) is BOX.specs(["notes", "web"])


def resolve(*calls: ReplyCall, groups: tuple[str, ...] = ("notes",), most: int = 16) -> list[tuple[str, str, str]]:
    found = BOX.resolve(calls, turn_id="7-t", step=2, groups=groups, most=most)
    return [(one.call_id, one.group, one.refused) for one in found]


def test_a_good_call_gets_its_derived_id_and_the_tools_promises() -> None:
    arguments = msgspec.Raw(b'{"text":"x"}')
    found = BOX.resolve(
        [ReplyCall(name="note_save", arguments=arguments)], turn_id="7-t", step=2, groups=["notes"], most=1
    )[0]
    assert (found.call_id, found.group, found.refused) == ("7-t.2.0", "notes", "")
    assert (found.side_effects, found.deadline_s, bytes(found.arguments)) == ("reversible", 7.0, b'{"text":"x"}')


@pytest.mark.parametrize("name", ["note_sav", "NOTE_SAVE", "", "tv_on", "web_search", "note_save "])
def test_a_tool_that_is_not_offered_is_refused_with_the_ones_that_are(name: str) -> None:
    assert resolve(ReplyCall(name=name)) == [
        ("7-t.2.0", "", f"no such tool here: {name}; available: note_save, note_list")
    ]


def test_without_any_tool_the_refusal_says_so() -> None:
    assert resolve(ReplyCall(name="note_save"), groups=()) == [
        ("7-t.2.0", "", "no such tool here: note_save; available: none")
    ]


def test_malformed_arguments_are_refused_and_kept_as_written() -> None:
    found = BOX.resolve(
        [ReplyCall(name="note_save", malformed="{text: ")], turn_id="7-t", step=2, groups=["notes"], most=1
    )[0]
    assert found.refused == "the arguments were not a JSON object; call again with one"
    assert (found.malformed, bytes(found.arguments), found.group) == ("{text: ", b"{}", "")


def test_calls_over_the_limit_are_refused_and_the_first_ones_run() -> None:
    many = [ReplyCall(name="note_list")] * 4
    assert resolve(*many, most=2) == [
        ("7-t.2.0", "notes", ""),
        ("7-t.2.1", "notes", ""),
        ("7-t.2.2", "", "too many calls at once; call again with fewer"),
        ("7-t.2.3", "", "too many calls at once; call again with fewer"),
    ]
