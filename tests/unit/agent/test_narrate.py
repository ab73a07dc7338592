from typing import Any

import msgspec
import pytest

from services.agent.api.narrate import LiveText, Narrator, Told
from shared.messages.conversation import CallAbandoned
from shared.messages.live import Delta, Reset
from tests.unit.agent.narrated import ended, finished, plain, replied, started
from tests.unit.agent.turns import AT, call, message, outcome, running, step


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
