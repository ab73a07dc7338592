"""When a turn's answer is held back, and when it passes although words alone would doubt it."""

from datetime import UTC, datetime

import pytest

from services.agent.claim_check import unbacked_claims
from shared.conversation.fold import Conversation
from shared.messages.conversation import (
    CallRequested,
    ModelReplied,
    ResultStatus,
    SideEffects,
    ToolFinished,
    TurnStarted,
    UserMessage,
)
from shared.messages.routing import RouteDecision

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def claims(
    said: str, answer: str, *calls: tuple[str, ResultStatus, SideEffects], offered: tuple[str, ...] = ("notes",)
) -> list[str]:
    state = Conversation("c")
    state.apply(1, UserMessage(message_id="m", user_id="ana", text=said, sent_at=AT))
    route = RouteDecision(layer="keywords", groups=list(offered))
    state.apply(2, TurnStarted(turn_id="1-t", epoch=1, owner="o", lease=1, inputs=[1], at=AT, route=route))
    requested = [
        CallRequested(call_id=f"1-t.1.{n}", name=name, group=offered[0], side_effects=effects)
        for n, (name, _, effects) in enumerate(calls)
    ]
    state.apply(3, ModelReplied(turn_id="1-t", step=1, model="m", finish="calls", at=AT, calls=requested))
    for n, (name, status, _) in enumerate(calls):
        state.apply(4 + n, ToolFinished(call_id=f"1-t.1.{n}", turn_id="1-t", name=name, status=status, at=AT))
    found = unbacked_claims(state.turns[0], state, answer)
    return found.sentences if found else []


SAVE = "guarda una nota: comprar leche"


@pytest.mark.parametrize("status", ["error", "timeout", "unknown"])
def test_only_a_call_that_succeeded_backs_a_claim(status: ResultStatus) -> None:
    assert claims(SAVE, "Guardé la nota.", ("note_save", status, "reversible")) == ["Guardé la nota."]


def test_a_call_that_succeeded_backs_it() -> None:
    assert claims(SAVE, "Guardé la nota.", ("note_save", "ok", "reversible")) == []


def test_without_a_call_the_claim_is_false() -> None:
    assert claims(SAVE, "Nota guardada ✅") == ["Nota guardada ✅"]
    assert claims("save a note: buy milk", "I've saved the note.") == ["I've saved the note."]


def test_a_tool_we_have_no_words_for_is_believed() -> None:
    """An MCP server's tool did something: telling the model that nothing was done could make it do it twice."""
    done = ("ledger_add", "ok", "irreversible")
    assert claims("apunta en el libro dos asientos", "Dos asientos apuntados.", done, offered=("ledger",)) == []


def test_an_answer_that_claims_nothing_passes() -> None:
    assert claims(SAVE, "¿La guardo como nota?") == []
    assert claims(SAVE, "No he podido guardarla: el almacén no responde.", ("note_save", "error", "reversible")) == []
