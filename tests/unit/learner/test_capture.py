"""Which turns are studied, and what is kept of them."""

from datetime import UTC, datetime

import msgspec
import pytest

from services.learner.capture import studied, worth_studying
from shared.conversation.fold import Conversation
from shared.messages.base import encode
from shared.messages.conversation import CallRequested, ModelReplied, ToolFinished, TurnEnded, TurnStarted, TurnStatus
from shared.messages.parts import Text
from shared.messages.playbook import StudiedTurn

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def ended(status: TurnStatus = "answered", calls: int = 1) -> TurnEnded:
    return TurnEnded(turn_id="1-t", status=status, answer="listo", inputs=[1], at=AT, calls=calls)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ended(), True),
        (ended(calls=0), False),
        (ended("failed"), False),
        (ended("cancelled"), False),
        (ended("waiting"), False),
    ],
)
def test_only_answered_turns_that_used_tools_are_studied(event: TurnEnded, *, expected: bool) -> None:
    assert worth_studying(event) is expected


def test_names_and_outcomes_are_kept_and_nothing_of_what_tools_said() -> None:
    state = Conversation("c")
    names = [
        ("k1", "note_save", "ok"),
        ("k2", "web_search", "error"),
        ("k3", "note_save", "ok"),
        ("k4", "tv_on", "unknown"),
    ]
    calls = [CallRequested(call_id=c, name=n, arguments=msgspec.Raw(b'{"secret":1}')) for c, n, _ in names]
    state.apply(2, TurnStarted(turn_id="1-t", epoch=1, owner="a", lease=1, inputs=[1], at=AT))
    state.apply(3, ModelReplied(turn_id="1-t", step=1, model="m", finish="calls", at=AT, calls=calls))
    for seq, (call_id, name, status) in enumerate(names, 4):
        content = [Text(text="secret")]
        result = ToolFinished(call_id=call_id, turn_id="1-t", name=name, status=status, at=AT, content=content)  # type: ignore[arg-type]
        state.apply(seq, result)
    state.apply(9, ended())
    expected = StudiedTurn(
        turn_id="1-t", ended_seq=9, tools=["note_save", "web_search", "tv_on"], failed=["web_search", "tv_on"]
    )
    assert studied(state.turns[0]) == expected
    assert b"secret" not in encode(expected)
