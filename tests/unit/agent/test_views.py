import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.agent.api.cancel import target_of
from services.agent.api.narrate import LiveText, Narrator, Told
from services.agent.api.problems import as_rejected, known_problems, language_of
from services.agent.api.views import accepted_view, event_view, message_view, turn_view
from shared.conversation.fold import Conversation
from shared.direct import StoredMessage
from shared.errors import BusUnavailable, EventTooLarge, FenceLost, Rejected, StorageFull
from shared.messages.conversation import (
    Action,
    CallAbandoned,
    CancelRequested,
    ModelReplied,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    Usage,
)
from shared.messages.live import Delta, Reset
from shared.messages.parts import BlobRef, Opaque, Text
from shared.messages.routing import RouteDecision
from tests.unit.agent.turns import AT, call, message, outcome, running, step, waiting

SOURCES = (Path(__file__).parents[3] / "services/agent/api", Path(__file__).parents[3] / "shared")


def plain(view: Any) -> Any:
    return msgspec.to_builtins(view)


def started(turn_id: str = "1-t", *inputs: int, epoch: int = 1) -> TurnStarted:
    route = RouteDecision(layer="keywords", groups=["notes"])
    return TurnStarted(
        turn_id=turn_id, epoch=epoch, owner="a", lease=1, inputs=list(inputs or (1,)), at=AT, route=route
    )


def replied(number: int, *calls: str, turn_id: str = "1-t", inputs: Sequence[int] = ()) -> ModelReplied:
    return ModelReplied(
        turn_id=turn_id,
        step=number,
        model="m",
        finish="calls" if calls else "stop",
        at=AT,
        content=[Text(text=f"text {number}")],
        calls=[call(name) for name in calls],
        inputs=list(inputs),
    )


def finished(call_id: str, turn_id: str = "1-t") -> ToolFinished:
    return ToolFinished(call_id=call_id, turn_id=turn_id, name=call_id, status="ok", at=AT, elapsed_s=0.5)


def ended(turn_id: str = "1-t", *inputs: int, status: Any = "answered", final: ModelReplied | None = None) -> TurnEnded:
    return TurnEnded(
        turn_id=turn_id,
        status=status,
        answer="listo",
        inputs=list(inputs or (1,)),
        at=AT,
        final=final,
        usage=Usage(tokens_in=5, tokens_out=2),
        models_tried=["m"],
    )


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


def names(told: Sequence[Told]) -> list[str]:
    return [item.name for item in told]


def delta(number: int, text: str, turn_id: str = "1-t") -> Delta:
    return Delta(turn_id=turn_id, step=number, text=text)


def tell(narrator: Narrator, *events: Any) -> list[str]:
    """The names of what is told of these, with the text of deltas."""
    told: list[Told] = []
    for seq, event in enumerate(events, 1):
        told += narrator.hear(event) if isinstance(event, Delta | Reset) else narrator.tell(seq, event)
    return [
        item.name + (f" {item.body.text}" if item.name in ("delta", "message") else "")  # type: ignore[union-attr]
        for item in told
    ]


IN_ORDER = ["routed", "delta a", "step", "tool_started", "tool_finished", "delta b", "step", "answer"]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [started(), delta(1, "a"), replied(1, "k"), finished("k"), delta(2, "b"), ended(final=replied(2))],
            id="as it happens",
        ),
        pytest.param(
            [delta(1, "a"), delta(2, "b"), started(), replied(1, "k"), finished("k"), ended(final=replied(2))],
            id="text first",
        ),
        pytest.param(
            [started(), delta(1, "a"), delta(2, "b"), replied(1, "k"), finished("k"), ended(final=replied(2))],
            id="text of a step overtakes the results of the one before",
        ),
        pytest.param(
            [
                started(),
                delta(1, "a"),
                replied(1, "k"),
                delta(1, "late"),
                finished("k"),
                finished("k"),
                finished("other"),
                delta(2, "b"),
                ended(final=replied(2)),
            ],
            id="late text, results that come twice or are not ours",
        ),
    ],
)
@pytest.mark.parametrize("only_seq", [0, 1])
def test_a_turn_is_told_in_its_order_however_its_news_arrive(events: list[Any], only_seq: int) -> None:
    assert tell(Narrator(only_seq=only_seq), *events) == IN_ORDER


def test_only_the_turn_that_takes_the_followed_input_is_told() -> None:
    events = [
        started("1-other", 1),
        delta(1, "not ours", "1-other"),
        replied(1, "k", turn_id="1-other"),
        finished("k", "1-other"),
        ended("1-other", 1),
        started("9-own", 9),
        ended("9-own", 9, final=replied(1, turn_id="9-own")),
    ]
    assert tell(Narrator(only_seq=9), *events) == ["routed", "step", "answer"]


def test_a_message_that_joins_a_running_turn_is_told_from_there_on() -> None:
    events = [delta(2, "b"), replied(2, "k", inputs=[9]), finished("k"), ended("1-t", 1, 9)]
    assert tell(Narrator(only_seq=9), *events) == ["delta b", "step", "tool_started", "tool_finished", "answer"]


def test_a_follower_is_told_messages_and_every_turn() -> None:
    events = [message(), started(), ended(status="cancelled"), message(), started("2-t", 2), ended("2-t", 2)]
    expected = ["message hola", "routed", "failed", "message hola", "routed", "answer"]
    assert tell(Narrator(), *events) == expected


def test_a_follower_who_comes_late_is_told_the_rest_of_the_running_turn() -> None:
    state, turn = running()
    step(state, call("a"), call("b"))
    outcome(state, "a", "ok")
    narrator = Narrator()
    narrator.resume(turn)
    assert tell(narrator, delta(1, "x"), finished("b"), delta(2, "y"), ended(final=replied(2))) == [
        "tool_finished",
        "delta y",
        "step",
        "answer",
    ]


def test_a_turn_taken_over_voids_the_text_of_its_first_owner() -> None:
    events = [started(), delta(1, "a"), started(epoch=2), delta(1, "b"), ended(final=replied(1))]
    assert tell(Narrator(), *events) == ["routed", "delta a", "reset", "delta b", "step", "answer"]


def test_an_abandoned_call_is_told_as_what_may_have_happened() -> None:
    narrator = Narrator()
    narrator.tell(1, started())
    narrator.tell(2, msgspec.structs.replace(replied(1), calls=[call("a"), call("b", effects="reversible")]))
    told = [
        narrator.tell(seq, CallAbandoned(turn_id="1-t", call_id=call_id, reason="deadline", at=AT))[0].body
        for seq, call_id in enumerate("ab", 3)
    ]
    assert [plain(body)["status"] for body in told] == ["timeout", "unknown"]


def test_live_text_is_joined_and_bounded() -> None:
    text = LiveText()
    for piece in ("ho", "la"):
        text.add(delta(1, piece))
    text.add(delta(2, "x" * 200_000))
    first, second = text.take()
    assert (first.text, len(second.text)) == ("hola", 100_000)  # type: ignore[union-attr]
    for number in range(50):
        text.add(delta(number, "x"))
    assert len(text.take()) <= 8
    assert text.take() == []


def test_a_reset_voids_the_text_held_and_comes_before_what_follows() -> None:
    text = LiveText()
    for event in (delta(1, "a"), Reset(turn_id="1-t", step=1), delta(1, "b"), delta(1, "c")):
        text.add(event)
    assert text.take() == [Reset(turn_id="1-t", step=1), delta(1, "bc")]


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
