"""Texts as numbers, and the classifier that reads them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.router.features import HASHED, MAX_WORDS, featurise, words_of
from services.router.linear import STEPS, Linear, pack, quantise, unpack
from services.router.training import Recipe, Sample, fit
from services.router.vectors import WordVectors, load_vectors, save_vectors, word_ids
from shared.errors import Malformed

WORDS = ["lluvia", "rain", "correo", "mail"]
DIRECTIONS = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> WordVectors:
    folder: Path = tmp_path_factory.mktemp("vectors")
    save_vectors(folder, WORDS, DIRECTIONS, np.array([1, 1, 1, 0.5], np.float32))
    return load_vectors(folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("¡Qué TIEMPO hará mañana!", ["que", "tiempo", "hara", "manana"]),
        ("don't, don\u2019t", ["dont", "dont"]),
        ("a las 7:30 o a las 19", ["a", "las", "0", "0", "o", "a", "las", "0"]),
        ("r/python_tips", ["r", "python", "tips"]),
        ("👍 …", []),
    ],
)
def test_words_are_folded_and_all_numbers_are_one(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_of_a_long_text_only_the_first_words_count() -> None:
    assert len(words_of("palabra " * 1000)) == MAX_WORDS


def test_a_sentence_points_where_its_known_words_do_by_their_weight(vectors: WordVectors) -> None:
    assert vectors.sentence(word_ids(["lluvia", "xyzzy"])) == pytest.approx([1, 0], abs=0.01)
    assert vectors.sentence(word_ids(["lluvia", "mail"])) == pytest.approx([0.894, 0.447], abs=0.01)
    assert vectors.sentence(word_ids(["xyzzy"])).tolist() == [0, 0]
    assert vectors.sentence(word_ids([])).tolist() == [0, 0]


@given(text=st.text(max_size=300))
def test_any_text_has_features_within_bounds(text: str) -> None:
    table = WordVectors(word_ids(["a"]), np.ones((1, 2), np.int8), np.ones(1, np.uint8))
    features = featurise(text, table)
    assert len(features.columns) == len(features.values)
    assert all(0 <= c < HASHED for c in features.columns)
    assert np.isfinite(features.values).all()
    assert np.isfinite(features.vector).all()


def test_the_same_text_has_the_same_features_and_accents_do_not_count(vectors: WordVectors) -> None:
    one, other = featurise("¿Lloverá mañana?", vectors), featurise("llovera manana", vectors)
    assert one.columns.tolist() == other.columns.tolist()


TAUGHT = {
    "weather": ["va a llover", "que lluvia hay", "will it rain", "lluvia mañana", "llueve en cali"],
    "email": ["lee mi correo", "manda un correo", "any mail", "correo nuevo", "send mail"],
    "none": ["hola amiga", "cuenta un chiste", "how are you", "buenas noches", "eres un sol"],
}


@pytest.fixture(scope="module")
def model(vectors: WordVectors) -> Linear:
    return fit(samples(vectors), tuple(TAUGHT), Recipe(epochs=30))


def samples(vectors: WordVectors) -> list[Sample]:
    return [
        Sample(featurise(text, vectors), frozenset(), frozenset([name]))
        for name, texts in TAUGHT.items()
        for text in texts
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [("lloverá esta tarde", "weather"), ("rain", "weather"), ("hay correo de Ana", "email"), ("hola", "none")],
)
def test_what_was_taught_is_known_in_other_words(text: str, name: str, model: Linear, vectors: WordVectors) -> None:
    scores = model.scores(featurise(text, vectors))
    assert max(scores, key=scores.__getitem__) == name
    assert sum(scores.values()) == pytest.approx(1, abs=1e-5)


def test_learning_twice_gives_the_same_bytes(model: Linear, vectors: WordVectors) -> None:
    assert pack(fit(samples(vectors), tuple(TAUGHT), Recipe(epochs=30))) == pack(model)


def test_a_text_that_two_classes_may_have_teaches_neither_against_the_other(vectors: WordVectors) -> None:
    shared = [Sample(featurise("ping pong", vectors), frozenset(), frozenset(["weather", "email"]))] * 20
    scores = fit([*samples(vectors), *shared], tuple(TAUGHT), Recipe()).scores(featurise("ping pong", vectors))
    assert scores["none"] < 0.2


def test_a_keyword_hint_speaks_for_its_class(vectors: WordVectors) -> None:
    hinted = [Sample(featurise(f"asunto {i}", vectors), frozenset(["email"]), frozenset(["email"])) for i in range(30)]
    plain = [Sample(featurise(f"cosa {i}", vectors), frozenset(), frozenset(["none"])) for i in range(30)]
    trained = fit([*hinted, *plain], ("email", "none"), Recipe())
    unseen = featurise("zzzz", vectors)
    assert trained.scores(unseen, {"email", "unknown"})["email"] > trained.scores(unseen)["email"]


def test_small_integers_keep_the_weights_to_half_a_step() -> None:
    weights = np.random.default_rng(1).normal(size=(HASHED, 2)).astype(np.float32)
    empty = np.zeros((2, 2), np.float32)
    model = quantise(("a", "b"), weights, empty, empty, np.zeros(2, np.float32))
    assert np.abs(model.hashed * model.scales - weights).max() <= np.abs(weights).max() / STEPS / 2 * 1.001


def test_a_packed_model_is_read_back_and_nothing_else_is(model: Linear, vectors: WordVectors) -> None:
    features = featurise("manda un correo", vectors)
    assert unpack(pack(model)).scores(features) == model.scores(features)
    for broken in (b"", b"PK", pack(model)[:-200], b"{}"):
        with pytest.raises(Malformed):
            unpack(broken)
