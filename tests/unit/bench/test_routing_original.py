"""The original's design, as the bench rebuilds it to compare with."""

import numpy as np

from bench.routing_original import Original
from services.router.vectors import WordVectors, word_ids
from shared.messages.tools import Phrases

WORDS = sorted(["rain", "storm", "screen", "film"], key=lambda w: word_ids([w])[0])
AXIS = {"rain": [127, 0, 0], "storm": [120, 40, 0], "screen": [0, 127, 0], "film": [0, 0, 127]}
VECTORS = WordVectors(word_ids(WORDS), np.array([AXIS[w] for w in WORDS], np.int8), np.full(len(WORDS), 255, np.uint8))
ORIGINAL = Original(
    {
        "web": {"es": Phrases(keywords=["tiempo"], examples=["rain"])},
        "tv": {"es": Phrases(keywords=["tele*", "pon la"], examples=["screen"])},
    },
    VECTORS,
)


def test_substrings_fire_in_the_middle_of_words() -> None:
    decision = ORIGINAL.decide("llama por TELÉFONO")
    assert (decision.layer, decision.groups) == ("keywords", ["tv"])


def test_without_a_substring_the_nearest_centroid_decides() -> None:
    decision = ORIGINAL.decide("storm")
    assert (decision.layer, decision.groups) == ("semantic", ["web"])


def test_far_from_every_centroid_all_groups_are_loaded() -> None:
    decision = ORIGINAL.decide("film")
    assert (decision.layer, decision.groups) == ("all", ["tv", "web"])
