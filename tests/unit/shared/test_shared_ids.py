"""Identifiers: sortable, findable, derived where a redone step must name the same thing."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ids import call_id, first_input_of, turn_id, uuid7


def test_uuid7_is_a_valid_version_7_uuid_and_never_repeats() -> None:
    made = [uuid7() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert {(uuid.UUID(hex=one).version, uuid.UUID(hex=one).variant) for one in made} == {(7, uuid.RFC_4122)}


def test_uuid7_sorts_by_the_millisecond_it_was_made_in() -> None:
    stamps = [one[:12] for one in (uuid7() for _ in range(2000))]
    assert stamps == sorted(stamps)


@given(st.integers(0, 2**63))
def test_a_turn_id_leads_back_to_its_first_input(seq: int) -> None:
    assert first_input_of(turn_id(seq)) == seq
    assert first_input_of(str(seq)) == seq


@pytest.mark.parametrize("handle", ["", "-1", "x-1", "1x-y", "١٢-a", " 1", "turn-1", "²"])
def test_what_is_no_turn_id_is_refused(handle: str) -> None:
    with pytest.raises(ValueError, match="not a turn id"):
        first_input_of(handle)


def test_a_call_id_is_made_from_its_place_only() -> None:
    assert call_id("7-abc", 2, 0) == call_id("7-abc", 2, 0) == "7-abc.2.0"
    assert len({call_id("7-abc", step, at) for step in range(20) for at in range(20)}) == 400
