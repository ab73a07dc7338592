"""The forms of a verb, made from its dictionary form by the regular rules of Spanish and English."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Form = Literal["first", "other", "participle", "present", "future", "gerund", "infinitive", "imperative"]
Forms = Iterator[tuple[str, Form]]

# Before e, Spanish keeps the sound of the stem's last consonant by spelling it anew: buscar, busqué.
_RESPELLED = (("c", "qu"), ("g", "gu"), ("z", "c"))
_VOWELS = "aeiou"
_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][bdgklmnprt]$")


class Irregular(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Spanish forms that replace the regular ones; an empty one keeps them."""

    past: list[str] = []
    past_other: list[str] = []
    participle: str = ""
    present: list[str] = []
    future: list[str] = []
    gerund: str = ""
    imperative: list[str] = []


class EnglishPast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An English verb's past and, where it differs, its participle; `also` are second spellings of any form."""

    past: str
    participle: str = ""
    also: list[str] = []


def spanish(infinitive: str, irregular: Irregular) -> Forms:
    """Yield the forms a coordinator speaks of its own deeds in, and those a user asks in.

    `first` is the first person of the past, `other` the third; imperatives are those of tú, vos, usted and ustedes,
    and the second person of the present, which asks too ("¿me guardas esto?").
    """
    stem, ending = infinitive[:-2], infinitive[-2:]
    ar = ending == "ar"
    soft = _before_e(stem) if ar else stem
    past = [soft + "é", stem + "amos"] if ar else [stem + "í", stem + "imos"]
    third = [stem + "ó", stem + "aron"] if ar else [stem + "ió", stem + "ieron"]
    base = irregular.participle or stem + ("ado" if ar else "ido")
    present = irregular.present or [stem + "o"]
    asking = irregular.imperative or [
        *([stem + "a", stem + "as", soft + "e", soft + "es", soft + "en"] if ar else []),
        *([] if ar else [stem + "e", stem + "es", stem + "a", stem + "as", stem + "an", stem + ending[0]]),
    ]
    yield infinitive, "infinitive"
    yield irregular.gerund or stem + ("ando" if ar else "iendo"), "gerund"
    yield from ((form, "first") for form in irregular.past or past)
    yield from ((form, "other") for form in irregular.past_other or third)
    yield from ((base[:-1] + end, "participle") for end in ("o", "a", "os", "as"))
    yield from ((form, "present") for form in present)
    yield from ((form, "future") for form in irregular.future or [infinitive + "é", infinitive + "emos"])
    yield from ((form, "imperative") for form in asking)


def _before_e(stem: str) -> str:
    return next((stem[: -len(hard)] + soft for hard, soft in _RESPELLED if stem.endswith(hard)), stem)


def english(verb: str, irregular: EnglishPast | None) -> Forms:
    """Yield a verb's base ("infinitive"), its past ("first": the words before tell whose), participle and -ing."""
    yield verb, "infinitive"
    past = irregular.past if irregular else _with_ending(verb, "ed")
    yield past, "first"
    yield (irregular.participle if irregular and irregular.participle else past), "participle"
    yield _with_ending(verb, "ing"), "gerund"
    for other in irregular.also if irregular else ():
        yield other, "gerund" if other.endswith("ing") else "first"
        if not other.endswith("ing"):
            yield other, "participle"


def _with_ending(verb: str, ending: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    if _DOUBLED.match(verb):
        return verb + verb[-1] + ending
    return verb + ending
