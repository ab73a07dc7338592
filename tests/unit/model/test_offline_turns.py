"""What the offline model answers after its calls."""

import pytest

from shared.messages.parts import BlobRef, Text
from shared.model.client import OpenAIChat
from shared.model.types import ChatMessage, UserTurn
from tests.unit.model.offline_turns import BANK, BREAD, CLOTHES, ask, call, called, said, user

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


STAMP = "[lunes 2026-11-30 19:05 America/Bogota]"


async def test_the_time_before_a_message_is_no_part_of_it(model: OpenAIChat) -> None:
    assert called(await ask(model, [user(f"{STAMP} apunta que llueve")])) == [("note_save", {"text": "llueve"})]
    answer = (await ask(model, [user(f"{STAMP} ¿qué hora es?")])).text
    assert answer.startswith("Según la hora de tu mensaje: lunes 2026-11-30 19:05")


async def test_a_due_reminder_is_told(model: OpenAIChat) -> None:
    greeted: list[ChatMessage] = [user("hola"), said("¡Hola!")]
    reply = await ask(model, [user(f"{STAMP} [venció un recordatorio: sacar la ropa]")], (greeted,))
    assert reply.text == "⏰ Recordatorio: sacar la ropa"
    reply = await ask(model, [user("[Monday 2026-11-30 19:05 UTC] [a reminder fell due: call mum at 5]")], (greeted,))
    assert reply.text == "⏰ Reminder: call mum at 5"


async def test_notes_of_the_renderer_are_no_words_of_the_user(model: OpenAIChat) -> None:
    saved = call("note_save", {"text": "llueve"}, {"saved": {"id": "n9", "text": "llueve"}})
    last = user("[Último paso: responde ahora con lo que tienes, sin más herramientas, y di qué falta.]")
    reply = await ask(model, [user(f"{STAMP} apunta que llueve"), *saved, last], ([user("a"), said("b")],))
    assert reply.text == "Guardé la nota: «llueve»."


async def test_an_attachment_is_no_part_of_a_note(model: OpenAIChat) -> None:
    image = BlobRef(sha256="ab", media_type="image/png", bytes=9, name="sol.png")
    reply = await ask(model, [UserTurn(content=[Text(text="apunta que hay sol"), image])])
    assert called(reply) == [("note_save", {"text": "hay sol"})]


async def test_a_message_that_arrives_mid_turn_is_answered_too(model: OpenAIChat) -> None:
    saved = call("note_save", {"text": "llueve"}, {"saved": {"id": "n9", "text": "llueve"}})
    reply = await ask(model, [user("apunta que llueve"), *saved, user("y mis notas")])
    assert called(reply) == [("note_list", {})]


async def test_a_reply_counts_tokens_and_costs_nothing(model: OpenAIChat) -> None:
    reply = await ask(model, [user("hola")])
    assert reply.usage.tokens_in > 0
    assert reply.usage.tokens_out > 0
    assert (reply.cost_usd, reply.model, reply.attempts) == (0.0, "offline", 1)
