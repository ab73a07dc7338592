"""Centroids over an endpoint's vectors: made, calibrated, renewed where phrases changed, and kept small."""

from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from services.router.centroids import (
    MAX_EXPORT_BYTES,
    CentroidLayer,
    Centroids,
    calibrate,
    examples_of,
    export,
    outdated,
    renew,
    restore,
)
from services.router.vectors import Floats
from shared.errors import Malformed
from shared.messages.tools import Phrases

AXES = {"email": 0, "web": 1, "none": 2}
DIMENSIONS = 16
EXAMPLES = {name: [f"{name} {i}" for i in range(20)] for name in AXES}


def near(axis: int, seed: int) -> Floats:
    """A vector that leans to an axis, as an encoder's do: with much in common with all others."""
    noise = np.random.default_rng(seed).normal(size=DIMENSIONS) * 0.15 + 0.3
    noise[axis] += 1.0
    return noise.astype(np.float32)


def vectors_of(examples: Mapping[str, list[str]]) -> dict[str, Floats]:
    return {t: near(AXES[n], 100 * AXES[n] + i) for n, texts in examples.items() for i, t in enumerate(texts)}


@pytest.fixture(scope="module")
def state() -> Centroids:
    return calibrate(EXAMPLES, vectors_of(EXAMPLES), "somewhere m")


ALL = frozenset({"email", "web"})


@pytest.mark.parametrize(("axis", "groups"), [(0, ("email",)), (1, ("web",)), (2, ())])
def test_a_text_goes_to_the_group_it_resembles(axis: int, groups: tuple[str, ...], state: Centroids) -> None:
    verdict = CentroidLayer(state, {"text": near(axis, 999)}).judge("text", (), ALL, part=False)
    assert verdict is not None
    assert verdict.groups == groups


def test_a_text_without_a_vector_or_with_a_foreign_one_is_in_doubt(state: Centroids) -> None:
    layer = CentroidLayer(state, {"foreign": np.ones(3, np.float32)})
    assert layer.judge("unknown", (), ALL, part=False) is None
    assert layer.judge("foreign", (), ALL, part=False) is None


def test_a_text_between_two_groups_is_less_sure(state: Centroids) -> None:
    layer = CentroidLayer(state, {"sure": near(0, 999), "torn": near(0, 999) + near(1, 998)})
    sure, torn = (layer.judge(t, (), ALL, part=True) for t in ("sure", "torn"))
    assert sure is not None
    assert torn is not None
    assert sure.scores["email"] > 0.95 > torn.scores["email"]


def test_only_what_changed_is_outdated(state: Centroids) -> None:
    assert outdated(EXAMPLES, state, "somewhere m") == []
    assert outdated(EXAMPLES, state, "elsewhere m") == ["email", "none", "web"]
    assert outdated(EXAMPLES, None, "somewhere m") == ["email", "none", "web"]
    assert outdated({**EXAMPLES, "web": ["new"], "tv": ["on"]}, state, "somewhere m") == ["tv", "web"]


def test_renewing_replaces_what_changed_and_keeps_the_rest_as_it_was(state: Centroids) -> None:
    changed = {"email": EXAMPLES["email"], "none": EXAMPLES["none"], "tv": ["on"]}
    renewed = renew(state, changed, {"on": near(5, 1)})
    assert sorted(renewed.classes) == ["email", "none", "tv"]
    assert renewed.classes["email"] == state.classes["email"]
    assert (renewed.sharpness, renewed.thresholds) == (state.sharpness, state.thresholds)
    assert outdated(changed, renewed, "somewhere m") == []
    verdict = CentroidLayer(renewed, {"text": near(5, 999)}).judge("text", (), frozenset({"email", "tv"}), part=False)
    assert verdict is not None
    assert verdict.groups[0] == "tv"


def test_an_export_is_small_and_says_the_same(state: Centroids) -> None:
    data = export(state)
    assert restore(data) == state
    wide = np.zeros(3072, np.float32)
    texts = {f"group{i}": [str(i), f"{i}!"] for i in range(15)}
    large = calibrate(texts, {t: wide + len(t) + i for i, ts in enumerate(texts.values()) for t in ts}, "wide")
    assert len(export(large)) < MAX_EXPORT_BYTES
    with pytest.raises(Malformed):
        export(
            msgspec.structs.replace(
                large,
                classes={f"{i}": c for i in range(4) for c in large.classes.values()}
                | {f"{i} {n}": c for i in range(2) for n, c in large.classes.items()},
            )
        )


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"embedder":"x"}'])
def test_what_is_no_export_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        restore(data)


def test_directions_of_different_lengths_are_refused(state: Centroids) -> None:
    short = msgspec.structs.replace(state.classes["web"], direction="AAAA")
    with pytest.raises(Malformed, match="length"):
        restore(msgspec.json.encode(msgspec.structs.replace(state, classes={**state.classes, "web": short})))


def test_centroids_are_made_of_all_languages_examples() -> None:
    groups = {"tv": {"es": Phrases(examples=["enciende"]), "en": Phrases(examples=["turn on"])}}
    assert examples_of(groups, {"es": Phrases(examples=["hola"])}) == {"none": ["hola"], "tv": ["turn on", "enciende"]}
