"""The coordinator's own answers and receipts: true by construction, in both languages."""

import tomllib
from pathlib import Path
from string import Formatter

import pytest

from services.agent import answers
from services.agent.moves import LimitName
from services.agent.receipts import actions_of
from shared.messages.conversation import CallRequested, ReminderDue, ResultStatus
from shared.model.errors import BadHistory, Denied, ModelError, Refused, TooLong, Transient, Unclassified
from shared.profiles import TurnLimits
from tests.unit.agent.turns import AT, call, turn_with

SERVICE = Path(answers.__file__).parent
Ended = list[tuple[CallRequested, ResultStatus | None]]


def _tree(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((SERVICE / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["texts.toml", "prompt.toml"])
def test_every_sentence_exists_in_both_languages_with_the_same_blanks(name: str) -> None:
    tree = _tree(name)

    def blanks(language: str) -> dict[str, set[str | None]]:
        return {key: {b for _, b, _, _ in Formatter().parse(text)} - {None} for key, text in tree[language].items()}

    assert blanks("es") == blanks("en")
    assert tree.keys() == {"es", "en"}
    alike = {"minutes", "hours", "status_ok", "status_error"}
    assert {key for key in tree["es"] if tree["es"][key] == tree["en"][key]} <= alike


def due(text: str, late_s: float) -> ReminderDue:
    return ReminderDue(schedule_id="r", user_id="ana", text=text, due_at=AT, late_s=late_s)


@pytest.mark.parametrize(
    ("late_s", "spanish", "english"),
    [
        (0.2, "⏰ Recordatorio: pan", "⏰ Reminder: pan"),
        (119.9, "⏰ Recordatorio: pan", "⏰ Reminder: pan"),
        (120, "⏰ Recordatorio (llega con 2 min de retraso): pan", "⏰ Reminder (2 min late): pan"),
        (7100, "⏰ Recordatorio (llega con 118 min de retraso): pan", "⏰ Reminder (118 min late): pan"),
        (7200, "⏰ Recordatorio (llega con 2 h de retraso): pan", "⏰ Reminder (2 h late): pan"),
        (90000, "⏰ Recordatorio (llega con 25 h de retraso): pan", "⏰ Reminder (25 h late): pan"),
    ],
)
def test_a_reminder_says_how_late_it_is_when_that_matters(late_s: float, spanish: str, english: str) -> None:
    assert answers.reminder("es", [due("pan", late_s)]) == spanish
    assert answers.reminder("en", [due("pan", late_s)]) == english


def test_reminders_that_fell_due_together_are_told_together_and_braces_in_them_are_text() -> None:
    assert (
        answers.reminder("es", [due("{pan}", 0), due("%s {0}", 0)]) == "⏰ Recordatorio: {pan}\n⏰ Recordatorio: %s {0}"
    )


SAVE = call("note_save", effects="reversible")
SEND = call("email_send", effects="irreversible")
LIST = call("note_list")

ACCOUNTS: list[tuple[Ended, str, str]] = [
    ([], "No he llegado a hacer ningún cambio.", "I made no changes."),
    ([(LIST, "ok")], "No he llegado a hacer ningún cambio.", "I made no changes."),
    ([(SAVE, "ok")], "Hecho hasta ahora: note_save.", "Done so far: note_save."),
    (
        [(SAVE, "ok"), (LIST, "error"), (SEND, None)],
        "Hecho hasta ahora: note_save. Sin hacer o sin confirmar: email_send (no se sabe si se hizo).",
        "Done so far: note_save. Not done, or not confirmed: email_send (unknown whether it happened).",
    ),
    (
        [(SAVE, "error"), (SEND, "timeout")],
        "Sin hacer o sin confirmar: note_save (error), email_send (sin respuesta).",
        "Not done, or not confirmed: note_save (error), email_send (no answer).",
    ),
    (
        [(call("note_save", effects="reversible", refused="too many"), None)],
        "No he llegado a hacer ningún cambio.",
        "I made no changes.",
    ),
]


@pytest.mark.parametrize(("ended", "spanish", "english"), ACCOUNTS)
def test_an_answer_without_the_model_accounts_for_what_was_done(ended: Ended, spanish: str, english: str) -> None:
    turn = turn_with(ended)
    assert answers.cancelled("es", turn) == f"Lo he cancelado. {spanish}"
    assert answers.cancelled("en", turn) == f"Cancelled. {english}"
    assert answers.failure("es", turn, "ab12").endswith(f"(referencia ab12) {spanish}")
    assert answers.failure("en", turn, "ab12").endswith(f"(reference ab12) {english}")


@pytest.mark.parametrize(
    ("limit", "spanish", "english"),
    [
        ("steps", "máximo de 3 pasos", "limit of 3 steps"),
        ("tokens", "máximo de 500 tokens", "limit of 500 tokens"),
        ("wall", "máximo de 60 segundos", "limit of 60 seconds"),
        ("cost", "máximo de 0.5 USD", "limit of 0.5 USD"),
    ],
)
def test_a_limit_is_named_with_its_bound(limit: LimitName, spanish: str, english: str) -> None:
    limits = TurnLimits(steps=3, tokens=500, wall_s=60.0, cost_usd=0.5)
    turn = turn_with([(SAVE, "ok")])
    told = answers.at_limit("es", turn, limits, limit)
    assert spanish in told
    assert told.endswith("Hecho hasta ahora: note_save. Si quieres, pídeme que siga.")
    assert english in answers.at_limit("en", turn, limits, limit)


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (Refused("x"), "model_refused"),
        (Denied("x"), "model_denied"),
        (TooLong("x"), "too_long"),
        (BadHistory("x"), "bad_history"),
        (Transient("x"), "model_down"),
        (Unclassified("x"), "model_down"),
    ],
)
def test_a_failure_of_the_model_is_told_for_what_it_is(error: ModelError, key: str) -> None:
    for language in ("es", "en"):
        assert answers.model_failure(language, error, "ab12") == answers.say(language, key, ref="ab12")


def test_a_receipt_is_given_for_each_effect_that_was_dispatched_and_for_nothing_else() -> None:
    turn = turn_with(
        [
            (call("note_save", call_id="k1", effects="reversible"), "ok"),
            (call("note_list", call_id="k2"), "ok"),
            (call("email_send", call_id="k3", effects="irreversible"), None),
            (call("note_save", call_id="k4", effects="reversible"), "error"),
            (call("note_save", call_id="k5", effects="reversible", refused="too many"), None),
        ]
    )
    assert [(a.call_id, a.name, a.status) for a in actions_of(turn)] == [
        ("k1", "note_save", "ok"),
        ("k3", "email_send", "unknown"),
        ("k4", "note_save", "error"),
    ]
