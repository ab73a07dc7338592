"""Text made safe, cut and folded: whatever comes in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import clean, cut, estimate_tokens, fold

# Any code points at all, unpaired surrogates and controls among them.
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("hola", "hola"),
        ("", ""),
        ("a\x00b\x07c", "abc"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"),
        ("\x1b[31mrojo\x1b[0m", "[31mrojo[0m"),
        ("a\x7f\x85\x9fb", "ab"),
        ("roto \ud83d aquí", "roto  aquí"),
        ("\udcff", ""),
        ("a\ufffe\uffffb", "ab"),
        ("cafe\u0301", "café"),
        ("👩\u200d👧", "👩\u200d👧"),
    ],
)
def test_clean_removes_what_breaks_others_and_nothing_else(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@given(ANYTHING)
def test_clean_text_stays_as_it_is_and_can_be_sent(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")
    assert not any(c not in {"\n", "\t"} and unicodedata.category(c) in ("Cc", "Cs") for c in once)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("hola", 10, "hola"),
        ("hola", 4, "hola"),
        ("hola", 2, "ho"),
        ("hola", 0, ""),
        ("cafe\u0301 solo", 4, "caf"),
        ("e\u0301\u0302\u0303x", 2, ""),
        ("👩🏽 y más", 1, "👩"),
    ],
)
def test_cut_ends_between_characters(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@given(ANYTHING, st.integers(0, 70))
def test_cut_is_a_prefix_within_the_limit_that_parts_no_accent_from_its_letter(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert text.startswith(short)
    assert len(short) <= limit or short == text
    if short and len(short) < len(text):
        assert not unicodedata.combining(text[len(short)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("MAÑANA", "manana"),
        ("Camión", "camion"),
        ("Straße", "STRASSE"),
        ("ﬁn", "FIN"),
        ("𝐀𝐛", "ab"),
        ("ᴬ", "a"),
    ],
)
def test_fold_makes_equal_what_people_type_as_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(ANYTHING)
def test_folded_text_stays_as_it_is(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(ANYTHING)
def test_the_estimate_of_tokens_is_never_zero_and_grows_with_the_text(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= estimate_tokens(text + "xxxx")
