"""The fold over arbitrary logs: re-reading changes nothing, and a checkpoint loses nothing that decides."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.conversation.fold import Checkpoint, Conversation, Turn
from shared.messages.base import Unknown
from shared.messages.conversation import ConversationEvent, TurnEnded
from tests.unit.shared.arbitrary_logs import Log, cut_logs, fold, is_log_event, logs

quick = settings(deadline=None, max_examples=30)


def turn_of(turn: Turn) -> dict[str, Any]:
    return {**vars(turn), "pending": turn.pending, "inputs": turn.inputs}


def snapshot(state: Conversation) -> dict[str, Any]:
    whole = {**vars(state), "pending_inputs": state.pending_inputs()}
    whole["turns"] = [turn_of(turn) for turn in state.turns]
    whole["open"] = state.open.turn_id if state.open else None
    return {key: value.copy() if isinstance(value, dict | set) else value for key, value in whole.items()}


@quick
@given(cut_logs(), st.data())
def test_reading_any_stretch_again_changes_nothing(log: Log, data: st.DataObject) -> None:
    state = fold(log)
    before = snapshot(state)
    begin = data.draw(st.integers(0, len(log)))
    end = data.draw(st.integers(begin, len(log)))
    for seq, event in log[begin:end]:
        state.apply(seq, event)
    assert snapshot(state) == before


@quick
@given(cut_logs(), st.data())
def test_reading_in_two_halves_that_overlap_is_reading_once(log: Log, data: st.DataObject) -> None:
    middle = data.draw(st.integers(0, len(log)))
    back = data.draw(st.integers(0, middle))
    assert snapshot(fold([*log[:middle], *log[back:]])) == snapshot(fold(log))


@quick
@given(cut_logs(), st.data())
def test_inputs_heard_early_lead_to_the_same_state(log: Log, data: st.DataObject) -> None:
    heard: list[tuple[int, ConversationEvent | Unknown]] = []
    for seq, event in log:
        early = not is_log_event(event) and not hasattr(event, "call_id") and data.draw(st.booleans())
        heard.insert(data.draw(st.integers(0, len(heard))) if early else len(heard), (seq, event))
    assert snapshot(fold(heard)) == snapshot(fold(log))


@quick
@given(logs())
def test_every_input_is_covered_or_waits_and_never_both(log: Log) -> None:
    state = fold(log)
    for seq in state.pending_inputs():
        assert seq not in state.covered
    ends = [event for _, event in log if isinstance(event, TurnEnded)]
    covered = [seq for event in ends for seq in event.inputs]
    assert len(covered) == len(set(covered))
    assert state.covered == set(covered)
    assert state.overlaps == 0


def decisions(state: Conversation) -> dict[str, Any]:
    """All that a turn looks at."""
    return {
        "fence": state.fence,
        "open": turn_of(state.open) if state.open else None,
        "turns": [turn_of(turn) for turn in state.turns],
        "pending": state.pending_inputs(),
        "cancel": state.cancel_requested(state.open) if state.open else 0,
        "profile": state.profile,
        "checkpoint": state.checkpoint,
    }


@settings(deadline=None, max_examples=100)
@given(logs(), st.data())
def test_reading_from_a_checkpoint_yields_the_same_decisions_as_reading_everything(
    log: Log, data: st.DataObject
) -> None:
    """The owner trims while a turn is open, so the cut falls anywhere inside the last turn or later."""
    ended = [at for at, (_, event) in enumerate(log) if isinstance(event, TurnEnded)]
    here = data.draw(st.sampled_from(ended))
    owner = fold(log[:here])
    finished = [turn for turn in owner.turns if turn.ended]
    owner.forget_before(data.draw(st.integers(0, len(finished))), 100)
    for seq, event in log[here:]:
        owner.apply(seq, event)
    reader = fold(log, Checkpoint.from_header(owner.checkpoint.header()))
    assert decisions(reader) == decisions(owner)


@quick
@given(logs(), st.data())
def test_forgetting_twice_counts_every_turn_once(log: Log, data: st.DataObject) -> None:
    state = fold(log)
    turns = len(state.turns)
    one = data.draw(st.integers(0, turns))
    two = data.draw(st.integers(0, turns - one))
    before = state.pending_inputs()
    state.forget_before(one, one * 10)
    state.forget_before(two, two * 10)
    assert (len(state.turns), state.checkpoint.turns, state.checkpoint.tokens) == (
        turns - one - two,
        one + two,
        (one + two) * 10,
    )
    assert state.pending_inputs() == before
