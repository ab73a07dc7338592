"""Messages of other versions, and of nobody, are read as the design says: old ones always, new ones as far as known."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Malformed
from shared.messages import conversation
from shared.messages.base import Codec, Unknown
from shared.messages.parts import Opaque
from tests.contract.golden import CASES, FAMILIES, IDS, TREES, TYPES, data_of, fields_of, tags_of, tree_of

every_case = pytest.mark.parametrize(("codec", "tag"), CASES, ids=IDS)
HOLOGRAM = {"type": "hologram", "mesh": "casa.glb"}
WITH_PARTS = [
    (codec, tag, key) for codec, tag in CASES for key in ("content", "attachments") if key in TREES.get(tag, {})
]


def test_every_message_has_a_golden_file_and_every_golden_file_a_message() -> None:
    assert sorted(TREES) == sorted(TYPES)


def test_every_message_can_be_read_by_some_codec() -> None:
    assert set(TYPES) == set().union(*(tags_of(codec) for codec in FAMILIES.values()))


@pytest.mark.parametrize("tag", TREES)
def test_a_golden_file_is_named_by_the_tag_it_holds(tag: str) -> None:
    assert TREES[tag]["type"] == tag


@every_case
def test_a_golden_message_decodes_and_encodes_to_the_same_tree(codec: Codec[Any], tag: str) -> None:
    # Defaults are not encoded, so an equal tree also proves that each field of the file differs from its default.
    message = codec.decode(data_of(TREES[tag]))
    assert type(message) is TYPES[tag]
    assert tree_of(message) == TREES[tag]
    assert tree_of(codec.decode(msgspec.json.encode(message))) == TREES[tag]


@pytest.mark.parametrize("tag", TYPES)
def test_a_golden_file_has_every_field(tag: str) -> None:
    missing: set[str] = set()
    _compare(msgspec.json.decode(data_of(TREES[tag]), type=TYPES[tag]), TREES[tag], missing)
    assert missing == set()


def _compare(value: Any, tree: Any, missing: set[str]) -> None:
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            if field.encode_name in tree:
                _compare(getattr(value, field.name), tree[field.encode_name], missing)
            else:
                missing.add(f"{type(value).__name__}.{field.name}")
    elif isinstance(value, list):
        for inner, inner_tree in zip(value, tree, strict=True):
            _compare(inner, inner_tree, missing)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _compare(inner, tree[key], missing)


@every_case
def test_a_message_with_its_required_fields_alone_decodes(codec: Codec[Any], tag: str) -> None:
    required = {name for name, field in fields_of(tag).items() if field.required}
    tree = {key: value for key, value in TREES[tag].items() if key in required | {"type"}}
    assert tree_of(codec.decode(data_of(tree))) == tree


@every_case
def test_fields_of_a_newer_version_are_ignored_at_every_level(codec: Codec[Any], tag: str) -> None:
    widened = _widen(codec.decode(data_of(TREES[tag])), TREES[tag])
    assert widened["added_later"] == {"deep": [1]}
    assert tree_of(codec.decode(data_of(widened))) == TREES[tag]


def _widen(value: Any, tree: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        known = {
            f.encode_name: _widen(getattr(value, f.name), tree[f.encode_name]) for f in msgspec.structs.fields(value)
        }
        return {**tree, **known, "added_later": {"deep": [1]}}
    if isinstance(value, list):
        return [_widen(inner, inner_tree) for inner, inner_tree in zip(value, tree, strict=True)]
    if isinstance(value, dict):
        return {key: _widen(inner, tree[key]) for key, inner in value.items()}
    return tree


@pytest.mark.parametrize("codec", FAMILIES.values(), ids=FAMILIES.keys())
def test_a_message_of_an_unknown_kind_is_kept_as_it_is(codec: Codec[Any]) -> None:
    data = data_of({"type": "log.turn_forked", "turn_id": "1-a", "content": [HOLOGRAM]})
    assert codec.decode(data) == Unknown(type="log.turn_forked", raw=data)


@pytest.mark.parametrize(
    ("codec", "tag", "key"), WITH_PARTS, ids=[f"{t}-{k}-{i}" for i, (_, t, k) in enumerate(WITH_PARTS)]
)
def test_a_content_part_of_an_unknown_kind_becomes_opaque_and_the_rest_stays(
    codec: Codec[Any], tag: str, key: str
) -> None:
    tree = {**TREES[tag], key: [*TREES[tag][key], HOLOGRAM]}
    message = codec.decode(data_of(tree))
    assert getattr(message, key)[-1] == Opaque(kind="hologram")
    assert tree_of(message) == {**tree, key: [*TREES[tag][key], {"type": "opaque", "kind": "hologram"}]}


def test_an_unknown_part_of_the_final_reply_becomes_opaque_too() -> None:
    final = {**TREES["log.turn_ended"]["final"], "content": [HOLOGRAM]}
    message = conversation.events.decode(data_of({**TREES["log.turn_ended"], "final": final}))
    assert isinstance(message, conversation.TurnEnded)
    assert message.final is not None
    assert message.final.content == [Opaque(kind="hologram")]


def test_values_of_tools_named_like_content_are_left_alone_beside_an_unknown_part() -> None:
    value = {"content": [{"type": "row", "cell": 1}], "attachments": ["a.txt"]}
    tree = {**TREES["tool.finished"], "content": [{"type": "json", "value": value}, HOLOGRAM]}
    message = conversation.events.decode(data_of(tree))
    assert isinstance(message, conversation.ToolFinished)
    assert tree_of(message.content[0]) == {"type": "json", "value": value}


@every_case
def test_a_known_message_without_a_required_field_is_malformed(codec: Codec[Any], tag: str) -> None:
    for name, field in fields_of(tag).items():
        if field.required:
            with pytest.raises(Malformed, match=rf"^{re.escape(tag)}: .*`{name}`"):
                codec.decode(data_of({key: value for key, value in TREES[tag].items() if key != name}))


@every_case
def test_a_known_message_with_a_field_of_another_type_is_malformed(codec: Codec[Any], tag: str) -> None:
    for name, field in fields_of(tag).items():
        if field.type not in (Any, msgspec.Raw):
            wrong = 5 if isinstance(TREES[tag][name], str) else "five"
            with pytest.raises(Malformed, match=rf"^{re.escape(tag)}: .*`\$\.{name}`"):
                codec.decode(data_of({**TREES[tag], name: wrong}))


NO_MESSAGES = {
    "nothing": b"",
    "no text at all": b"\xff\xfe",
    "no JSON": b"hola",
    "half a message": b'{"type": "text", "text": "a',
    "two messages": b'{"type": "text", "text": "a"}' * 2,
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "no type": b'{"words": "hola"}',
    "a type that is no text": b'{"type": 7}',
    "broken UTF-8": b'{"type": "text", "text": "\xc3"}',
    "half a surrogate pair": b'{"type": "text", "text": "\\ud83d"}',
    "a number no machine holds": b'{"type": "text", "text": 1e999}',
    "brackets without end": b"[" * 100_000,
    "an unknown kind, nested without end": b'{"type": "new", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a known kind, nested without end": b'{"type": "json", "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("data", NO_MESSAGES.values(), ids=NO_MESSAGES.keys())
@pytest.mark.parametrize("codec", FAMILIES.values(), ids=FAMILIES.keys())
def test_what_is_no_message_is_malformed_and_nothing_else(codec: Codec[Any], data: bytes) -> None:
    with pytest.raises(Malformed):
        codec.decode(data)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "at"]), inner),
    max_leaves=8,
)


@given(
    tag=st.sampled_from(sorted(TREES)), change=st.dictionaries(st.text(max_size=8), _json, max_size=2), data=st.data()
)
def test_no_change_of_a_message_breaks_a_reader(tag: str, change: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(TREES[tag])))
    tree = {**TREES[tag], name: data.draw(_json), **change}
    for codec in FAMILIES.values():
        try:
            message = codec.decode(msgspec.json.encode(tree))
        except Malformed:
            continue
        if not isinstance(message, Unknown):
            assert tree_of(codec.decode(msgspec.json.encode(message))) == tree_of(message)
