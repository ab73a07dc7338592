"""Who joins a turn, and who waits for one of their own."""

import pytest

from services.agent.arrivals import next_inputs, steering_inputs
from shared.messages.conversation import ApprovalGiven, CancelRequested, Input, ReminderDue, WorkflowReport
from shared.profiles import Profile
from tests.unit.agent.turns import AT, message, running, waiting

STEER, QUEUE = Profile(arrival="steer"), Profile(arrival="queue")


def reminder(user: str = "ana") -> ReminderDue:
    return ReminderDue(schedule_id="r", user_id=user, text="x", due_at=AT)


def report(user: str = "ana") -> WorkflowReport:
    return WorkflowReport(run_id="w", workflow="brief", user_id=user, content=[], at=AT)


CANCEL = CancelRequested(user_id="ana", at=AT)
APPROVAL = ApprovalGiven(approval_id="a", user_id="ana", approved=True, at=AT)


@pytest.mark.parametrize(
    ("inputs", "steer", "queue"),
    [
        ([], [], []),
        ([CANCEL], [], []),
        ([message()], [1], [1]),
        ([message(), message()], [1, 2], [1]),
        ([message(), message("luis"), message()], [1, 3], [1]),
        ([message("luis"), message(), message()], [1], [1]),
        ([message(), message(profile="casa")], [1], [1]),
        ([message(), message(profile_of="otra")], [1], [1]),
        ([message(), reminder()], [1], [1]),
        ([reminder(), message()], [1], [1]),
        ([reminder(), reminder()], [1, 2], [1, 2]),
        ([reminder(), reminder("luis"), reminder()], [1, 3], [1, 3]),
        ([report(), report()], [1], [1]),
        ([APPROVAL, message()], [1], [1]),
        ([CANCEL, message()], [2], [2]),
    ],
)
def test_a_turn_takes_the_oldest_input_and_what_belongs_to_it(
    inputs: list[Input], steer: list[int], queue: list[int]
) -> None:
    assert next_inputs(waiting(*inputs), STEER) == steer
    assert next_inputs(waiting(*inputs), QUEUE) == queue


@pytest.mark.parametrize(
    ("inputs", "steer"),
    [
        ([message()], []),
        ([message(), message()], [2]),
        ([message(), message("luis")], []),
        ([message(), message("luis"), message()], [3]),
        ([message(), message(profile="casa")], []),
        ([message(), reminder()], []),
        ([message(), CANCEL], []),
        ([reminder(), reminder()], []),
        ([report(), message()], []),
    ],
)
def test_what_the_same_person_writes_meanwhile_steers_the_turn(inputs: list[Input], steer: list[int]) -> None:
    state, turn = running(state=waiting(*inputs))
    assert steering_inputs(state, turn, STEER) == steer
    assert steering_inputs(state, turn, QUEUE) == []


def test_every_waiting_input_gets_its_turn_in_the_end() -> None:
    state = waiting(message(), message("luis"), reminder(), message(), report(), reminder(), APPROVAL)
    taken: list[int] = []
    while inputs := next_inputs(state, STEER):
        taken += inputs
        state.covered.update(inputs)
    assert sorted(taken) == [1, 2, 3, 4, 5, 6, 7]
