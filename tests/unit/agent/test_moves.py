"""What a turn does next, at each of its limits and beside them."""

from datetime import timedelta

import pytest

from services.agent.moves import AskModel, AwaitCalls, Move, StopAtLimit, cost_of, next_move, usage_of
from shared.messages.conversation import Usage
from shared.profiles import TurnLimits
from tests.unit.agent.turns import AT, call, outcome, running, step

LIMITS = TurnLimits(steps=3, tokens=1000, wall_s=60.0, cost_usd=0.5)


def move(steps: int, *, tokens: int = 0, cost: float = 0.0, after_s: float = 1.0, limits: TurnLimits = LIMITS) -> Move:
    """The next move after so many finished steps, each of which spent `tokens` and `cost`."""
    state, turn = running()
    for at in range(steps):
        step(state, call("note_list", call_id=f"k{at}"), tokens=tokens, cost_usd=cost)
        outcome(state, f"k{at}", "ok")
    return next_move(turn, limits, now=AT + timedelta(seconds=after_s))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (0, AskModel(1, last=False)),
        (1, AskModel(2, last=False)),
        (2, AskModel(3, last=True)),
        (3, StopAtLimit("steps")),
    ],
)
def test_the_last_step_allowed_is_known_as_such_and_none_follows(steps: int, expected: Move) -> None:
    assert move(steps) == expected


def test_a_turn_of_one_step_may_still_call_tools() -> None:
    assert move(0, limits=TurnLimits(steps=1)) == AskModel(1, last=False)


@pytest.mark.parametrize(
    ("spent", "expected"),
    [
        ({"tokens": 999}, AskModel(2, last=False)),
        ({"tokens": 1000}, StopAtLimit("tokens")),
        ({"cost": 0.49}, AskModel(2, last=False)),
        ({"cost": 0.5}, StopAtLimit("cost")),
        ({"after_s": 59.9}, AskModel(2, last=False)),
        ({"after_s": 60.0}, StopAtLimit("wall")),
    ],
)
def test_each_limit_stops_the_turn_when_it_is_reached(spent: dict[str, float], expected: Move) -> None:
    assert move(1, **spent) == expected  # type: ignore[arg-type]


def test_without_a_bound_on_money_none_stops_it() -> None:
    assert move(1, cost=1e6, limits=TurnLimits(steps=3)) == AskModel(2, last=False)


def test_the_wall_stops_even_a_turn_that_never_asked() -> None:
    assert move(0, after_s=61) == StopAtLimit("wall")


def test_calls_under_way_are_waited_for_past_every_limit() -> None:
    state, turn = running()
    step(state, call("note_list", call_id="k1"), call("note_list", call_id="k2"), tokens=5000, cost_usd=9.0)
    outcome(state, "k1", "ok")
    late = next_move(turn, LIMITS, now=AT + timedelta(hours=1))
    assert isinstance(late, AwaitCalls)
    assert [one.call_id for one in late.calls] == ["k2"]


def test_refused_and_abandoned_calls_are_not_waited_for() -> None:
    state, turn = running()
    step(state, call("nope", refused="no such tool"), call("note_list", call_id="k"))
    outcome(state, "k", None)
    assert next_move(turn, LIMITS, now=AT) == AskModel(2, last=False)


def test_a_turn_knows_what_it_spent() -> None:
    state, turn = running()
    step(state, call("note_list", call_id="k1"), tokens=10, cost_usd=0.25)
    step(state, call("note_list", call_id="k2"), tokens=5, cost_usd=0.5)
    assert (usage_of(turn), cost_of(turn)) == (Usage(tokens_in=15), 0.75)
