"""Turns of the offline model through the real client: calls, results, follow-ups, streamed and not."""

import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from shared.messages.parts import Text
from shared.model.client import OpenAIChat
from shared.model.discover import build, offline_config
from shared.model.types import (
    AssistantTurn,
    Block,
    Call,
    ChatMessage,
    ChatReply,
    ChatRequest,
    ToolSpec,
    ToolTurn,
    UserTurn,
)

PARAMETERS = {
    "note_save": ["text"],
    "note_list": [],
    "note_search": ["query"],
    "note_update": ["id", "text"],
    "note_delete": ["id"],
    "set_reminder": ["text", "when"],
    "list_reminders": [],
    "cancel_reminder": ["id"],
    "cancel_reminders": [],
    "recall": ["query"],
    "read_result": ["ref", "offset"],
}
TOOLS = tuple(
    ToolSpec(
        name=name,
        description=name,
        parameters=msgspec.Raw(
            json.dumps({"type": "object", "properties": {p: {} for p in needed}, "required": needed}).encode()
        ),
    )
    for name, needed in PARAMETERS.items()
)
BREAD = {"id": "n1", "text": "comprar pan"}
BANK = {"id": "n2", "text": "llamar al banco"}
CLOTHES = {"id": "r1", "text": "sacar la ropa", "local": "lunes 30 de noviembre de 2026, 19:25"}


def user(text: str) -> UserTurn:
    return UserTurn(content=[Text(text=text)])


def said(text: str) -> AssistantTurn:
    return AssistantTurn(content=[Text(text=text)])


def call(name: str, arguments: dict[str, Any], result: object, number: int = 0) -> list[ChatMessage]:
    call_id = f"7-0193.{number}"
    raw = msgspec.Raw(msgspec.json.encode(arguments))
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return [
        AssistantTurn(calls=[Call(call_id=call_id, name=name, arguments=raw)]),
        ToolTurn(call_id=call_id, name=name, content=text),
    ]


@pytest.fixture
async def model() -> AsyncIterator[OpenAIChat]:
    model = build(offline_config())
    yield model
    await model.aclose()


async def ask(model: OpenAIChat, current: list[ChatMessage], history: tuple[list[ChatMessage], ...] = ()) -> ChatReply:
    request = ChatRequest(
        system="You are Jada.",
        tools=TOOLS,
        history=tuple(Block(tuple(messages), 1) for messages in history),
        current=tuple(current),
        max_tokens=500,
    )
    reply = await model.complete(request, timeout_s=5)
    deltas: list[str] = []

    async def collect(delta: str) -> None:
        deltas.append(delta)

    streamed = await model.complete(request, timeout_s=5, on_delta=collect)
    assert (streamed.text, streamed.calls, streamed.finish) == (reply.text, reply.calls, reply.finish)
    assert "".join(deltas).strip() == reply.text
    return reply


def called(reply: ChatReply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, msgspec.json.decode(call.arguments)) for call in reply.calls]


ANSWERS: list[tuple[str, list[ChatMessage], str]] = [
    (
        "apunta que llueve",
        call("note_save", {"text": "llueve"}, {"saved": {"id": "n9", "text": "llueve"}}),
        "Guardé la nota: «llueve».",
    ),
    (
        "mis notas",
        call("note_list", {}, {"notes": [BREAD, BANK], "total": 2}),
        "Tienes 2 notas:\n1. comprar pan\n2. llamar al banco",
    ),
    (
        "mis notas",
        call("note_list", {}, {"notes": [BREAD, BANK], "total": 9}),
        "Tienes 9 notas:\n1. comprar pan\n2. llamar al banco\n… y 7 más.",
    ),
    ("mis notas", call("note_list", {}, {"notes": [], "total": 0}), "No encontré ninguna nota."),
    ("list my notes", call("note_list", {}, {"notes": [BREAD], "total": 1}), "You have one note: “comprar pan”."),
    (
        "recuérdame en 20 minutos sacar la ropa",
        call("set_reminder", {"text": "sacar la ropa", "when": "en 20 minutos"}, {"reminder": CLOTHES}),
        "Te recordaré «sacar la ropa»: lunes 30 de noviembre de 2026, 19:25.",
    ),
    (
        "mis recordatorios",
        call("list_reminders", {}, {"reminders": [CLOTHES]}),
        "Tienes un recordatorio: «sacar la ropa», lunes 30 de noviembre de 2026, 19:25.",
    ),
    ("cancel all my reminders", call("cancel_reminders", {}, {"cancelled": 2}), "I cancelled 2 reminders."),
    (
        "cancela todos mis recordatorios",
        call("cancel_reminders", {}, {"cancelled": 0}),
        "No había recordatorios que cancelar.",
    ),
    (
        "¿qué te dije de Ana?",
        call(
            "recall",
            {"query": "Ana"},
            {"found": [{"said_by": "user", "text": "Ana cumple en mayo", "at": "ayer"}], "total": 1},
        ),
        "Encontré esto: «Ana cumple en mayo» (ayer).",
    ),
    (
        "apunta que llueve",
        call("note_save", {"text": "llueve"}, {"error": "no queda sitio"}),
        "No se pudo hacer (note_save): no queda sitio",
    ),
    (
        "save this note: rain",
        call("note_save", {"text": "rain"}, '<data from="notes">{"error": {"message": "full"}}</data>'),
        "That could not be done (note_save): full",
    ),
    ("save this note: rain", call("note_save", {"text": "rain"}, "interrupted"), "note_save answered: interrupted"),
    (
        "borra la nota de pan",
        [
            *call("note_search", {"query": "pan"}, {"notes": [BREAD], "total": 1}),
            *call("note_delete", {"id": "n1"}, {"deleted": BREAD}, 1),
        ],
        "Borré la nota «comprar pan».",
    ),
    (
        "borra la nota de pan",
        call("note_search", {"query": "pan"}, {"notes": [], "total": 0}),
        "No encontré ninguna nota sobre «pan», así que no toqué nada.",
    ),
    (
        "cancela el recordatorio de la ropa",
        [
            *call("list_reminders", {}, {"reminders": [CLOTHES]}),
            *call("cancel_reminder", {"id": "r1"}, {"cancelled": CLOTHES}, 1),
        ],
        "Cancelé el recordatorio «sacar la ropa».",
    ),
    (
        "apunta que llueve y recuérdame en 20 minutos sacar la ropa",
        [
            *call("note_save", {"text": "llueve"}, {"saved": {"id": "n9", "text": "llueve"}}),
            *call("set_reminder", {"text": "sacar la ropa", "when": "en 20 minutos"}, {"reminder": CLOTHES}, 1),
        ],
        "Guardé la nota: «llueve».\nTe recordaré «sacar la ropa»: lunes 30 de noviembre de 2026, 19:25.",
    ),
]


@pytest.mark.parametrize(("text", "steps", "answer"), ANSWERS)
async def test_the_answer_is_written_from_the_results(
    model: OpenAIChat, text: str, steps: list[ChatMessage], answer: str
) -> None:
    reply = await ask(model, [user(text), *steps], ([user("hola"), said("¡Hola!")],))
    assert (reply.text, reply.calls) == (answer, ())


SAVED = [user("apunta que hay que comprar pan"), *call("note_save", {"text": "x"}, {"saved": BREAD}), said("Guardé…")]
LISTED = [user("mis notas"), *call("note_list", {}, {"notes": [BREAD, BANK], "total": 2}), said("Tienes 2 notas…")]
REMINDED = [user("recuérdame…"), *call("set_reminder", {}, {"reminder": CLOTHES}), said("Te recordaré…")]
CUT = [
    user("busca en mis notas pan"),
    *call("note_search", {"query": "pan"}, '{"truncated": true, "ref": "out-12.0", "shown": 20, "total": 276}'),
    said("…"),
]
WHICH = [
    user("borra la nota de comprar"),
    *call("note_search", {"query": "comprar"}, {"notes": [BREAD, {"id": "n3", "text": "comprar flores"}], "total": 2}),
    said("¿Cuál?"),
]
ASKED_WHEN: list[ChatMessage] = [user("recuérdame comprar pan"), said("¿Cuándo?")]

FOLLOW_UPS: list[tuple[list[ChatMessage], str, str, dict[str, Any]]] = [
    (SAVED, "bórrala", "note_delete", {"id": "n1"}),
    (SAVED, "y bórrala, por favor", "note_delete", {"id": "n1"}),
    (SAVED, "delete it", "note_delete", {"id": "n1"}),
    (SAVED, "borra esa nota", "note_delete", {"id": "n1"}),
    (SAVED, "cámbiala por comprar dos panes", "note_update", {"id": "n1", "text": "comprar dos panes"}),
    (SAVED, "change it to buy rye bread", "note_update", {"id": "n1", "text": "buy rye bread"}),
    (LISTED, "borra la segunda", "note_delete", {"id": "n2"}),
    (LISTED, "borra la segunda nota", "note_delete", {"id": "n2"}),
    (LISTED, "delete the second one", "note_delete", {"id": "n2"}),
    (LISTED, "delete the last note", "note_delete", {"id": "n2"}),
    (LISTED, "borra la nota 1", "note_delete", {"id": "n1"}),
    (LISTED, "borra la nota del banco", "note_delete", {"id": "n2"}),
    (LISTED, "borra la del banco", "note_delete", {"id": "n2"}),
    (LISTED, "cambia la nota del banco por ir al banco", "note_update", {"id": "n2", "text": "ir al banco"}),
    (REMINDED, "cancélalo", "cancel_reminder", {"id": "r1"}),
    (REMINDED, "cancel it", "cancel_reminder", {"id": "r1"}),
    (REMINDED, "cancela el recordatorio de la ropa", "cancel_reminder", {"id": "r1"}),
    (WHICH, "la segunda", "note_delete", {"id": "n3"}),
    (WHICH, "the second one", "note_delete", {"id": "n3"}),
    (WHICH, "la de flores", "note_delete", {"id": "n3"}),
    (ASKED_WHEN, "mañana a las 8", "set_reminder", {"text": "comprar pan", "when": "mañana a las 8"}),
    (CUT, "muéstrame más", "read_result", {"ref": "out-12.0", "offset": 20}),
    (CUT, "read more", "read_result", {"ref": "out-12.0", "offset": 20}),
]


@pytest.mark.parametrize(("before", "text", "tool", "arguments"), FOLLOW_UPS)
async def test_a_follow_up_means_what_the_last_results_showed(
    model: OpenAIChat, before: list[ChatMessage], text: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert called(await ask(model, [user(text)], (before,))) == [(tool, arguments)]


async def test_two_candidates_are_asked_about_not_guessed(model: OpenAIChat) -> None:
    reply = await ask(model, [user("bórrala")], (LISTED,))
    assert reply.text == "Hay varias notas posibles. ¿Cuál de ellas?\n1. comprar pan\n2. llamar al banco"


async def test_what_was_deleted_is_not_meant_by_it(model: OpenAIChat) -> None:
    deleted = [user("bórrala"), *call("note_delete", {"id": "n1"}, {"deleted": BREAD}), said("Borré…")]
    reply = await ask(model, [user("bórrala")], (SAVED, deleted))
    assert reply.text.startswith("No sé a qué nota te refieres")


async def test_a_wish_that_needs_the_one_before_waits_for_its_result(model: OpenAIChat) -> None:
    start = user("busca la nota del pan y bórrala")
    first = await ask(model, [start], (LISTED,))
    assert called(first) == [("note_search", {"query": "pan"})]
    searched = call("note_search", {"query": "pan"}, {"notes": [BREAD], "total": 1})
    second = await ask(model, [start, *searched], (LISTED,))
    assert called(second) == [("note_delete", {"id": "n1"})]
    deleted = call("note_delete", {"id": "n1"}, {"deleted": BREAD}, 1)
    last = await ask(model, [start, *searched, *deleted], (LISTED,))
    assert last.text == "Tienes una nota: «comprar pan».\nBorré la nota «comprar pan»."


async def test_two_deletions_in_one_message_keep_their_results_apart(model: OpenAIChat) -> None:
    start = user("borra la nota de pan y borra la nota de banco")
    searched = [
        *call("note_search", {"query": "pan"}, {"notes": [BREAD], "total": 1}),
        *call("note_search", {"query": "banco"}, {"notes": [BANK], "total": 1}, 1),
    ]
    reply = await ask(model, [start, *searched])
    assert called(reply) == [("note_delete", {"id": "n1"}), ("note_delete", {"id": "n2"})]


async def test_the_time_above_a_message_is_no_part_of_it(model: OpenAIChat) -> None:
    clock = "[lunes 30 de noviembre de 2026, 19:05, America/Bogota]\n"
    assert called(await ask(model, [user(f"{clock}apunta que llueve")])) == [("note_save", {"text": "llueve"})]
    answer = (await ask(model, [user(f"{clock}¿qué hora es?")])).text
    assert answer.startswith("Según la hora de tu mensaje: lunes 30 de noviembre de 2026, 19:05")


async def test_a_message_that_arrives_mid_turn_is_answered_too(model: OpenAIChat) -> None:
    saved = call("note_save", {"text": "llueve"}, {"saved": {"id": "n9", "text": "llueve"}})
    reply = await ask(model, [user("apunta que llueve"), *saved, user("y mis notas")])
    assert called(reply) == [("note_list", {})]


async def test_a_reply_counts_tokens_and_costs_nothing(model: OpenAIChat) -> None:
    reply = await ask(model, [user("hola")])
    assert reply.usage.tokens_in > 0
    assert reply.usage.tokens_out > 0
    assert (reply.cost_usd, reply.model, reply.attempts) == (0.0, "offline", 1)
