"""From probabilities to groups, and the thresholds that calibration chooses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.router.calibration import DOUBT_FLOOR, NONE_FLOOR, PART_FLOOR, Case, choose_thresholds
from services.router.policy import MAX_GROUPS, Thresholds, part_verdict, verdict
from services.router.semantic import NONE, Verdict

AT = Thresholds(none=0.8, missed=0.1, doubt=0.3, part=0.7)
ALL = frozenset("abcde")


def groups(found: Verdict | None) -> tuple[str, ...] | None:
    return None if found is None else found.groups


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": 0.1, "b": 0.05, NONE: 0.85}, ()),
        ({"a": 0.95, "b": 0.03, NONE: 0.02}, ("a",)),
        ({"a": 0.5, "b": 0.45, "c": 0.05}, ("a", "b")),
        ({"a": 0.25, NONE: 0.75}, ("a",)),
        ({"a": 0.3, "b": 0.3, "c": 0.2, "d": 0.15, "e": 0.05}, ("a", "b", "c")),
        ({"a": 0.22, "b": 0.2, "c": 0.2, "d": 0.19, "e": 0.19}, None),
    ],
)
def test_groups_are_added_until_little_is_left_out(scores: dict[str, float], expected: tuple[str, ...] | None) -> None:
    assert groups(verdict(scores, AT, ALL)) == expected


def test_what_only_a_group_that_is_not_offered_can_do_needs_no_tool() -> None:
    scores = {"a": 0.9, "b": 0.08, NONE: 0.02}
    assert groups(verdict(scores, AT, frozenset("b"))) == ()
    assert groups(verdict(scores, AT, frozenset())) == ()
    assert part_verdict(scores, AT, frozenset("b")) is None


def test_a_clause_adds_its_best_group_only_when_likely() -> None:
    assert groups(part_verdict({"a": 0.75, "b": 0.2}, AT, ALL)) == ("a",)
    assert part_verdict({"a": 0.65, "b": 0.3}, AT, ALL) is None


WEIGHTS = st.dictionaries(st.sampled_from([*ALL, NONE]), st.floats(0, 1), min_size=1)


@given(weights=WEIGHTS, offered=st.frozensets(st.sampled_from(sorted(ALL))))
def test_any_verdict_names_few_groups_and_only_offered_ones(weights: dict[str, float], offered: frozenset[str]) -> None:
    total = sum(weights.values()) or 1.0
    found = verdict({c: w / total for c, w in weights.items()}, AT, offered)
    if found is not None:
        assert set(found.groups) <= offered
        assert len(found.groups) <= MAX_GROUPS


def case(right: str, **scores: float) -> Case:
    return Case({"a": 0.0, "b": 0.0, **scores, NONE: round(1 - sum(scores.values()), 6)}, frozenset([right]))


def test_the_bar_for_no_tool_lies_above_nearly_all_requests() -> None:
    requests = [case("a", a=0.4 + i / 1000) for i in range(100)] + [case("b", b=0.9) for _ in range(100)]
    talk = [case(NONE, a=0.05) for _ in range(100)]
    chosen = choose_thresholds([*requests, *talk])
    assert 0.55 < chosen.none < 0.62
    assert all(verdict(c.scores, chosen, ALL) == Verdict((), {"a": 0.05, "b": 0.0, NONE: 0.95}) for c in talk)


def test_classes_weigh_the_same_however_many_rows_they_have() -> None:
    common = [case("a", a=0.9) for _ in range(1000)]
    rare = [case("b", b=0.3) for _ in range(10)]
    assert choose_thresholds([*common, *rare, case(NONE)]).none > 0.7


def test_with_close_seconds_more_groups_are_loaded() -> None:
    sure = [case("a", a=0.95, b=0.05) for _ in range(50)] + [case("b", b=0.95, a=0.05) for _ in range(50)]
    torn = [case("a", a=0.12, b=0.88) for _ in range(10)] + [case("b", a=0.88, b=0.12) for _ in range(10)]
    alone, both = choose_thresholds([*sure, case(NONE)]), choose_thresholds([*sure, *torn, case(NONE)])
    assert both.missed <= 0.12 < alone.missed
    assert groups(verdict(torn[0].scores, both, ALL)) == ("b", "a")


def test_faultless_examples_set_no_bar_that_the_next_message_trips_over() -> None:
    chosen = choose_thresholds([case("a", a=1.0), case("b", b=1.0), case(NONE)])
    assert (chosen.none, chosen.doubt, chosen.part) == (NONE_FLOOR, DOUBT_FLOOR, PART_FLOOR)
