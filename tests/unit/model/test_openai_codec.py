"""Requests on the wire: golden bytes, sharing of encoded history, and the rules of each dialect."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.messages.parts import BlobRef, Json, Opaque, Part, Text
from shared.model.call_ids import wire_call_id
from shared.model.dialects import DIALECTS, Dialect
from shared.model.openai_codec import OpenAICodec
from shared.model.types import AssistantTurn, Block, Call, ChatMessage, ChatRequest, ToolSpec, ToolTurn, UserTurn
from tests.support.model_server.rules import violations
from tests.support.model_server.terms import Terms

CALL_ID = "1234-01939f2e7b7c7a0b8c1d2e3f4a5b6c7d.0.1"
OPENAI = DIALECTS["openai"]
NOTE = ToolSpec(
    name="note_save",
    description="Saves a note.",
    parameters=msgspec.Raw(b'{"type":"object","properties":{"text":{"type":"string"}}}'),
)
IMAGE = BlobRef(sha256="ab" * 32, media_type="image/png", bytes=10, name="sol.png", width=640, height=480)


def user(*parts: Part | str) -> UserTurn:
    return UserTurn(content=[Text(text=part) if isinstance(part, str) else part for part in parts])


def said(text: str) -> AssistantTurn:
    return AssistantTurn(content=[Text(text=text)])


def call(name: str = "note_save", arguments: bytes = b'{"text":"sol"}', call_id: str = CALL_ID) -> AssistantTurn:
    return AssistantTurn(calls=[Call(call_id=call_id, name=name, arguments=msgspec.Raw(arguments))])


def result(content: str = '{"saved":{"id":"n1"}}', call_id: str = CALL_ID) -> ToolTurn:
    return ToolTurn(call_id=call_id, name="note_save", content=content)


def request(*current: ChatMessage, history: tuple[Block, ...] = (), **options: Any) -> ChatRequest:
    defaults: dict[str, Any] = {"system": "Eres Jada.", "tools": (), "max_tokens": 256}
    return ChatRequest(**{**defaults, **options}, history=history, current=current)


def encoded(asked: ChatRequest, dialect: Dialect = OPENAI, *, stream: bool = False) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(OpenAICodec(dialect, "m").encode(asked, stream=stream))
    return tree


def test_a_whole_turn_has_these_bytes() -> None:
    block = Block((user("apunta sol"), call(), result(), said("Hecho.")), 10)
    asked = request(user("¿y ahora?"), history=(block,), tools=(NOTE,))
    assert (
        '{"model":"m","messages":[{"role":"system","content":"Eres Jada."},'
        '{"role":"user","content":"apunta sol"},'
        '{"role":"assistant","content":null,"tool_calls":[{"id":"call_qym66u33qhlscq5gctzd7mt3","type":"function",'
        '"function":{"name":"note_save","arguments":"{\\"text\\":\\"sol\\"}"}}]},'
        '{"role":"tool","tool_call_id":"call_qym66u33qhlscq5gctzd7mt3","content":"{\\"saved\\":{\\"id\\":\\"n1\\"}}"},'
        '{"role":"assistant","content":"Hecho."},{"role":"user","content":"¿y ahora?"}],'
        '"tools":[{"type":"function","function":{"name":"note_save","description":"Saves a note.",'
        '"parameters":{"type":"object","properties":{"text":{"type":"string"}}}}}],"max_completion_tokens":256}'
    ).encode() == OpenAICodec(OPENAI, "m").encode(asked, stream=False)


def test_a_finished_turn_is_encoded_once_and_its_bytes_are_reused() -> None:
    class Counting(list[Part]):
        reads = 0

        def __iter__(self) -> Any:
            Counting.reads += 1
            return super().__iter__()

    block = Block((UserTurn(content=Counting([Text(text="hola")])), said("¡Hola!")), 2)
    codec = OpenAICodec(OPENAI, "m")
    first = codec.encode(request(user("a"), history=(block,)), stream=False)
    reads = Counting.reads
    second = codec.encode(request(user("b"), history=(block,)), stream=False)
    assert reads == Counting.reads > 0
    assert list(block.wire) == ["openai/openai/text"]
    assert first.replace(b'"a"', b'"b"') == second


def test_dialects_and_image_abilities_keep_their_bytes_apart() -> None:
    block = Block((user("mira", IMAGE), said("Un sol.")), 2)
    asked = request(user("a"), history=(block,))
    for codec in (
        OpenAICodec(OPENAI, "m"),
        OpenAICodec(OPENAI, "m", image_url=lambda _: "data:image/png;base64,AAAA"),
        OpenAICodec(DIALECTS["mistral"], "m"),
        OpenAICodec(DIALECTS["deepseek"], "m", image_url=lambda _: "data:image/png;base64,AAAA"),
    ):
        codec.encode(asked, stream=False)
    assert sorted(block.wire) == [
        "openai/deepseek/text",
        "openai/mistral/text",
        "openai/openai/images",
        "openai/openai/text",
    ]
    assert b"image_url" in block.wire["openai/openai/images"]
    assert b"image_url" not in block.wire["openai/deepseek/text"]


def test_a_tool_list_is_encoded_once_per_tuple() -> None:
    codec = OpenAICodec(OPENAI, "m")
    tools = (NOTE,)
    first = codec._tools(tools)
    assert codec._tools(tools) is first
    assert codec._tools((NOTE,)) == first


@pytest.mark.parametrize(
    ("dialect", "pattern"),
    [("openai", r"call_[a-z2-7]{24}"), ("mistral", r"[a-z2-7]{9}"), ("gemini", r"call_[a-z2-7]{24}")],
)
def test_a_call_id_is_mapped_alike_on_both_sides(dialect: str, pattern: str) -> None:
    messages = encoded(request(user("a"), call(), result()), DIALECTS[dialect])["messages"]
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"]
    assert re.fullmatch(pattern, messages[3]["tool_call_id"])


def test_different_calls_get_different_ids() -> None:
    ids = {
        wire_call_id(f"12-0193.{step}.{position}", DIALECTS["mistral"]) for step in range(100) for position in range(9)
    }
    assert len(ids) == 900


CONTENTS: list[tuple[tuple[Part | str, ...], str]] = [
    (("hola",), "hola"),
    (("a", "b"), "a\nb"),
    (("",), "(empty)"),
    (("  \n\t ",), "(empty)"),
    (("a", " ", "b"), "a\nb"),
    ((), "(empty)"),
    (("a\x00b\ud83dc\r\nd",), "abc\nd"),
    ((Json(value={"a": [1, None]}),), '{"a":[1,null]}'),
    ((Opaque(kind="audio"),), "[a part of kind 'audio' that cannot be shown]"),
    (("mira", IMAGE), f"mira\n[image sol.png, 640x480, stored as blob:{'ab' * 32}]"),
    (
        (BlobRef(sha256="cd", media_type="application/pdf", bytes=9, name="a.pdf", note="3 pages"),),
        "[file a.pdf, application/pdf, 9 bytes, stored as blob:cd] 3 pages",
    ),
]


@pytest.mark.parametrize(("parts", "text"), CONTENTS)
def test_parts_become_clean_visible_text(parts: tuple[Part | str, ...], text: str) -> None:
    assert encoded(request(user(*parts)))["messages"][1]["content"] == text


def test_an_image_is_sent_when_a_loader_gives_it_and_noted_when_not() -> None:
    other = msgspec.structs.replace(IMAGE, sha256="00", name="otra.png")
    codec = OpenAICodec(OPENAI, "m", image_url=lambda blob: "data:image/png;base64,AA" if blob is IMAGE else None)
    content = json.loads(codec.encode(request(user("mira", IMAGE, other)), stream=False))["messages"][1]["content"]
    assert content == [
        {"type": "text", "text": "mira"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        {"type": "text", "text": "[image otra.png, 640x480, stored as blob:00]"},
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (b'{"a":1}', '{"a":1}'),
        (b"[]", "{}"),
        (b"null", "{}"),
        (b"", "{}"),
        (b'{"a":"x\\u0000y\\ud83d"}', '{"a":"xy"}'),
        (b'{"a":"\\u00f1"}', '{"a":"\xf1"}'),
    ],
)
def test_past_arguments_are_a_clean_object(arguments: bytes, text: str) -> None:
    message = encoded(request(user("a"), call(arguments=arguments), result()))["messages"][2]
    assert message["tool_calls"][0]["function"]["arguments"] == text


def test_an_illegal_name_of_a_past_call_is_made_legal() -> None:
    message = encoded(request(user("a"), call(name="notas/guardar ñ" + "x" * 80), result()))["messages"][2]
    assert message["tool_calls"][0]["function"]["name"] == ("notas_guardar__" + "x" * 80)[:64]


def test_a_blank_result_is_visible() -> None:
    assert encoded(request(user("a"), call(), result(" \n")))["messages"][3]["content"] == "(empty)"


def test_the_words_of_options_follow_the_dialect() -> None:
    asked = request(user("a"), tools=(NOTE,), tool_choice="required", temperature=0.5)
    openai = encoded(asked, stream=True)
    assert openai["tool_choice"] == "required"
    assert openai["stream_options"] == {"include_usage": True}
    assert openai["temperature"] == 0.5
    mistral = encoded(asked, DIALECTS["mistral"], stream=True)
    assert mistral["tool_choice"] == "any"
    assert mistral["max_tokens"] == 256
    assert "stream_options" not in mistral
    assert encoded(asked, DIALECTS["llamacpp"])["parallel_tool_calls"] is True
    assert "tool_choice" not in encoded(request(user("a"), tool_choice="required"))


def test_gemini_gets_its_stand_in_signature() -> None:
    messages = encoded(request(user("a"), call(), result()), DIALECTS["gemini"])["messages"]
    assert messages[2]["tool_calls"][0]["extra_content"]["google"]["thought_signature"]


def test_more_tools_than_allowed_are_cut() -> None:
    tools = tuple(msgspec.structs.replace(NOTE, name=f"t{n}") for n in range(200))
    assert len(encoded(request(user("a"), tools=tools))["tools"]) == 128


def roles(asked: ChatRequest, dialect: str) -> list[str]:
    return [message["role"] for message in encoded(asked, DIALECTS[dialect])["messages"]]


def test_neighbours_of_one_role_are_merged_where_they_must_be_also_across_turns() -> None:
    history = (Block((user("a"),), 1), Block((user("b"), said("c")), 1), Block((said("d"),), 1))
    asked = request(user("e"), user("f"), history=history)
    assert roles(asked, "openai") == ["system", "user", "user", "assistant", "assistant", "user", "user"]
    assert roles(asked, "llamacpp") == ["system", "user", "assistant", "user"]
    assert encoded(asked, DIALECTS["llamacpp"])["messages"][1]["content"] == "a\nb"


def test_mistral_gets_a_bridge_between_a_result_and_a_user_message() -> None:
    history = (Block((user("a"), call(), result()), 1),)
    asked = request(user("b"), history=history)
    assert roles(asked, "mistral") == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert roles(asked, "openai") == ["system", "user", "assistant", "tool", "user"]


texts = st.text(st.characters(), max_size=12)
parts = st.lists(
    st.one_of(
        texts.map(lambda t: Text(text=t)),
        st.dictionaries(st.text("ab", max_size=2), st.integers(-9, 9)).map(lambda v: Json(value=v)),
        st.just(IMAGE),
        st.just(Opaque(kind="x")),
    ),
    max_size=3,
)


@st.composite
def turns(draw: st.DrawFn) -> tuple[ChatMessage, ...]:
    number = draw(st.integers(0, 10**9))
    messages: list[ChatMessage] = [UserTurn(content=draw(parts))]
    for step in range(draw(st.integers(0, 2))):
        ids = [f"{number}-0193.{step}.{at}" for at in range(draw(st.integers(1, 3)))]
        calls = [Call(call_id=i, name=draw(texts), arguments=msgspec.Raw(draw(_arguments))) for i in ids]
        messages.append(AssistantTurn(content=draw(parts), calls=calls))
        messages.extend(ToolTurn(call_id=i, name="t", content=draw(texts)) for i in ids)
    return (*messages, AssistantTurn(content=draw(parts)))


_arguments = st.one_of(
    st.just(b"{}"), st.just(b"[]"), st.dictionaries(texts, texts).map(lambda v: json.dumps(v).encode())
)


def _first_call(messages: tuple[ChatMessage, ...]) -> object:
    calls = [call for message in messages if isinstance(message, AssistantTurn) for call in message.calls]
    return calls[0].call_id if calls else id(messages)


@pytest.mark.parametrize("dialect", ["openai", "mistral", "llamacpp"])
@settings(max_examples=40)
@given(history=st.lists(turns(), max_size=3, unique_by=_first_call), now=parts)
def test_any_paired_history_keeps_the_providers_rules(
    dialect: Any, history: list[tuple[ChatMessage, ...]], now: list[Part]
) -> None:
    blocks = tuple(Block(messages, 1) for messages in history)
    asked = request(UserTurn(content=now), history=blocks, tools=(NOTE,))
    codec = OpenAICodec(DIALECTS[dialect], "test-model")
    body = codec.encode(asked, stream=False)
    assert violations(json.loads(body), Terms(dialect=dialect)) == []
    assert codec.encode(asked, stream=False) == body
