"""What the classifier learns from, and how far keywords are trusted."""

from pathlib import Path

import pytest

from services.router.samples import (
    PROVEN,
    UNPROVEN,
    Row,
    Utterance,
    concede,
    gather,
    keywords_only,
    measure_precision,
    read_corpus,
    read_rows,
    shippable,
    write_corpus,
)
from shared.errors import Permanent
from shared.messages.tools import Phrases

GROUPS = {
    "notes": {"es": Phrases(keywords=["nota", "apunta"], examples=["apunta esto"], negatives=["se nota"])},
    "web": {"en": Phrases(keywords=["weather"], examples=["the weather", "both"])},
}
NONE_PHRASES = {"es": Phrases(examples=["hola", "both"])}


def accepted(utterances: list[Utterance]) -> dict[str, tuple[str, ...]]:
    return {u.text: u.accept for u in utterances}


def test_examples_are_right_for_their_group_negatives_for_all_others() -> None:
    assert accepted(gather(GROUPS, NONE_PHRASES, [])) == {
        "apunta esto": ("notes",),
        "se nota": ("none", "web"),
        "the weather": ("web",),
        "both": ("none", "web"),
        "hola": ("none",),
    }


def test_in_the_corpus_a_group_that_does_not_exist_is_no_tool() -> None:
    corpus = [Utterance("dim the lamp", ("lights",)), Utterance("jot it", ("lights", "notes"))]
    found = accepted(gather(GROUPS, {}, corpus))
    assert (found["dim the lamp"], found["jot it"]) == (("none",), ("none", "notes"))


def test_a_new_groups_keywords_may_claim_what_needed_no_tool_before() -> None:
    groups = {**GROUPS, "lights": {"en": Phrases(keywords=["lamp"])}}
    lexicon = keywords_only(groups, {})
    rows = [Utterance("dim the lamp", ("none",)), Utterance("the weather lamp", ("web",)), Utterance("nota", ("none",))]
    assert [u.accept for u in concede(rows, lexicon, frozenset())] == [("lights", "none"), ("web",), ("none",)]


def test_only_rows_whose_licence_allows_it_are_kept() -> None:
    licences = ["CC-BY-4.0", "CC-BY-SA-4.0", "MIT", "", "CC0-1.0"]
    rows = [Row(text=lic, groups=["web"], accept=["none"], lic=lic) for lic in licences]
    assert [(u.text, u.accept) for u in shippable(rows)] == [
        ("CC-BY-4.0", ("none", "web")),
        ("MIT", ("none", "web")),
        ("CC0-1.0", ("none", "web")),
    ]


def test_a_keyword_is_trusted_by_what_was_seen() -> None:
    lexicon = keywords_only(GROUPS, {})
    rows = [Utterance(f"nota {i}", ("notes",)) for i in range(PROVEN)]
    rows += [Utterance(f"weather {i}", ("web",)) for i in range(3)] + [Utterance("weather man", ("none",))]
    rows += [Utterance("apunta", ("notes",))]
    measured = measure_precision(rows, lexicon, frozenset(), GROUPS)
    assert measured == {"notes": {"nota": 1.0, "apunta": UNPROVEN}, "web": {"weather": 0.75}}


def test_files_are_read_back_and_a_bad_line_is_named(tmp_path: Path) -> None:
    corpus = [Utterance("¿lloverá?", ("web",), "es", "own"), Utterance("hi", ("none",))]
    write_corpus(tmp_path / "c.jsonl", corpus)
    assert read_corpus(tmp_path / "c.jsonl") == corpus
    (tmp_path / "r.jsonl").write_text('{"text": "a", "groups": []}\n{"text": 1}\n', encoding="utf-8")
    with pytest.raises(Permanent, match=r"r\.jsonl, line 2"):
        read_rows(tmp_path / "r.jsonl")
