"""The syntax of word patterns, and the phrases that ship."""

import pytest

from services.router.decide import decide
from services.router.index import RoutingIndex
from services.router.lexicon import compile_lexicon
from services.router.patterns import BadPattern, Endings, PatternTable, compile_pattern
from services.router.tokens import tokenise
from services.router.words import endings_of, load_words
from shared.messages.routing import RouteRequest
from shared.messages.tools import GroupDeclared, Phrases

SPANISH = endings_of(load_words())["es"]


def met(pattern: str, text: str, endings: Endings = SPANISH) -> bool:
    """Whether `pattern` is met anywhere in `text`."""
    return bool(PatternTable([compile_pattern(pattern, None, endings)]).find(tokenise(text)))


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("nota", ["una nota", "¡NOTA!", "nóta", "(nota)", "nota: pan", "nota/idea"]),
        ("televis*", ["la televisión", "Televisores", "televis"]),
        ("guard~", ["guarda", "guardó", "guárdamelo", "guardándoselas", "guardad", "guardaríamos"]),
        ("borr+", ["bórrala", "borrarlos", "borrándomelo", "borradla"]),
        ("pon ... alarma", ["pon alarma", "pon una alarma", "pon ya otra nueva alarma"]),
        ("lista del súper", ["la lista del super", "LISTA DEL SÚPER"]),
        ("to-do list", ["my to do list", "to-do list"]),
        ("what's up", ["whats up", "what’s up"]),
        ("r/", ["mira r/spain"]),
        ("@", ["a luis@x.com"]),
        ("http", ["lee https://x.com/y", "www.x.com"]),
    ],
)
def test_a_pattern_meets(pattern: str, texts: list[str]) -> None:
    assert [t for t in texts if not met(pattern, t)] == []


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("nota", ["notas", "denota", "notable", "a nota@x.com", "https://x.com/nota"]),
        ("televis*", ["la tele", "por teléfono", "retelevisar"]),
        ("guard~", ["guardia", "guardería", "guardaespaldas", "resguarda", "guard"]),
        ("borr+", ["borra", "borrar", "borrador", "borrarme"]),
        ("pon ... alarma", ["pon una y otra y otra alarma", "pon la tele. alarma", "alarma pon"]),
        ("lista del súper", ["lista, del súper", "lista del"]),
    ],
)
def test_a_pattern_does_not_meet(pattern: str, texts: list[str]) -> None:
    assert [t for t in texts if met(pattern, t)] == []


@pytest.mark.parametrize("text", ["", "  ", "*", "a*", "~", "...", "pon ...", "... pon", "pon ... ... x", "¿?", "no ,"])
def test_a_pattern_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(text, None, SPANISH)


def test_a_bad_pattern_of_one_group_is_named_and_leaves_the_others_working() -> None:
    phrases = {"broken": {"es": Phrases(keywords=["a*", "rueda"])}, "sound": {"es": Phrases(keywords=["luz"])}}
    lexicon = compile_lexicon(phrases, {})
    assert len(lexicon.problems) == 1
    assert lexicon.problems[0].startswith("broken (es): pattern 'a*'")
    assert [h.group for h in lexicon.hits(tokenise("la luz de la rueda"))] == ["sound", "broken"]


def test_a_whole_utterance_learned_as_example_or_negative_decides() -> None:
    phrases = {
        "heating": {"es": Phrases(examples=["¿Hace fresquito aquí?"])},
        "fridge": {"es": Phrases(keywords=["fresquito"], negatives=["hace fresquito aquí"])},
    }
    lexicon = compile_lexicon(phrases, {})
    assert [h.group for h in lexicon.hits(tokenise("hace fresquito aqui"))] == ["heating"]
    assert [h.group for h in lexicon.hits(tokenise("oye, hace fresquito aquí"))] == ["heating"]
    assert [h.group for h in lexicon.hits(tokenise("algo fresquito"))] == ["fridge"]


def test_a_phrase_outweighs_the_words_inside_it_but_not_those_in_its_gap() -> None:
    phrases = {
        "lamp": {"es": Phrases(keywords=["pon ... luz", "luz de noche"])},
        "alarm": {"es": Phrases(keywords=["alarma", "noche"])},
    }
    lexicon = compile_lexicon(phrases, {})
    assert [h.pattern for h in lexicon.hits(tokenise("pon alarma con luz de noche"))] == [
        "pon ... luz",
        "alarma",
        "luz de noche",
    ]


def test_all_shipped_patterns_mean_something(index_with_shell: RoutingIndex) -> None:
    assert index_with_shell.problems == ()


def test_shipped_keywords_choose_nothing_for_the_shipped_negatives(declared: list[GroupDeclared]) -> None:
    """Measured without the negatives themselves, so that the keywords and blockers have to tell them apart."""
    shipped = [g for g in declared if g.group in {"notes", "reminders", "memory"}]
    bare = {
        g.group: {lang: Phrases(keywords=p.keywords, blockers=p.blockers) for lang, p in g.phrases.items()}
        for g in shipped
    }
    lexicon = compile_lexicon(bare, endings_of(load_words()))
    wrong = [
        (g.group, text)
        for g in shipped
        for p in g.phrases.values()
        for text in p.negatives
        if g.group in {h.group for h in lexicon.hits(tokenise(text))}
    ]
    assert wrong == []


def test_every_shipped_example_chooses_its_group_alone_among_the_shipped(
    declared: list[GroupDeclared], index: RoutingIndex
) -> None:
    shipped = ["notes", "reminders", "memory"]
    wrong = [
        (g.group, text, decision.groups)
        for g in declared
        if g.group in shipped
        for p in g.phrases.values()
        for text in p.examples
        for decision in (decide(RouteRequest(text=text, allowed=shipped), index),)
        if decision.groups != [g.group]
    ]
    assert wrong == []
