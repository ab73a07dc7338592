"""Messages that mean something only after what was said before."""

from typing import Any

import pytest

from shared.model.client import OpenAIChat
from shared.model.types import (
    ChatMessage,
)
from tests.unit.model.offline_turns import BANK, BREAD, CLOTHES, ask, call, called, said, user

SAVED = [user("apunta que hay que comprar pan"), *call("note_save", {"text": "x"}, {"saved": BREAD}), said("Guardé…")]
LISTED = [user("mis notas"), *call("note_list", {}, {"notes": [BREAD, BANK], "total": 2}), said("Tienes 2 notas…")]
REMINDED = [user("recuérdame…"), *call("set_reminder", {}, {"reminder": CLOTHES}), said("Te recordaré…")]
CUT = [
    user("busca en mis notas pan"),
    *call(
        "note_search", {"query": "pan"}, '{"truncated": true, "ref": "out-12.0", "shown_chars": 20, "total_chars": 276}'
    ),
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


OLD = {**BREAD, "updated_at": "2026-11-01T10:00:00Z"}
NEW = {**BANK, "updated_at": "2026-11-30T10:00:00Z"}


@pytest.mark.parametrize("notes", [[OLD, NEW], [NEW, OLD]])
async def test_my_last_note_is_the_newest_in_whatever_order_it_is_listed(model: OpenAIChat, notes: list[Any]) -> None:
    start, listed = user("borra mi última nota"), call("note_list", {}, {"notes": notes, "total": 2})
    assert called(await ask(model, [start, *listed])) == [("note_delete", {"id": "n2"})]
    deleted = call("note_delete", {"id": "n2"}, {"deleted": NEW}, 1)
    assert (await ask(model, [start, *listed, *deleted], (LISTED,))).text == "Borré la nota «llamar al banco»."


@pytest.mark.parametrize(
    ("next_offset", "expected"), [(4000, [("read_result", {"ref": "o1", "offset": 4000})]), (None, [])]
)
async def test_reading_on_goes_from_page_to_page_and_ends(
    model: OpenAIChat, next_offset: int | None, expected: list[Any]
) -> None:
    page = {"text": "…", "offset": 0, "total_chars": 9000, "next_offset": next_offset}
    read = [user("muéstrame más"), *call("read_result", {"ref": "o1", "offset": 0}, page), said("…")]
    reply = await ask(model, [user("sigue leyendo")], (read,))
    assert called(reply) == expected
    assert expected or reply.text == "No queda nada más que leer."
