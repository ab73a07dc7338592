"""The fold, one event at a time: what each does to the state."""

from datetime import UTC, datetime

import pytest

from shared.conversation.fold import Checkpoint, Conversation
from shared.messages.base import Unknown
from shared.messages.conversation import (
    ApprovalGiven,
    ApprovalRequested,
    CallAbandoned,
    CallRequested,
    CancelRequested,
    ModelReplied,
    Redacted,
    ReminderDue,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
    WorkflowReport,
)

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def message(user: str = "ana", text: str = "hola") -> UserMessage:
    return UserMessage(message_id="m", user_id=user, text=text, sent_at=AT)


def started(turn: str = "1-t", epoch: int = 1, inputs: tuple[int, ...] = (1,), owner: str = "a") -> TurnStarted:
    return TurnStarted(turn_id=turn, epoch=epoch, owner=owner, lease=inputs[0], inputs=list(inputs), at=AT)


def replied(*calls: str, turn: str = "1-t", inputs: tuple[int, ...] = (), refused: str = "") -> ModelReplied:
    requested = [CallRequested(call_id=c, name="note_list", refused=refused) for c in calls]
    return ModelReplied(turn_id=turn, step=1, model="m", finish="calls", at=AT, calls=requested, inputs=list(inputs))


def finished(call: str, status: str = "ok", turn: str = "1-t") -> ToolFinished:
    return ToolFinished(call_id=call, turn_id=turn, name="note_list", status=status, at=AT)  # type: ignore[arg-type]


def abandoned(call: str, turn: str = "1-t") -> CallAbandoned:
    return CallAbandoned(turn_id=turn, call_id=call, reason="deadline", at=AT)


def ended(turn: str = "1-t", inputs: tuple[int, ...] = (1,), final: ModelReplied | None = None) -> TurnEnded:
    return TurnEnded(turn_id=turn, status="answered", answer="ya", inputs=list(inputs), at=AT, final=final)


def cancel(turn: str = "") -> CancelRequested:
    return CancelRequested(user_id="ana", at=AT, turn_id=turn)


def fold(*events: object, first: int = 1) -> Conversation:
    state = Conversation("c")
    for seq, event in enumerate(events, first):
        state.apply(seq, event)  # type: ignore[arg-type]
    return state


@pytest.mark.parametrize(
    "event",
    [
        message(),
        ReminderDue(schedule_id="r", user_id="ana", text="x", due_at=AT),
        WorkflowReport(run_id="w", workflow="x", user_id="ana", content=[], at=AT),
        ApprovalGiven(approval_id="a", user_id="ana", approved=True, at=AT),
    ],
)
def test_every_kind_of_input_but_a_cancel_request_waits_for_an_answer(event: object) -> None:
    assert fold(event).pending_inputs() == [1]
    assert fold(cancel()).pending_inputs() == []


def test_an_input_waits_until_a_turn_takes_it_and_never_again_once_covered() -> None:
    assert fold(message(), message()).pending_inputs() == [1, 2]
    assert fold(message(), message(), started()).pending_inputs() == [2]
    assert fold(message(), message(), started(), ended()).pending_inputs() == [2]
    assert fold(message(), message(), started(), ended(inputs=(1, 2))).pending_inputs() == []


def test_an_input_shown_in_a_later_step_no_longer_waits() -> None:
    state = fold(message(), started(), message(), replied("k", inputs=(3,)))
    assert state.pending_inputs() == []
    assert state.open is not None
    assert state.open.inputs == [1, 3]


def test_a_crash_between_steering_and_the_reply_leaves_the_input_waiting() -> None:
    assert fold(message(), started(), message()).pending_inputs() == [3]


def test_a_covered_input_that_is_read_late_does_not_wait() -> None:
    state = fold(started(), ended(), first=2)
    state.apply(1, message())
    assert state.pending_inputs() == []


def test_calls_wait_for_their_outcome_except_refused_ones() -> None:
    state = fold(message(), started(), replied("k1", "k2"), finished("k1"))
    assert state.open is not None
    assert [c.call_id for c in state.open.pending] == ["k2"]
    state = fold(message(), started(), replied("k1", refused="no such tool"))
    assert state.open is not None
    assert state.open.pending == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (finished("k"), finished("k", "unknown")),
        (finished("k", "unknown"), finished("k")),
        (finished("k"), abandoned("k")),
        (abandoned("k"), finished("k")),
    ],
)
def test_the_first_outcome_of_a_call_wins(first: object, second: object) -> None:
    state = fold(message(), started(), replied("k"), first, second)
    assert state.open is not None
    assert state.open.outcomes == {"k": first}
    assert state.open.outcome_seqs == {"k": 4}


def test_a_result_heard_before_it_is_read_gets_its_sequence_later() -> None:
    state = fold(message(), started(), replied("k"))
    state.apply(0, finished("k"))
    assert state.open is not None
    assert (state.open.pending, state.open.outcome_seqs) == ([], {"k": 0})
    state.apply(4, finished("k"))
    assert state.open.outcome_seqs == {"k": 4}


@pytest.mark.parametrize("late", [finished("k"), abandoned("k")])
def test_an_outcome_after_the_end_changes_nothing(late: object) -> None:
    state = fold(message(), started(), replied("k"), ended(), late)
    assert state.turns[0].outcomes == {}


def test_an_outcome_of_a_turn_that_was_not_read_is_passed_over() -> None:
    state = fold(message(), finished("k", turn="0-x"), started())
    assert state.open is not None
    assert state.open.outcomes == {}


def test_a_takeover_changes_owner_and_epoch_and_keeps_what_was_done() -> None:
    state = fold(message(), started(), replied("k"), finished("k"), started(epoch=2, owner="b"))
    assert len(state.turns) == 1
    assert state.overlaps == 0
    turn = state.turns[0]
    assert (turn.epoch, turn.owner, turn.started_seq, len(turn.replies)) == (2, "b", 2, 1)
    assert turn.outcomes.keys() == {"k"}


def test_a_second_turn_over_an_open_one_is_counted_as_an_overlap() -> None:
    state = fold(message(), message(), started(), started("2-u", inputs=(2,)))
    assert state.overlaps == 1
    assert state.open is not None
    assert state.open.turn_id == "2-u"


def test_what_belongs_to_no_open_turn_is_passed_over_but_moves_the_fence() -> None:
    state = fold(message(), started(), ended(), replied("k"), ended("9-z", inputs=(9,)))
    assert state.fence == 5
    assert state.open is None
    assert state.turns[0].replies == []
    assert 9 in state.covered


def test_the_end_carries_the_last_reply() -> None:
    state = fold(message(), started(), ended(final=replied(inputs=(1,))))
    assert state.open is None
    assert [len(state.turns[0].replies), state.turns[0].reply_seqs, state.turns[0].ended_seq] == [1, [3], 3]


@pytest.mark.parametrize(
    ("kind", "fence"), [("log.turn_paused", 3), ("log.unreadable", 3), ("input.sticker", 2), ("tool.progress", 2)]
)
def test_an_unknown_event_is_skipped_and_only_one_of_the_log_moves_the_fence(kind: str, fence: int) -> None:
    state = fold(message(), started(), Unknown(type=kind, raw=b"{}"))
    assert state.fence == fence
    assert state.open is not None


def test_a_log_event_of_a_kind_without_effect_moves_the_fence() -> None:
    asked = ApprovalRequested(turn_id="1-t", approval_id="a", call_id="k", at=AT, expires_at=AT)
    assert fold(message(), started(), asked).fence == 3


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((message(), started(), cancel()), 3),
        ((message(), started(), cancel("1-t")), 3),
        ((message(), started(), cancel("0-other")), 0),
        ((cancel(), message(), started(inputs=(2,))), 0),
        ((cancel("1-t"), message(), started(inputs=(2,))), 1),
        ((message(), started()), 0),
    ],
)
def test_a_cancel_request_is_meant_for_the_turn_it_names_or_the_one_that_runs(
    events: tuple[object, ...], expected: int
) -> None:
    state = fold(*events)
    assert state.open is not None
    assert state.cancel_requested(state.open) == expected


def test_a_covered_cancel_request_does_not_stop_the_next_turn() -> None:
    state = fold(message(), started(), cancel(), ended(inputs=(1, 3)), message(), started("5-u", inputs=(5,)))
    assert state.open is not None
    assert state.cancel_requested(state.open) == 0


def test_the_first_redaction_of_a_part_stands() -> None:
    one = Redacted(target_seq=1, part=0, note="sin imagen", reason="side-limit", at=AT)
    two = Redacted(target_seq=1, part=0, note="otra", reason="side-limit", at=AT)
    assert fold(message(), one, two).redactions == {(1, 0): one}


def test_the_profile_is_that_of_the_last_turn() -> None:
    other = TurnStarted(turn_id="1-t", epoch=1, owner="a", lease=1, inputs=[1], at=AT, profile="casa")
    assert fold(message()).profile == ""
    assert fold(message(), other).profile == "casa"


@pytest.mark.parametrize(
    "header", ["", "1", "1 2 3", "a b c d", "-1 0 0 0", "1 2 3 4 5", "¹ 0 0 0", "1.0 0 0 0", "9" * 5000 + " 0 0 0"]
)
def test_a_header_that_is_no_checkpoint_means_the_very_beginning(header: str) -> None:
    assert Checkpoint.from_header(header) == Checkpoint()


def test_a_checkpoint_survives_its_header() -> None:
    checkpoint = Checkpoint(seq=7, turns=2, tokens=345, log=9)
    assert Checkpoint.from_header(checkpoint.header()) == checkpoint
