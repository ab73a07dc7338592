"""What people write and what the offline model does with it, in both languages."""

from typing import Any

import pytest

from shared.model.offline.chat import Chat
from shared.model.offline.machine import decide
from shared.model.offline.plan import Call


def _schema(*required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": {n: {} for n in (*required, *optional)}, "required": list(required)}


OFFERED = {
    "note_save": _schema("text"),
    "note_list": _schema(optional=("limit",)),
    "note_search": _schema("query", optional=("limit",)),
    "note_update": _schema("id", "text"),
    "note_delete": _schema("id"),
    "set_reminder": _schema("text", "when"),
    "list_reminders": _schema(),
    "cancel_reminder": _schema("id"),
    "cancel_reminders": _schema(),
    "recall": _schema("query"),
    "read_result": _schema("ref", optional=("offset",)),
}


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in decide(Chat(texts=[text], offered=OFFERED)).calls]


Utterance = tuple[str, str | None, dict[str, Any]]

SAVE = "note_save"
NOTES: list[Utterance] = [
    ("guarda esta nota: comprar pan", SAVE, {"text": "comprar pan"}),
    ("Guarda esta nota: comprar pan y leche, y huevos.", SAVE, {"text": "comprar pan y leche, y huevos."}),
    ("guárdame una nota: el wifi es Casa123", SAVE, {"text": "el wifi es Casa123"}),
    ("crea una nota que diga llamar al banco", SAVE, {"text": "llamar al banco"}),
    ("apunta que mañana viene Luis", SAVE, {"text": "mañana viene Luis"}),
    ("Apunta: regar las plantas", SAVE, {"text": "regar las plantas"}),
    ("apúntame comprar bombillas", SAVE, {"text": "comprar bombillas"}),
    ("anota que la clave de la taquilla es 4512", SAVE, {"text": "la clave de la taquilla es 4512"}),
    ("toma nota de que el coche está en el taller", SAVE, {"text": "el coche está en el taller"}),
    ("toma nota: pagar el alquiler", SAVE, {"text": "pagar el alquiler"}),
    ("Hola Jada, por favor, guarda una nota: «pedir cita»", SAVE, {"text": "pedir cita"}),
    ("¿puedes guardar esta nota: comprar café?", SAVE, {"text": "comprar café?"}),
    ("nota: ideas para el regalo", SAVE, {"text": "ideas para el regalo"}),
    ("quiero que guardes esta nota: sacar la basura", SAVE, {"text": "sacar la basura"}),
    ("save this note: buy milk", SAVE, {"text": "buy milk"}),
    ("Please save a note: the door code is 99", SAVE, {"text": "the door code is 99"}),
    ("note that Ana prefers tea", SAVE, {"text": "Ana prefers tea"}),
    ("make a note to call the bank", SAVE, {"text": "call the bank"}),
    ("take a note: return the books", SAVE, {"text": "return the books"}),
    ("write down that the meeting moved", SAVE, {"text": "the meeting moved"}),
    ("can you jot down: size 42 shoes", SAVE, {"text": "size 42 shoes"}),
    ("¿Qué notas tengo?", "note_list", {}),
    ("mis notas", "note_list", {}),
    ("muéstrame mis notas, por favor", "note_list", {}),
    ("lista las notas", "note_list", {}),
    ("¿cuáles son mis notas?", "note_list", {}),
    ("dame mis últimas 3 notas", "note_list", {"limit": 3}),
    ("ver todas mis notas", "note_list", {}),
    ("list my notes", "note_list", {}),
    ("Show me all my notes", "note_list", {}),
    ("what notes do I have?", "note_list", {}),
    ("show my last five notes", "note_list", {"limit": 5}),
    ("do I have any notes?", "note_list", {}),
    ("busca en mis notas el wifi", "note_search", {"query": "wifi"}),
    ("busca la nota del banco", "note_search", {"query": "banco"}),
    ("¿tengo alguna nota sobre el dentista?", "note_search", {"query": "dentista"}),
    ("qué notas tengo de cocina", "note_search", {"query": "cocina"}),
    ("search my notes for wifi", "note_search", {"query": "wifi"}),
    ("find the note about the dentist", "note_search", {"query": "dentist"}),
    ("do I have a note about shoes?", "note_search", {"query": "shoes"}),
    ("borra la nota de pan", "note_search", {"query": "pan"}),
    ("elimina mi nota sobre el banco", "note_search", {"query": "banco"}),
    ("delete the note about milk", "note_search", {"query": "milk"}),
    ("delete the milk note", "note_search", {"query": "milk"}),
    ("borra mi última nota", "note_list", {}),
    ("elimina la nota 2", "note_list", {}),
    ("apunta en mis notas que debo 20 euros", SAVE, {"text": "debo 20 euros"}),
    ("guarda en una nota que el código es 12", SAVE, {"text": "el código es 12"}),
    ("borra la nota covid19", "note_search", {"query": "covid19"}),
    ("borra la nota n7f3", "note_delete", {"id": "n7f3"}),
    ("delete note n7f3", "note_delete", {"id": "n7f3"}),
    ("actualiza la nota n7f3: comprar dos panes", "note_update", {"id": "n7f3", "text": "comprar dos panes"}),
    ("cambia la nota de llamar a Ana por llamar a Luis", "note_search", {"query": "llamar a Ana"}),
    ("change the note about milk to say buy oat milk", "note_search", {"query": "milk"}),
    ("update note n7f3: buy bread", "note_update", {"id": "n7f3", "text": "buy bread"}),
]

SET = "set_reminder"
REMINDERS: list[Utterance] = [
    ("recuérdame en 20 minutos sacar la ropa", SET, {"text": "sacar la ropa", "when": "en 20 minutos"}),
    ("Recuérdame llamar a Ana mañana a las 7", SET, {"text": "llamar a Ana", "when": "mañana a las 7"}),
    ("recuérdame mañana llamar a Ana a las 7", SET, {"text": "llamar a Ana", "when": "mañana a las 7"}),
    (
        "recuérdame que tengo dentista el lunes a las 9:30",
        SET,
        {"text": "tengo dentista", "when": "el lunes a las 9:30"},
    ),
    ("avísame en media hora de apagar el horno", SET, {"text": "apagar el horno", "when": "en media hora"}),
    (
        "recuérdame dentro de dos horas tomar la pastilla",
        SET,
        {"text": "tomar la pastilla", "when": "dentro de dos horas"},
    ),
    ("pon un recordatorio para mañana a las 9: pagar la luz", SET, {"text": "pagar la luz", "when": "mañana a las 9"}),
    ("ponme un recordatorio para comprar flores el viernes", SET, {"text": "comprar flores", "when": "el viernes"}),
    ("recuérdame pasado mañana por la tarde", None, {}),
    ("recuérdame comprar pan", None, {}),
    (
        "recuérdame todos los días a las 8 de la mañana regar las plantas",
        SET,
        {"text": "regar las plantas", "when": "todos los días a las 8 de la mañana"},
    ),
    ("recuérdame el 24 de diciembre llamar a mamá", SET, {"text": "llamar a mamá", "when": "el 24 de diciembre"}),
    (
        "recuérdame esta noche a las 10 y media cerrar la puerta",
        SET,
        {"text": "cerrar la puerta", "when": "esta noche a las 10 y media"},
    ),
    (
        "¿me recuerdas en una hora y media mover el coche?",
        SET,
        {"text": "mover el coche", "when": "en una hora y media"},
    ),
    ("oye, recuérdame al mediodía comer", SET, {"text": "comer", "when": "al mediodía"}),
    ("remind me to call mum at five", SET, {"text": "call mum", "when": "at five"}),
    ("Remind me in 10 seconds to breathe", SET, {"text": "breathe", "when": "in 10 seconds"}),
    ("remind me tomorrow at 9am to pay rent", SET, {"text": "pay rent", "when": "tomorrow at 9am"}),
    ("remind me on Friday to water the plants", SET, {"text": "water the plants", "when": "on Friday"}),
    ("remind me to stretch every day at 11:00", SET, {"text": "stretch", "when": "every day at 11:00"}),
    (
        "set a reminder for tomorrow at noon: lunch with Bea",
        SET,
        {"text": "lunch with Bea", "when": "tomorrow at noon"},
    ),
    ("set a reminder to buy eggs in an hour", SET, {"text": "buy eggs", "when": "in an hour"}),
    ("please remind me in half an hour about the oven", SET, {"text": "the oven", "when": "in half an hour"}),
    (
        "remind me next Tuesday at 3pm to send the report",
        SET,
        {"text": "send the report", "when": "next Tuesday at 3pm"},
    ),
    ("remind me to breathe", None, {}),
    (
        "¿me puedes recordar mañana llamar al médico?",
        SET,
        {"text": "llamar al médico", "when": "mañana"},
    ),
    ("¿qué recordatorios tengo?", "list_reminders", {}),
    ("mis recordatorios", "list_reminders", {}),
    ("muéstrame los recordatorios pendientes", "list_reminders", {}),
    ("list my reminders", "list_reminders", {}),
    ("what reminders do I have?", "list_reminders", {}),
    ("cancela todos mis recordatorios", "cancel_reminders", {}),
    ("cancel all my reminders", "cancel_reminders", {}),
    ("cancela el recordatorio de la ropa", "list_reminders", {}),
    ("cancel the reminder to call mum", "list_reminders", {}),
    ("borra el recordatorio r12a", "cancel_reminder", {"id": "r12a"}),
    ("¿qué te dije de mi hermana?", "recall", {"query": "hermana"}),
    ("qué te dije sobre el viaje", "recall", {"query": "viaje"}),
    ("recuérdame qué te dije de las llaves", "recall", {"query": "llaves"}),
    ("¿de qué hablamos sobre la mudanza?", "recall", {"query": "mudanza"}),
    ("what did I say about my sister?", "recall", {"query": "sister"}),
    ("what did I tell you about the trip", "recall", {"query": "trip"}),
    ("do you remember what I said about Ana?", "recall", {"query": "Ana"}),
]


@pytest.mark.parametrize(("text", "tool", "arguments"), NOTES + REMINDERS)
def test_an_utterance_becomes_its_call(text: str, tool: str | None, arguments: dict[str, Any]) -> None:
    assert calls(text) == ([(tool, arguments)] if tool else [])


SEVERAL: list[tuple[str, list[tuple[str, dict[str, Any]]]]] = [
    (
        "guarda esta nota: comprar pan y recuérdame mañana a las 8 ir al banco",
        [(SAVE, {"text": "comprar pan"}), (SET, {"text": "ir al banco", "when": "mañana a las 8"})],
    ),
    (
        "save this note: buy milk and remind me in 10 minutes to stretch",
        [(SAVE, {"text": "buy milk"}), (SET, {"text": "stretch", "when": "in 10 minutes"})],
    ),
    ("¿qué notas tengo y qué recordatorios tengo?", [("note_list", {}), ("list_reminders", {})]),
    ("list my notes and list my reminders", [("note_list", {}), ("list_reminders", {})]),
    ("apunta sal y pimienta", [(SAVE, {"text": "sal y pimienta"})]),
    (
        "Hola. Apunta que llueve. Recuérdame en 5 minutos cerrar la ventana",
        [(SAVE, {"text": "llueve"}), (SET, {"text": "cerrar la ventana", "when": "en 5 minutos"})],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_wishes_joined_by_and_become_several_calls(text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert calls(text) == expected


TALK = [
    ("hola", "¡Hola! ¿En qué te ayudo?"),
    ("buenos días", "¡Hola! ¿En qué te ayudo?"),
    ("hello there", "Hello! How can I help?"),
    ("gracias", "¡De nada!"),
    ("muchas gracias, Jada", "¡De nada!"),
    ("thank you very much", "You're welcome!"),
    ("¿cómo estás?", "Todo en orden por aquí. ¿En qué te ayudo?"),
    ("how are you?", "All fine here. How can I help?"),
    ("adiós", "¡Hasta luego!"),
    ("bye", "See you!"),
    ("¿cuánto es 15 por 3?", "15 por 3 = 45"),
    ("cuánto es 7 entre 2", "7 entre 2 = 3.5"),
    ("what is 3 * (4 + 5)?", "3 * (4 + 5) = 27"),
    ("2+2", "2+2 = 4"),
    ("calcula 15% de 80", "15% de 80 = 12"),
    ("how much is 10 divided by 4", "10 divided by 4 = 2.5"),
    ("[venció un recordatorio: sacar la ropa]", "⏰ Recordatorio: sacar la ropa"),
]


@pytest.mark.parametrize(("text", "answer"), TALK)
def test_small_talk_is_answered_in_the_users_language(text: str, answer: str) -> None:
    assert decide(Chat(texts=[text], offered=OFFERED, first=False)).text == answer


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("¿quién eres?", "Soy Jada, con el modelo sin conexión"),
        ("who are you?", "I am Jada, running on the offline model"),
        ("what can you do?", "simple rules, in Spanish and English. What I can do right now: save notes"),
        ("buenas! ¿qué puedes hacer?", "Lo que puedo hacer ahora: guardar notas, listar"),
        ("explícame la teoría de la relatividad", "OPENAI_API_KEY"),
        ("write me a poem about the sea", "OPENAI_API_KEY"),
        ("recuérdame comprar pan", "¿Cuándo te recuerdo «comprar pan»?"),
        ("remind me to breathe", "When shall I remind you of “breathe”?"),
        ("borra la segunda", "No sé a qué nota te refieres"),
        ("1/0", "ninguna de mis reglas"),
    ],
)
def test_what_needs_no_tool_is_said_plainly(text: str, part: str) -> None:
    decision = decide(Chat(texts=[text], offered=OFFERED, first=False))
    assert part in decision.text
    assert decision.calls == ()


@pytest.mark.parametrize("text", [text for text, *_ in (*NOTES, *REMINDERS, *SEVERAL)])
def test_a_tool_that_is_not_offered_is_never_called(text: str) -> None:
    decision = decide(Chat(texts=[text], first=False))
    assert decision.calls == ()
    assert decision.text


def test_the_first_answer_of_a_conversation_says_which_model_it_is() -> None:
    assert "(modelo sin conexión: respondo con reglas" in decide(Chat(texts=["hola"])).text
    assert "(offline model: I answer by rules" in decide(Chat(texts=["hello"])).text
    assert "(modelo sin conexión" not in decide(Chat(texts=["hola"], first=False)).text


def test_the_system_prompt_names_the_language_when_the_words_do_not() -> None:
    assert decide(Chat(texts=["2+2 xyz"], system="Language: en", first=False)).text.startswith("I am Jada's offline")
    assert decide(Chat(texts=["2+2 xyz"], system="Idioma: español", first=False)).text.startswith("Soy el modelo")
    assert decide(Chat(texts=["xyz"], system="Answer in English.", first=False)).text.startswith("I am Jada's offline")


def test_arguments_outside_a_tools_schema_are_left_out() -> None:
    offered = {"note_list": _schema()}
    assert decide(Chat(texts=["mis últimas 3 notas"], offered=offered)).calls == (Call("note_list", {}),)


def test_a_tool_that_wants_more_than_the_rule_knows_is_not_called() -> None:
    offered = {"note_save": _schema("text", "folder")}
    assert decide(Chat(texts=["apunta que llueve"], offered=offered)).calls == ()


def test_a_long_text_is_matched_in_reasonable_time() -> None:
    text = "apunta que " + "hay pan y leche, y también sal; luego " * 2000
    assert calls(text)[0][1]["text"].startswith("hay pan y leche")
