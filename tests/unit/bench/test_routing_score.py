"""What the routing bench counts as right."""

from collections.abc import Sequence

import pytest

from bench.routing_score import Outcome, kinds, score, timing
from services.router.samples import Row
from shared.messages.routing import Layer, RouteDecision


def outcome(
    needed: Sequence[str],
    loaded: Sequence[str],
    accept: Sequence[str] = (),
    layer: Layer = "semantic",
    lang: str = "es",
    kind: str = "",
) -> Outcome:
    row = Row(text="x", groups=list(needed), accept=list(accept), lang=lang, kind=kind)
    return Outcome(row, RouteDecision(layer=layer, groups=list(loaded), scores=dict.fromkeys(loaded, 0.5)), 10.0)


@pytest.mark.parametrize(
    ("needed", "loaded", "accept", "right", "clean"),
    [
        (["web"], ["web"], [], True, True),
        (["web"], ["web", "tv"], [], True, False),
        (["web"], ["tv"], [], False, False),
        (["web"], ["tv"], ["tv"], True, True),
        (["web", "notes"], ["web"], [], False, True),
        (["web"], [], [], False, True),
        (["email"], [], ["email", "none"], True, True),
        ([], [], [], True, True),
        ([], ["web"], ["none", "web"], True, True),
        ([], ["web", "tv"], ["none", "web"], True, False),
        ([], ["tv"], ["none"], False, False),
    ],
)
def test_right_is_what_is_needed_or_accepted_and_clean_is_nothing_beside(
    needed: list[str], loaded: list[str], accept: list[str], right: bool, clean: bool
) -> None:
    found = outcome(needed, loaded, accept)
    assert (found.right_loaded, found.clean) == (right, clean)


def test_the_figures_of_the_contract() -> None:
    outcomes = [
        outcome(["web"], ["web"]),
        outcome(["web"], [], lang="en"),
        outcome(["tv"], ["tv", "web"], lang="en"),
        outcome([], []),
        outcome([], ["tv"], ["none"]),
        outcome([], ["web"], ["none", "web"]),
        outcome(["think"], ["think", "tv"], layer="all"),
        outcome([], [], layer="small_talk"),
    ]
    figures = score(outcomes)
    assert figures["recall_loaded"] == {"en": 0.5, "es": 1.0}
    assert figures["mean_tools"] == pytest.approx((7 + 0 + 10 + 0 + 3 + 7 + 4 + 0) / 8, abs=0.01)
    assert figures["fallback"] == 0.125
    assert (figures["oos_none"], figures["oos_none_strict"]) == (0.75, 0.5)
    assert figures["wrongly_none"] == 0.25
    assert figures["layer_shares"] == {"all": 0.125, "semantic": 0.75, "small_talk": 0.125}
    assert (figures["small_talk_precision"], figures["resolved_without_call"]) == (1.0, 0.875)


def test_traps_must_be_clean_and_requests_complete() -> None:
    outcomes = [
        outcome([], [], kind="trap"),
        outcome([], ["tv"], kind="trap"),
        outcome(["web", "notes"], ["web", "notes", "tv"], kind="multi"),
    ]
    assert kinds(outcomes) == {"traps_clean": 0.5, "several": 1.0}


def test_nothing_to_count_is_no_figure() -> None:
    figures = score([outcome([], [])])
    assert (figures["recall_loaded"], figures["wrongly_none"], figures["mean_tools_in_scope"]) == (
        {"es": None},
        None,
        None,
    )


def test_times_are_told_by_layer() -> None:
    assert timing([outcome([], []), outcome([], [], layer="all")]) == {
        "cpu_us_p50": 10.0,
        "cpu_us_p95": 10.0,
        "cpu_us_p50_by_layer": {"all": 10.0, "semantic": 10.0},
    }
