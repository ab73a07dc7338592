"""The claim check as a whole: what counts as a claim, and what proves it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent.claims import CallMade, check
from services.agent.claims.kinds import kind_table

CASES = Path(__file__).with_name("test_claims_cases.txt")


def calls_of(text: str) -> list[CallMade]:
    """`note_save:ok, note_list:ok`: a tool that some kind names has effects, any other only reads."""
    calls = []
    for part in filter(None, text.split(",")):
        name, status = part.strip().split(":")
        effects = "reversible" if kind_table().known(name) else "none"
        calls.append(CallMade(name=name, status=status, side_effects=effects))  # type: ignore[arg-type]
    return calls


def cases() -> Sequence[object]:
    found = []
    for number, line in enumerate(CASES.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        verdict, offered, calls, user, answer = line.replace("\\|", "\0").split("|", 4)
        text = answer.replace("\0", "|").replace("\\n", "\n")
        found.append(pytest.param(verdict == "F", offered, calls, user, text, id=f"{number}: {user[:40]}"))
    return found


@pytest.mark.parametrize(("false_claim", "offered", "calls", "user", "answer"), cases())
def test_an_answer_claims_what_was_not_done_or_it_does_not(
    false_claim: bool, offered: str, calls: str, user: str, answer: str
) -> None:
    verdict = check(
        user=user, answer=answer, calls=calls_of(calls), offered=[group for group in offered.split(",") if group]
    )
    assert (verdict.false_claim, verdict.unbacked if not false_claim else []) == (false_claim, [])


def test_the_cases_are_many_of_both_sorts_in_both_languages() -> None:
    verdicts = [line[0] for line in CASES.read_text("utf-8").splitlines() if line and line[0] != "#"]
    assert verdicts.count("F") > 200
    assert verdicts.count("H") > 300


def made(name: str, status: str = "ok", effects: str = "reversible") -> CallMade:
    return CallMade(name=name, status=status, side_effects=effects)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("calls", "user", "answer", "expected"),
    [
        ([made("github_create_issue")], "create an issue about the login bug", "I created the issue.", False),
        ([made("github_create_issue")], "create an issue about the login bug", "Done ✅", False),
        ([made("github_list_issues", effects="none")], "create an issue about it", "I created the issue.", True),
        ([made("github_create_issue", "error")], "create an issue about the login bug", "I created the issue.", True),
        ([made("linear_update_ticket")], "close ticket 44", "Ticket 44 is closed.", False),
        ([made("shopBuyItem")], "buy me the blue shoes", "I bought the blue shoes.", False),
        ([made("github_create_issue")], "guarda una nota con el error", "Guardé la nota.", True),
        ([made("whatsapp_send_message")], "mándale un whatsapp a Ana", "Le mandé el WhatsApp a Ana.", False),
    ],
)
def test_a_tool_of_nobody_we_know_proves_what_its_name_says(
    calls: list[CallMade], user: str, answer: str, expected: bool
) -> None:
    offered = ["notes", "calendar", "mcp:other"]
    assert check(user=user, answer=answer, calls=calls, offered=offered).false_claim == expected


@pytest.mark.parametrize("status", ["error", "timeout", "unknown", "refused"])
def test_only_a_call_that_went_well_proves(status: str) -> None:
    judged = [
        check(user="guarda la nota", answer="Nota guardada ✅", calls=[made("note_save", s)], offered=["notes"])
        for s in (status, "ok")
    ]
    assert [verdict.false_claim for verdict in judged] == [True, False]


def test_a_verdict_names_the_kind_the_words_and_the_sentence() -> None:
    verdict = check(
        user="guarda la lista y mándasela a Diego",
        answer="Listo. Guardé la lista y se la envié a Diego por correo.",
        calls=[made("note_save")],
        offered=["notes", "email"],
    )
    assert [(c.kind, c.words, c.sentence) for c in verdict.unbacked if c.words] == [
        ("email_send", "envié", "Guardé la lista y se la envié a Diego por correo.")
    ]
    assert {"note_save", "email_send"} <= {claim.kind for claim in verdict.claimed}
    assert verdict.certain
    assert verdict.score > 0.5


@pytest.mark.parametrize(
    ("user", "answer", "certain"),
    [
        ("turn off the tv", "I turned off the TV.", True),
        ("turn off the tv", "Sweet dreams!", False),
        ("turn off the tv", "I couldn't turn it off.", False),
        ("thanks!", "Anytime!", True),
    ],
)
def test_what_is_only_understood_is_left_to_a_judge(user: str, answer: str, certain: bool) -> None:
    assert check(user=user, answer=answer, calls=[], offered=["tv"]).certain == certain


def test_a_yes_to_nothing_we_know_of_asks_for_no_action() -> None:
    verdict = check(user="dale", answer="Perfecto, sigamos con la segunda pregunta.", calls=[], offered=["notes"])
    assert not verdict.false_claim


@given(user=st.text(max_size=200), answer=st.text(max_size=2000))
def test_any_text_can_be_judged(user: str, answer: str) -> None:
    verdict = check(user=user, answer=answer, calls=[], offered=["notes", "email"])
    assert verdict.false_claim == bool(verdict.unbacked)
    assert 0 <= verdict.score <= 1


@pytest.mark.parametrize("piece", ['"', "“", "`", "```", "> ", "a.", "¿", "Guardé la nota. ", "I saved it, "])
def test_a_hostile_answer_takes_no_more_than_its_bounded_part(piece: str) -> None:
    answer = piece * (200_000 // len(piece))
    assert check(user="hola", answer=answer, calls=[], offered=[]).claimed is not None
