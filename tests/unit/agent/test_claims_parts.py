"""The parts of the claim check: forms of verbs, segments, requests, kinds."""

import tomllib
from pathlib import Path

import pytest

from services.agent.claims import CallMade
from services.agent.claims.inflect import EnglishPast, Irregular, english, spanish
from services.agent.claims.kinds import evidence_of, kind_table
from services.agent.claims.readings import readings
from services.agent.claims.request import read_request
from services.agent.claims.segments import QUOTED, own_words, sentences_of
from services.agent.claims.vocabulary import LANGUAGES, answer_vocabulary, user_vocabulary, words_of

FOLDER = Path(__file__).parents[3] / "services/agent/claims"
TOOLS = frozenset(
    {
        "note_save", "note_update", "note_delete", "email_send", "email_reply", "calendar_add_event",
        "calendar_update_event", "calendar_delete_event", "gym_save_workout", "gym_start_session",
        "gym_add_exercise", "gym_end_session", "gym_save_routine", "samsung_tv_control", "set_reminder",
        "cancel_reminders", "cronjob_create", "cronjob_update", "cronjob_delete", "cronjob_run_now",
        "run_command", "write_file", "send_file", "generate_image", "storage_upload", "storage_delete",
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("infinitive", "form", "expected"),
    [
        ("guardar", "first", ["guardé", "guardamos"]),
        ("buscar", "first", ["busqué", "buscamos"]),
        ("agregar", "first", ["agregué", "agregamos"]),
        ("organizar", "first", ["organicé", "organizamos"]),
        ("añadir", "first", ["añadí", "añadimos"]),
        ("meter", "participle", ["metido", "metida", "metidos", "metidas"]),
        ("crear", "future", ["crearé", "crearemos"]),
        ("borrar", "gerund", ["borrando"]),
    ],
)
def test_spanish_verbs_have_their_regular_forms(infinitive: str, form: str, expected: list[str]) -> None:
    assert [word for word, f in spanish(infinitive, Irregular()) if f == form] == expected


def test_an_irregular_form_replaces_the_regular_one_and_no_other() -> None:
    forms = list(spanish("abrir", Irregular(participle="abierto")))
    assert ("abierta", "participle") in forms
    assert ("abrí", "first") in forms
    assert ("abrido", "participle") not in forms


@pytest.mark.parametrize(
    ("verb", "past", "ing"),
    [
        ("save", "saved", "saving"),
        ("add", "added", "adding"),
        ("reply", "replied", "replying"),
        ("play", "played", "playing"),
        ("ping", "pinged", "pinging"),
        ("log", "logged", "logging"),
        ("upload", "uploaded", "uploading"),
    ],
)
def test_english_verbs_have_their_regular_forms(verb: str, past: str, ing: str) -> None:
    forms = list(english(verb, None))
    assert (past, "first") in forms
    assert (ing, "gerund") in forms


def test_an_irregular_english_verb_has_its_past_and_its_participle() -> None:
    forms = list(english("write", EnglishPast(past="wrote", participle="written")))
    assert {("wrote", "first"), ("written", "participle"), ("writing", "gerund")} <= set(forms)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Guardé la nota", [("guardé", "done")]),
        ("He enviado el correo", [("enviado", "done")]),
        ("Acabo de borrar la nota", [("borrar", "done")]),
        ("El sistema ha registrado tu entreno", [("registrado", "done")]),
        ("Ana ha registrado su entreno", []),
        ("Se ha creado el evento", [("creado", "passive")]),
        ("Guardaste la nota", []),
        ("Te lo agendo", [("agendo", "promise")]),
        ("El aviso suena a las 8", []),
        ("Voy a guardarla", [("guardarla", "promise")]),
        ("I saved the note", [("saved", "done")]),
        ("We've just added it", [("added", "done")]),
        ("You saved the note", []),
        ("The note has been saved", [("saved", "passive")]),
        ("Zenith released the remote in 1950", []),
        ("Routine saved as Push", [("saved", "passive")]),
        ("I'll delete it", [("delete", "promise")]),
        ("I can delete it", []),
        ("You turned the corner", []),
        ("I turned the TV off", [("turned", "done")]),
    ],
)
def test_a_form_is_read_by_whose_deed_it_is(sentence: str, expected: list[tuple[str, str]]) -> None:
    (one,) = sentences_of(sentence, answer_vocabulary())
    found = {(one.words[said.at], said.reading) for said in readings(one, answer_vocabulary())}
    assert found == set(expected)


@pytest.mark.parametrize(
    ("text", "counts", "expected"),
    [
        ('Dice: "ya envié todo".', True, f"Dice: {QUOTED}."),
        ("Run `rm x` now", True, f"Run {QUOTED} now"),
        ("> **Nota guardada**", True, "> Nota guardada"),
        ("> **Nota guardada**", False, QUOTED),
        ("```\nsaved\n```", True, "\n\nsaved\n\n"),
        ("```\nsaved\n```", False, QUOTED),
        ("It's Ana's and I don't mind", True, "It's Ana's and I don't mind"),
    ],
)
def test_quotations_are_not_the_coordinators_words(text: str, counts: bool, expected: str) -> None:
    assert own_words(text, quotes_count=counts) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've don't it's", ["i", "'ve", "do", "n't", "it", "'s"]),
        ("report.md — ✅", ["report.md", "—", "✅"]),
        ("can\u2019t", ["ca", "n't"]),
    ],
)
def test_words_come_apart_where_english_contracts_them(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


@pytest.mark.parametrize(
    ("user", "stance", "kinds"),
    [
        ("guárdame esta nota", "act", [{"note_save"}]),
        ("guardé la nota", "tell", []),
        ("me puedes agendar una cita?", "act", [{"event_add"}]),
        ("cómo agendo una cita?", "ask", []),
        ("can you email Ana and turn off the tv?", "act", [{"email_send"}, {"tv_control"}]),
        ("did you email Ana?", "ask", []),
        ("¿guardaste la nota?", "ask", []),
        ("haz una lista de compras", "text", []),
        ("make a note: eggs", "act", [{"note_save"}]),
        ("write a poem", "text", []),
        ("traduce esto", "text", []),
        ("háblame de tú, sin emojis", "style", []),
        ("gracias!", "talk", []),
        ("I just booked the flights", "tell", []),
        ("cancel the class and its reminder", "act", [{"event_delete"}, {"reminder_cancel"}]),
        ("remind me to call mom", "act", [{"reminder_set", "job_create"}]),
        ("send the pdf to Ana", "act", [{"email_send", "file_send"}]),
        ("mándame el pdf", "act", [{"file_send"}]),
    ],
)
def test_a_message_asks_for_actions_or_for_something_else(user: str, stance: str, kinds: list[set[str]]) -> None:
    offered = ["notes", "email", "calendar", "tv", "reminders", "schedules", "vision"]
    request = read_request(user, offered, user_vocabulary(), kind_table())
    assert (request.stance, [set(want.kinds) for want in request.wants]) == (stance, kinds)


def test_every_tool_with_effects_proves_some_kind() -> None:
    assert [tool for tool in TOOLS if not kind_table().known(tool)] == []
    assert [tool for tool in ("note_list", "email_read", "deep_think") if kind_table().known(tool)] == []


def test_two_calls_together_prove_what_neither_does_alone() -> None:
    def proved(*names: str) -> bool:
        calls = [CallMade(name=name, status="ok", side_effects="reversible") for name in names]
        return evidence_of(calls).proves({"event_update"}, "update", strangers=False)

    delete, add = "calendar_delete_event", "calendar_add_event"
    assert [proved(delete), proved(add), proved(delete, add)] == [False, False, True]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_name_only_actions_and_objects_that_the_kinds_know(language: str) -> None:
    table = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))
    kinds = kind_table().kinds.values()
    actions = {action for kind in kinds for action in kind.actions} | {"nothing"}
    objects = {name for kind in kinds for name in kind.objects}
    named = [key.split(" ") for key in table["verbs"]]
    assert [key for key in named if key[0] not in actions or not objects >= set(key[1:])] == []
    assert set(table["objects"]) == objects


def test_both_languages_have_the_same_lists() -> None:
    es, en = (tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8")) for language in LANGUAGES)
    assert [part for part in ("objects", "words", "user") if es[part].keys() != en[part].keys()] == []


def test_every_list_of_words_is_read_by_the_code() -> None:
    code = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
    table = tomllib.loads((FOLDER / "es.toml").read_text("utf-8"))
    lists = [*table["words"], *table["user"]]
    assert [name for name in lists if f'"{name}"' not in code and f':{name}"' not in code] == []
