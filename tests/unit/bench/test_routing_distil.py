"""Distilling word vectors: which words, how frequent, and their projection."""

import numpy as np
import pytest

from bench.routing_distil import gather_words, reduce

FREQUENT = {
    "es": {"qué": 0.02, "que": 0.03, "niño": 0.01, "2000": 0.001, "a-b": 0.1},
    "en": {"que": 0.001, "rain": 0.004},
}


def test_spellings_of_one_folded_word_share_it_and_the_most_frequent_speaks() -> None:
    words = gather_words(lambda language, _: list(FREQUENT[language]), lambda word, language: FREQUENT[language][word])
    assert {word: spelling for word, (spelling, _) in words.items()} == {
        "0": "2000",
        "nino": "niño",
        "que": "que",
        "rain": "rain",
    }
    assert [often for _, often in words.values()] == pytest.approx([0.0005, 0.005, 0.0255, 0.002])


def test_the_projection_keeps_unit_length_and_what_tells_words_apart() -> None:
    rng = np.random.default_rng(2)
    sides = np.sign(rng.normal(size=(200, 1)))
    vectors = np.hstack([5 + 0 * sides, 3 * sides, 0.1 * rng.normal(size=(200, 6))]).astype(np.float32)
    found = reduce(vectors, 2)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(200), abs=1e-5)
    assert abs(np.corrcoef(found[:, 0], sides[:, 0])[0, 1]) > 0.99
