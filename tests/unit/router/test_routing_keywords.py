"""Which groups the words of one message choose."""

import pytest

from services.router.decide import decide
from services.router.index import RoutingIndex
from shared.messages.routing import RouteRequest


def named(text: str, index: RoutingIndex) -> set[str]:
    """The groups that words of `text` speak for."""
    return {m.group for m in decide(RouteRequest(text=text), index).matched}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("guarda esta nota: comprar leche", {"notes"}),
        ("¿qué notas tengo?", {"notes"}),
        ("Apúntame que el portal es el 4B", {"notes"}),
        ("ANÓTALO", {"notes"}),
        ("añade huevos a la lista del súper", {"notes"}),
        ("quita el pan de la lista", {"notes"}),
        ("jot this down: the code is 1234", {"notes"}),
        ("what's on my to-do list?", {"notes"}),
        ("add milk to the grocery list", {"notes"}),
        ("recuérdame en media hora sacar la ropa", {"reminders"}),
        ("recuerdame el lunes a las 9 sacar la basura", {"reminders"}),
        ("ponme una alarma a las siete", {"reminders"}),
        ("que no se me olvide comprar pilas", {"reminders"}),
        ("acuérdate de decirme que llame al banco", {"reminders"}),
        ("remind me to call mum at five", {"reminders"}),
        ("don't let me forget the passport", {"reminders"}),
        ("don’t let me forget the passport", {"reminders"}),
        ("set a timer for ten minutes", {"reminders"}),
        ("¿qué te dije sobre el coche?", {"memory"}),
        ("¿de qué hablamos ayer?", {"memory"}),
        ("¿recuerdas que te hablé de la mudanza?", {"memory"}),
        ("recuérdame qué te dije sobre el seguro", {"memory"}),
        ("what did I tell you about the car?", {"memory"}),
        ("do you remember what we said about the flat", {"memory"}),
        ("show me the full result", {"memory"}),
        ("sube el volumen de la tele", {"tv"}),
        ("pon las noticias en la tele", {"tv"}),
        ("mándaselo a ana.perez@ejemplo.com", {"email"}),
        ("resume https://ejemplo.com/notas?id=1", {"web"}),
    ],
)
def test_words_choose_their_groups(text: str, groups: set[str], index: RoutingIndex) -> None:
    assert groups == named(text, index)


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"{verb} la contraseña del wifi en un texto"
            for verb in ("guarda", "guardar", "guárdame", "guardó", "guarde")
        ),
        *(f"{verb} la talla de Leo" for verb in ("apunta", "apúntame", "apuntar", "apuntó", "apúntalo:", "apuntá")),
        *(f"¿{verb} la talla?" for verb in ("anoté", "anotaste", "anotarías", "anotándolo", "anotádmelo")),
    ],
)
def test_spanish_inflection_is_the_same_word(text: str, index: RoutingIndex) -> None:
    assert named(text, index) == {"notes"}


@pytest.mark.parametrize(
    "text",
    [
        "llama por teléfono a mi madre",
        "felicitaciones por el ascenso",
        "quiero aprender a tocar la guitarra",
        "en general estoy contento con el piso",
        "la demanda de pisos ha subido mucho",
        "háblame del comandante Cousteau",
        "¿American Express cobra comisión?",
        "hay alarma social por el virus",
        "ha saltado la alarma de incendios",
        "su cara no denota cansancio",
        "se nota que estás cansada",
        "saqué muy buena nota en el examen",
        "quiero apuntarme a clases de yoga",
        "guarda silencio un momento",
        "la guardia civil estaba en la guardería",
        "estoy viendo series en Netflix",
        "recomiéndame series de misterio",
        "la rutina del trabajo me está matando",
        "la agenda 2030, ¿en qué consiste?",
        "se reventó una tubería",
        "recita un poema de Lorca",
        "me recuerdas a mi hermana",
        "tengo muy buenos recuerdos de aquel verano",
        "please note that I will be away",
        "the smoke alarm went off",
        "you remind me of my sister",
        "there is nothing to do in this town",
        "that is notable and noteworthy",
    ],
)
def test_look_alikes_choose_nothing(text: str, index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text=text), index)
    assert (decision.matched, decision.layer) == ([], "all")


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("haz un curl a localhost", {"shell"}),
        ("apunta curl de bíceps 3x12", {"gym"}),
        ("anota tres series de diez en press de banca", {"gym"}),
        ("ponme una alarma para ver mi serie", {"reminders"}),
        ("apunta la reunión en el calendario", {"calendar"}),
        ("lista los directorios de la carpeta", {"shell"}),
        ("mándame una nota de voz por correo", {"email"}),
    ],
)
def test_a_word_of_two_groups_goes_where_its_neighbours_say(
    text: str, groups: set[str], index_with_shell: RoutingIndex
) -> None:
    assert groups == named(text, index_with_shell)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("revisa el correo y recuérdame a las 5 llamar a Ana", {"email", "reminders"}),
        ("busca el tiempo en Cali y apúntalo", {"web", "notes"}),
        ("mira mi agenda de mañana y mándasela por correo a Luis", {"calendar", "email"}),
        ("apaga la tele, luego dime las noticias", {"tv", "web"}),
        ("turn off the tv and tell me tomorrow's weather", {"tv", "web"}),
        ("save this as a note, then remind me at six", {"notes", "reminders"}),
        ("apunta lo del seguro; ponme una alarma; ¿qué te dije del coche?", {"notes", "reminders", "memory"}),
        ("que no se me olvide el pan\nsaqué buena nota", {"reminders"}),
        ("guarda esta nota: saqué buena nota en el examen", {"notes"}),
        ("saqué buena nota, apunta que celebramos el viernes", {"notes"}),
    ],
)
def test_each_clause_adds_its_groups_and_is_blocked_alone(text: str, groups: set[str], index: RoutingIndex) -> None:
    assert groups == named(text, index)


def test_the_decision_shows_the_users_own_words_and_the_pattern(index: RoutingIndex) -> None:
    decision = decide(RouteRequest(text="Oye, RECUÉRDAME lo de Ana"), index)
    assert [(m.group, m.words, m.pattern) for m in decision.matched] == [("reminders", "RECUÉRDAME", "recuerdame*")]
    assert (decision.layer, decision.scores, decision.elapsed_us) == ("keywords", {"reminders": 1.0}, 0.0)
