import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.agent.api.cancel import target_of
from services.agent.api.problems import as_rejected, known_problems, language_of
from services.agent.api.views import accepted_view, event_view, message_view, turn_view
from shared.conversation.fold import Conversation
from shared.direct import StoredMessage
from shared.errors import BusUnavailable, EventTooLarge, FenceLost, Rejected, StorageFull
from shared.messages.conversation import (
    Action,
    CancelRequested,
)
from shared.messages.parts import BlobRef, Opaque
from tests.unit.agent.narrated import ended, plain, replied, started
from tests.unit.agent.turns import AT, call, message, outcome, running, step, waiting

SOURCES = (Path(__file__).parents[3] / "services/agent/api", Path(__file__).parents[3] / "shared")


def test_a_running_turn_shows_what_is_known_so_far() -> None:
    state, turn = running()
    step(state, call("a", effects="reversible"), call("b", effects="reversible"), call("c", refused="no"), tokens=7)
    outcome(state, "a", "ok")
    view = turn_view(state, turn)
    assert (view.status, view.answer, view.ended_at) == ("running", "", None)
    assert [(c.name, c.status) for c in view.steps[0].calls] == [("a", "ok"), ("b", "running"), ("c", "refused")]
    assert [a.name for a in view.actions] == ["a"]
    assert view.usage.tokens_in == 7


@pytest.mark.parametrize("status", ["answered", "failed", "cancelled", "waiting"])
def test_an_ended_turn_shows_what_its_end_says(status: str) -> None:
    state, turn = running()
    step(state, call("a"), call("b", effects="reversible"))
    outcome(state, "a", None)
    state.apply(200, ended("1-t", 1, 2, status=status, final=replied(2)))
    view = turn_view(state, turn)
    assert (view.status, view.answer, view.inputs, view.usage.tokens_in) == (status, "listo", [1, 2], 5)
    assert [s.text for s in view.steps] == ["", "text 2"]
    assert [c.status for c in view.steps[0].calls] == ["timeout", "unknown"]


def test_an_input_of_no_turn_is_accepted_and_nothing_else() -> None:
    view = accepted_view("c", 7)
    assert (view.status, view.turn_id, view.inputs, view.steps) == ("accepted", "", [7], [])


def test_people_see_what_was_written_and_what_was_answered() -> None:
    ref = BlobRef(sha256="ab" * 32, media_type="image/png", bytes=9, note="inner")
    asked = message_view(3, message(attachments=[ref, Opaque(kind="x")]))
    told = message_view(9, msgspec.structs.replace(ended(), actions=[Action(call_id="k", name="n", status="ok")]))
    assert asked is not None
    assert plain(asked)["attachments"] == [
        {
            "type": "blob",
            "sha256": "ab" * 32,
            "media_type": "image/png",
            "bytes": 9,
            "name": "",
            "width": 0,
            "height": 0,
        }
    ]
    assert told is not None
    assert (told.role, told.text, told.turn_id, told.actions[0].name) == ("assistant", "listo", "1-t", "n")
    assert message_view(4, started()) is None
    assert message_view(5, CancelRequested(user_id="ana", at=AT)) is None


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b'{"type":"x","a":1}', {"type": "x", "a": 1}),
        (b"{broken", {"type": "unreadable"}),
        (b'{"a":"\xff"}', {"type": "unreadable"}),
    ],
)
def test_an_event_that_is_no_json_does_not_spoil_its_page(data: bytes, shown: dict[str, Any]) -> None:
    view = event_view(StoredMessage(4, "conv.c.log", data, {}, ""))
    assert (view.seq, view.kind, msgspec.json.decode(msgspec.json.encode(view.event))) == (4, "log", shown)


def open_turn() -> Conversation:
    state = waiting(message(), message("luis"))
    running(1, state=state)
    return state


@pytest.mark.parametrize(
    ("state", "wanted", "target"),
    [
        (Conversation("c"), "", None),
        (waiting(message()), "", "1"),
        (waiting(message(), message()), "2", "1"),
        (waiting(message()), "7", None),
        (waiting(CancelRequested(user_id="ana", at=AT)), "", None),
        (open_turn(), "", "1-t"),
        (open_turn(), "1-t", "1-t"),
        (open_turn(), "1", "1-t"),
        (open_turn(), "2", None),
        (open_turn(), "1-other", None),
    ],
)
def test_a_cancel_request_finds_the_turn_it_is_for(state: Conversation, wanted: str, target: str | None) -> None:
    assert target_of(state, wanted) == target


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (Rejected("turn-open", "x", status=409), "turn-open", 409),
        (StorageFull("x"), "storage-full", 507),
        (BusUnavailable("x"), "bus-unavailable", 503),
        (FenceLost("x"), "bus-unavailable", 503),
        (EventTooLarge("x"), "event-too-large", 413),
        (RuntimeError("secret"), "internal", 500),
    ],
)
def test_every_error_becomes_a_problem(error: Exception, code: str, status: int) -> None:
    rejected = as_rejected(error)
    assert (rejected.code, rejected.status) == (code, status)
    assert "secret" not in rejected.detail


def test_every_code_that_is_raised_is_explained_in_both_languages() -> None:
    text = "".join(path.read_text("utf-8") for folder in SOURCES for path in folder.rglob("*.py"))
    raised = set(re.findall(r'Rejected\(\s*"([a-z-]+)"', text))
    raised |= set(re.findall(r'(?:404|405|400): "([a-z-]+)"', text))
    assert raised == set(known_problems())
    assert all(set(texts) == {"en", "es"} for texts in known_problems().values())


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("es", "es"), ("fr, es-CO;q=0.8, en", "es"), ("EN-us", "en"), ("*", "en"), (";;,,", "en")],
)
def test_problems_are_told_in_the_readers_language(header: str, language: str) -> None:
    assert language_of(header) == language


def test_every_code_is_in_the_documents() -> None:
    page = (Path(__file__).parents[3] / "docs/api.md").read_text("utf-8")
    table = page.partition("## Errors")[2]
    assert [code for code in known_problems() if f"`{code}`" not in table] == []
