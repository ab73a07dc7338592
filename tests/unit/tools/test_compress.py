"""Results cut for the model: about the limit, valid JSON, nothing silent."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.tools.compress import Shrunk, shrink, size

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30) | st.sampled_from(
    ['"' * 300, "\x01" * 300, "ñ" * 300, "👩🏽" * 100, "e\u0301" * 200, "\\\n" * 200]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=30,
)


@settings(deadline=None)
@given(values, st.integers(200, 2000))
def test_whatever_a_tool_returns_fits_about_the_limit_or_says_that_it_was_cut(value: Any, limit: int) -> None:
    shrunk = shrink(value, limit, ref="k1")
    assert shrunk.truncated == (size(value) > limit)
    assert size(shrunk.value) <= limit
    assert msgspec.json.decode(msgspec.json.encode(shrunk.value)) == shrunk.value
    if shrunk.truncated:
        assert (shrunk.value["truncated"], shrunk.value["ref"]) == (True, "k1")
    else:
        assert shrunk.value == value


def items(count: int, width: int = 40) -> list[dict[str, Any]]:
    return [{"id": n, "text": "x" * width} for n in range(count)]


def test_a_result_at_the_limit_is_left_alone_and_one_over_it_is_not() -> None:
    value = {"text": "x" * 300}
    assert shrink(value, size(value), ref="k") == Shrunk(value=value, truncated=False)
    assert shrink(value, size(value) - 1, ref="k").truncated


def test_the_longest_list_loses_whole_items_from_its_end_and_says_how_many_there_were() -> None:
    value = {"notes": items(276), "total": 276, "page": 1}
    cut = shrink(value, 1000, ref="k").value
    shown = len(cut["notes"])
    assert cut == {
        **value,
        "notes": value["notes"][:shown],
        "truncated": True,
        "shown": shown,
        "total": 276,
        "ref": "k",
    }
    assert 900 <= size(cut) <= 1000


def test_a_total_the_tool_knows_is_kept_though_it_returned_fewer() -> None:
    cut = shrink({"notes": items(100), "total": 276}, 1000, ref="k").value
    assert cut["total"] == 276
    assert cut["shown"] == len(cut["notes"]) < 100


def test_a_total_is_counted_when_the_tool_gave_none() -> None:
    assert shrink({"hits": items(164)}, 1000, ref="k").value["total"] == 164


@pytest.mark.parametrize("other", [items(90), "y" * 8000, {"deep": ["z" * 8000]}])
def test_a_second_long_field_does_not_break_the_limit(other: Any) -> None:
    cut = shrink({"a": items(100), "b": other}, 1000, ref="k").value
    assert size(cut) <= 1000
    assert cut["truncated"] is True


def test_one_item_too_long_for_the_limit_is_shown_in_part() -> None:
    cut = shrink({"mails": [{"body": "hola " * 1000}], "account": "ana"}, 1000, ref="k").value
    assert size(cut) <= 1000
    assert "hola hola" in msgspec.json.encode(cut).decode()


@pytest.mark.parametrize("unit", ["x", '"', "\x01", "ñ", "👩🏽", "\\"])
def test_a_long_text_is_cut_by_what_it_takes_on_the_wire(unit: str) -> None:
    text = unit * 5000
    cut = shrink(text, 1000, ref="k").value
    assert size(cut) <= 1000
    assert text.startswith(cut["text"])
    assert cut["text"]
    assert (cut["shown_chars"], cut["total_chars"]) == (len(cut["text"]), len(text))


def test_a_bare_list_is_cut_as_text_of_json() -> None:
    cut = shrink(items(100), 1000, ref="k").value
    assert cut["text"].startswith('[{"id":0,"text":"xxx')
    assert cut["total_chars"] == size(items(100))
