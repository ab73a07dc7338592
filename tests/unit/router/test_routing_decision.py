"""The layers in their order, and what a decision may never do."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.router.decide import DECISIVE, SHOWN_CHARS, decide, texts_to_judge
from services.router.index import RoutingIndex, compile_index
from services.router.semantic import Verdict
from services.router.tokens import HEAD_CHARS, TAIL_CHARS, tokenise
from services.router.words import load_words
from shared.messages.routing import RouteRequest
from shared.messages.tools import GroupDeclared, Phrases

AT = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = load_words()


@pytest.mark.parametrize(
    "text",
    [
        "hola",
        "¡Hola! ¿Qué tal estás?",
        "buenos días, Jada",
        "muchas gracias",
        "gracias, eres un sol",
        "no, déjalo",
        "jajaja",
        "cuéntame un chiste",
        "¿quién eres?",
        "me siento triste hoy",
        "te quiero mucho",
        "hello, how are you?",
        "Thanks a lot!!",
        "good morning",
        "what's up",
        "tell me a joke please",
        "you're the best",
        "sí, perfecto",
        "👍",
        "",
    ],
)
def test_a_message_that_is_all_small_talk_needs_no_tools(text: str, index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text=text), index)
    assert (decision.layer, decision.groups, decision.tier) == ("small_talk", [], "fast")


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("hola, ¿qué notas tengo?", ["notes"]),
        ("gracias, y ahora recuérdame llamar a Ana", ["reminders"]),
        ("hi! what did I tell you about Rome", ["memory"]),
        ("buenos días, ponme una alarma", ["reminders"]),
    ],
)
def test_a_greeting_before_a_request_hides_nothing(text: str, groups: list[str], index: RoutingIndex) -> None:
    assert decide(RouteRequest(text=text), index).groups == groups


@pytest.mark.parametrize(
    "text",
    [
        "y bórrala",
        "ahora bórralo",
        "otra vez",
        "la segunda",
        "cámbiala a las 9",
        "hazla más corta",
        "¿y mañana?",
        "¿me lo repites?",
        "en Cali",
        "otra más igual",
        "sí",
        "vale, adelante",
        "👍",
        "and delete it",
        "the second one",
        "move it to Friday",
        "do it again",
        "yes please",
    ],
)
def test_a_follow_up_keeps_the_groups_of_the_open_topic(text: str, index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text=text, open_groups=["notes", "gone"]), index)
    assert (decision.layer, decision.groups) == ("keywords", ["notes"])


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("guárdalo", ["notes", "web"]),
        ("y recuérdamelo mañana", ["reminders", "web"]),
        ("send it by email", ["email", "web"]),
    ],
)
def test_a_follow_up_that_names_a_group_has_both(text: str, groups: list[str], index: RoutingIndex) -> None:
    assert decide(RouteRequest(text=text, open_groups=["web"]), index).groups == groups


@pytest.mark.parametrize("text", ["gracias", "hasta mañana", "no, gracias", "thank you so much", "bye"])
def test_thanks_and_goodbyes_close_the_topic(text: str, index: RoutingIndex) -> None:
    assert decide(RouteRequest(text=text, open_groups=["notes"]), index).layer == "small_talk"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("ponme una alarma a las siete de la tarde", ["reminders"]),
        ("enciende la tele", ["tv"]),
        ("set an alarm", ["reminders"]),
    ],
)
def test_a_new_request_drops_the_open_topic(text: str, groups: list[str], index: RoutingIndex) -> None:
    assert decide(RouteRequest(text=text, open_groups=["notes"]), index).groups == groups


@pytest.mark.parametrize(
    "text",
    [
        "y cuéntame cosas sobre la historia del imperio romano",
        "vale, ¿y cuánto mide de alto la torre Eiffel?",
        "so how tall is the tower in the middle of Paris",
    ],
)
def test_a_long_message_is_no_follow_up_because_of_its_first_word(text: str, index: RoutingIndex) -> None:
    assert decide(RouteRequest(text=text, open_groups=["notes"]), index).layer == "all"


def test_an_image_needs_vision_and_what_its_text_asks(index: RoutingIndex) -> None:
    alone = decide(RouteRequest(text="", media_types=["image/png"]), index)
    assert (alone.layer, alone.groups, alone.tier) == ("attachment", ["vision"], "vision")
    asked = decide(RouteRequest(text="apunta lo que pone", media_types=["image/png"]), index)
    assert (asked.layer, asked.groups, asked.tier) == ("keywords", ["vision", "notes"], "vision")


def test_an_attachment_nobody_handles_offers_everything(index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text="hola", media_types=["audio/ogg"]), index)
    assert (decision.layer, decision.groups) == ("all", sorted(index.tiers))


def test_when_nothing_decides_every_group_is_offered_on_the_fast_tier(index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text="necesito organizar la mudanza de mi prima"), index)
    assert (decision.layer, decision.groups, decision.tier) == ("all", sorted(index.tiers), "fast")
    assert "vision" in decision.groups
    assert decision.reason


def test_a_group_without_configuration_is_never_chosen(index: RoutingIndex, index_with_shell: RoutingIndex) -> None:
    request = RouteRequest(text="ejecuta este comando en la terminal", open_groups=["shell"])
    assert decide(request, index_with_shell).groups == ["shell"]
    decision = decide(request, index)
    assert (decision.layer, "shell" in decision.groups) == ("all", False)


def test_a_group_the_profile_forbids_is_never_chosen(index: RoutingIndex) -> None:
    request = RouteRequest(text="apunta esto y bórralo", open_groups=["notes"], allowed=["reminders", "nothing"])
    decision = decide(request, index)
    assert (decision.layer, decision.groups) == ("all", ["reminders"])


def test_without_any_group_the_decision_says_so() -> None:
    decision = decide(RouteRequest(text="apunta esto"), compile_index([], WORDS))
    assert (decision.layer, decision.groups, decision.reason) == ("all", [], "no group is configured and allowed")


def test_the_tier_is_the_highest_of_the_groups_chosen() -> None:
    tiers = {"sketch": "vision", "ponder": "deep", "plain": "fast"}
    index = compile_index(
        [
            GroupDeclared(group=g, tools=[], at=AT, tier=t, phrases={"en": Phrases(keywords=[g])})  # type: ignore[arg-type]
            for g, t in tiers.items()
        ],
        WORDS,
    )
    cases = {"plain": "fast", "plain ponder": "deep", "ponder sketch plain": "vision"}
    assert cases == {text: decide(RouteRequest(text=text), index).tier for text in cases}


class KnownMeanings:
    """A semantic layer that knows some texts by heart, and keeps what it was asked."""

    def __init__(self, known: Mapping[str, Verdict]) -> None:
        self.known = known
        self.asked: list[tuple[str, list[str], bool]] = []

    def judge(self, text: str, hinted: Iterable[str], offered: frozenset[str], *, part: bool) -> Verdict | None:
        assert offered
        self.asked.append((text, sorted(hinted), part))
        return self.known.get(text)


def test_beside_a_deciding_keyword_the_semantic_layer_judges_the_other_clauses(index: RoutingIndex) -> None:
    semantic = KnownMeanings({"mira si refresca": Verdict(groups=("web",), scores={"web": 0.9, "none": 0.1})})
    decision = decide(RouteRequest(text="apunta el pan y mira si refresca"), index, semantic)
    assert semantic.asked == [("mira si refresca", [], True)]
    assert (decision.layer, decision.groups) == ("semantic", ["notes", "web"])
    assert decision.scores == {"notes": 1.0, "web": 0.9, "none": 0.1}


def test_without_a_deciding_keyword_it_judges_the_message_and_each_clause(index: RoutingIndex) -> None:
    semantic = KnownMeanings(
        {
            "mira si refresca y sí, y riega el huerto": Verdict(groups=("web",)),
            "riega el huerto": Verdict(groups=("shell", "email")),
        }
    )
    decision = decide(RouteRequest(text="mira si refresca y sí, y riega el huerto"), index, semantic)
    assert [(text, part) for text, _, part in semantic.asked] == [
        ("mira si refresca y sí, y riega el huerto", False),
        ("mira si refresca", True),
        ("riega el huerto", True),
    ]
    assert (decision.layer, decision.groups) == ("semantic", ["web", "email"])


def test_a_verdict_of_no_tool_is_a_decision_and_doubt_is_none(index: RoutingIndex) -> None:
    semantic = KnownMeanings({"¿qué es el amor?": Verdict(groups=(), scores={"none": 0.97})})
    decided = decide(RouteRequest(text="¿qué es el amor?"), index, semantic)
    assert (decided.layer, decided.groups) == ("semantic", [])
    assert decide(RouteRequest(text="qué es esto que veo aquí"), index, semantic).layer == "all"


def test_no_tool_is_no_answer_to_an_attachment_that_nobody_handles(index: RoutingIndex) -> None:
    semantic = KnownMeanings({"¿y esto de aquí?": Verdict(groups=())})
    request = RouteRequest(text="¿y esto de aquí?", media_types=["audio/ogg"])
    assert decide(request, index, semantic).layer == "all"


def test_doubt_beside_an_open_topic_keeps_the_topic_alone(index: RoutingIndex) -> None:
    request = RouteRequest(text="cámbiala a las 9", open_groups=["notes"])
    decision = decide(request, index, KnownMeanings({}))
    assert (decision.layer, decision.groups) == ("keywords", ["notes"])


def test_the_texts_to_judge_are_those_the_decision_asks_about(index: RoutingIndex) -> None:
    request = RouteRequest(text="mira si refresca y riega el huerto")
    assert texts_to_judge(request, index) == [request.text, "mira si refresca", "riega el huerto"]
    assert texts_to_judge(RouteRequest(text="apunta el pan"), index) == []
    assert texts_to_judge(RouteRequest(text="hola"), index) == []


def test_a_clause_judged_to_need_nothing_leaves_the_decision_to_the_keywords(index: RoutingIndex) -> None:
    semantic = KnownMeanings({"leche": Verdict(groups=(), scores={"none": 0.9})})
    decision = decide(RouteRequest(text="apunta pan y leche"), index, semantic)
    assert (decision.layer, decision.groups) == ("keywords", ["notes"])


def test_a_verdict_cannot_name_what_is_not_offered(index: RoutingIndex) -> None:
    semantic = KnownMeanings({"mira si refresca": Verdict(groups=("web", "shell"))})
    assert decide(RouteRequest(text="mira si refresca"), index, semantic).groups == ["web"]


def test_an_imprecise_keyword_is_only_a_hint_for_the_semantic_layer(declared: list[GroupDeclared]) -> None:
    index = compile_index(declared, WORDS, {("notes", "notas"): DECISIVE - 0.01})
    request = RouteRequest(text="mis notas de corte están altas")
    assert decide(request, index).layer == "all"
    assert decide(request, index).scores == {"notes": DECISIVE - 0.01}
    semantic = KnownMeanings({"mis notas de corte están altas": Verdict(groups=())})
    assert decide(request, index, semantic).groups == []
    assert semantic.asked == [("mis notas de corte están altas", ["notes"], False)]


SNIPPETS = st.sampled_from(
    [
        "apunta",
        "recuérdame",
        "y",
        "bórrala",
        "hola",
        "gracias",
        ",",
        ":",
        "...",
        "r/",
        "a@b.es",
        "http://x",
        "´",
        "ﬁ",
        "\n",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(SNIPPETS, st.text(max_size=5)), max_size=30).map(" ".join))
NAMES = st.lists(st.sampled_from(["notes", "memory", "vision", "shell", "web", "unknown"]), max_size=4)
MEDIA = st.lists(st.sampled_from(["image/png", "audio/ogg", "application/pdf", ""]), max_size=2)


@given(text=TEXTS, open_groups=NAMES, allowed=NAMES, media_types=MEDIA)
def test_any_request_gets_only_groups_configured_and_allowed(
    index: RoutingIndex, text: str, open_groups: list[str], allowed: list[str], media_types: list[str]
) -> None:
    request = RouteRequest(text=text, open_groups=open_groups, allowed=allowed, media_types=media_types)
    decision = decide(request, index)
    assert set(decision.groups) <= index.offered(allowed)
    assert len(set(decision.groups)) == len(decision.groups)
    assert {m.group for m in decision.matched} <= set(decision.groups)
    assert decision.groups or decision.layer == "small_talk" or not index.offered(allowed)


HUGE = ["a", "a.", "a-", "'", "nota ", "pon x x ", "a@", "r/", "ñ", "y ", "la ", "\u0301", "recuérdame", "https://"]


@pytest.mark.parametrize("unit", HUGE)
def test_of_a_huge_message_little_is_read_and_less_is_shown(unit: str, index: RoutingIndex) -> None:
    text = unit * 100_000
    decision = decide(RouteRequest(text=text, open_groups=["notes"]), index)
    assert [m for m in decision.matched if len(m.words) > SHOWN_CHARS] == []
    assert len(tokenise(text).text) <= HEAD_CHARS + TAIL_CHARS + 1


def test_the_request_is_found_before_and_after_a_pasted_document(index: RoutingIndex) -> None:
    document = "lorem ipsum dolor sit amet " * 1_000
    for text in (f"apunta esto: {document}", f"{document}\nrecuérdame leerlo"):
        assert decide(RouteRequest(text=text), index).layer == "keywords"
