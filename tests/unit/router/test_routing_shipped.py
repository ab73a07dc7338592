"""What ships: phrases, weights and thresholds that belong together, and what they decide."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.router.classifier import Classifier
from services.router.decide import decide
from services.router.index import RoutingIndex, compile_index
from services.router.learned import CORPUS_FILE, DATA, LEARNED_FILE, Learned, read_learned, read_shipped, write_learned
from services.router.samples import JUDGED, read_corpus
from services.router.vectors import load_vectors
from services.router.words import load_words
from shared.errors import Malformed
from shared.messages.routing import RouteDecision, RouteRequest
from shared.messages.tools import GroupDeclared, Phrases
from shared.phrases import load_phrases

SHIPPED = Path(__file__).parents[3] / "services" / "tools" / "groups"
AT = datetime(2026, 1, 1, tzinfo=UTC)
MAX_BYTES = 8_000_000


@pytest.fixture(scope="module")
def phrases() -> dict[str, dict[str, Phrases]]:
    return {path.parent.name: load_phrases(path) for path in sorted(SHIPPED.glob("*/phrases"))}


@pytest.fixture(scope="module")
def learned() -> Learned:
    return read_shipped()


@pytest.fixture(scope="module")
def semantic(learned: Learned) -> Classifier:
    return learned.semantic(load_vectors(DATA))


@pytest.fixture(scope="module")
def whole(phrases: Mapping[str, Mapping[str, Phrases]], learned: Learned) -> RoutingIndex:
    declared = [GroupDeclared(group=g, tools=[], at=AT, phrases=dict(p)) for g, p in phrases.items()]
    return compile_index(declared, load_words(), learned.precision)


def test_what_was_learned_belongs_to_the_phrases_that_ship(
    phrases: Mapping[str, Mapping[str, Phrases]], learned: Learned
) -> None:
    assert learned.covers(phrases), "phrases have changed: run python -m bench.routing_calibrate (make calibrate)"
    assert set(learned.model.classes) == {*phrases, "none"}


def test_every_group_has_phrases_in_both_languages(phrases: Mapping[str, Mapping[str, Phrases]]) -> None:
    assert set(phrases) >= JUDGED
    assert [g for g, p in phrases.items() if set(p) != {"es", "en"} or not all(x.examples for x in p.values())] == []


def test_all_shipped_keywords_mean_something(whole: RoutingIndex) -> None:
    assert whole.problems == ()


def test_what_ships_is_small_and_of_licences_that_allow_it() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < MAX_BYTES
    assert "fbtod" not in {u.source for u in read_corpus(DATA / CORPUS_FILE)}


def test_the_state_is_read_back_to_the_byte_and_nothing_else_is(learned: Learned) -> None:
    data = (DATA / LEARNED_FILE).read_bytes()
    assert write_learned(read_learned(data)) == data
    assert learned.digests == read_learned(data).digests
    for broken in (b"", b"{}\n", b"\n", data[:1000]):
        with pytest.raises(Malformed):
            read_learned(broken)


def test_changed_or_new_phrases_are_not_covered(phrases: Mapping[str, Mapping[str, Phrases]], learned: Learned) -> None:
    assert learned.covers({"web": phrases["web"]})
    assert not learned.covers({"web": phrases["tv"]})
    assert not learned.covers({**phrases, "lights": {"en": Phrases(examples=["turn on the lights"])}})


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("¿me hará falta gabardina en Oporto el jueves?", {"web"}),
        ("¿a cuánto cotiza el yen?", {"web"}),
        ("pásame lo que haya en el fichero de ajustes", {"shell"}),
        ("enséñame cómo quedó mi último entreno de espalda", {"gym"}),
        ("ponle menos volumen al televisor", {"tv"}),
        ("contéstale al casero que le pago el lunes", {"email"}),
        ("¿con quién tengo reunión pasado mañana?", {"calendar"}),
        ("que no se me pase la cita con el notario, avísame el día antes", {"reminders"}),
        ("cada domingo por la noche hazme un resumen de la semana", {"schedules"}),
        ("hazme una acuarela de un faro", {"vision"}),
        ("sube la escritura a la nube", {"storage"}),
        ("sopesa bien si me compensa vender el coche", {"think"}),
        ("¿qué cuentan hoy en el subreddit de fotografía?", {"reddit"}),
        ("¿de qué estuvimos hablando anteayer?", {"memory"}),
        ("do I need gloves tomorrow in Oslo", {"web"}),
        ("tell my accountant by email that I agree", {"email"}),
        ("jot down that the meter reads 4521", {"notes"}),
        ("sketch me a lighthouse", {"vision"}),
        ("apaga la tele y dime si lloverá mañana", {"tv", "web"}),
        ("mira el correo de la gestoría y apúntame la cifra", {"email", "notes"}),
        ("read the pdf I uploaded and email it to Marta", {"storage", "email"}),
    ],
)
def test_requests_in_new_words_get_their_tools(
    text: str, needed: set[str], whole: RoutingIndex, semantic: Classifier
) -> None:
    decision = decide(RouteRequest(text=text), whole, semantic)
    assert decision.layer != "all"
    assert needed <= set(decision.groups)


@pytest.mark.parametrize(
    "text",
    [
        "me ha encantado pasar la tarde contigo",
        "mi cuñado es un pesado",
        "estoy de acuerdo contigo",
        "¿por qué los flamencos son rosas?",
        "enciende la lámpara del pasillo",
        "pon algo de jazz",
        "I had a lovely afternoon",
        "my card was swallowed by the machine",
        "why are flamingos pink",
    ],
)
def test_what_needs_no_tool_gets_none(text: str, whole: RoutingIndex, semantic: Classifier) -> None:
    decision = decide(RouteRequest(text=text), whole, semantic)
    assert (decision.layer, decision.groups) == ("semantic", [])


def test_the_decision_says_how_probable_each_group_is(whole: RoutingIndex, semantic: Classifier) -> None:
    decision: RouteDecision = decide(RouteRequest(text="¿me hará falta gabardina en Oporto?"), whole, semantic)
    assert decision.layer == "semantic"
    assert decision.scores["web"] > decision.scores["none"]
