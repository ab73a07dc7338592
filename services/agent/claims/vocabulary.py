"""The words of both languages, compiled once: what every form of every verb says, and which phrases mark what.

Both languages are always read together, since people and models mix them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from services.agent.claims.inflect import EnglishPast, Form, Forms, Irregular, english, spanish
from shared.text import fold

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = ("es", "en")
_WORD = re.compile(r"\w+(?=n't\b)|n't\b|'(?:ve|ll|m|s|d|re)\b|\w+(?:[-.]\w+|'(?!(?:ve|ll|m|s|d|re)\b)\w+)*|[^\w\s]")
_APOSTROPHES = str.maketrans({"\u2019": "'"})
_FILE_NAME = re.compile(r"[\w.-]+\.[a-z][a-z0-9]{1,4}")
_CLITICS = re.compile(r"(?:me|te|se|nos|le|les|lo|la|los|las){1,2}$")


class Sense(msgspec.Struct, frozen=True):
    """What a word says as a form of a verb. `particle` has to follow it ("turn … on")."""

    action: str
    object: str
    form: Form
    language: Language
    particle: str = ""


class Mark(msgspec.Struct, frozen=True):
    """Words `start` to `end` (excluded) of a text are a phrase of the list `tag`."""

    tag: str
    start: int
    end: int


class Vocabulary(msgspec.Struct, frozen=True):
    """Verb forms by word, phrases by their first word."""

    forms: Mapping[str, tuple[Sense, ...]]
    conjunctions: frozenset[str]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]

    def senses(self, words: Sequence[str], at: int) -> list[Sense]:
        """What the word may say as a verb; with its particle near, only what it says with it."""
        found = self.forms.get(words[at]) or self._with_clitics(words[at])
        if not found:
            return []
        near = words[at + 1 : at + 7]
        with_particle = [s for s in found if s.particle and s.particle in near]
        return with_particle or [s for s in found if not s.particle]

    def _with_clitics(self, word: str) -> tuple[Sense, ...]:
        if len(word) < 4 or not (tail := _CLITICS.search(word)):
            return ()
        for end in {tail.start(), len(word) - 2, len(word) - 3}:
            found = self.forms.get(fold(word[:end]))
            if found:
                return tuple(
                    s for s in found if s.language == "es" and s.form in ("imperative", "infinitive", "gerund")
                )
        return ()

    def marks(self, words: Sequence[str]) -> list[Mark]:
        """Every phrase that stands in `words`, of any list."""
        found = []
        for at, word in enumerate(words):
            for phrase, tag in self.phrases.get(word, ()):
                if len(phrase) == 1 or tuple(words[at : at + len(phrase)]) == phrase:
                    found.append(Mark(tag, at, at + len(phrase)))
            if "." in word and words[at - 1 : at] != ["@"] and _FILE_NAME.fullmatch(word):
                found.append(Mark("object:file", at, at + 1))
        return found


def words_of(text: str) -> list[str]:
    """The words, signs and emoji of `text` in lower case; English contractions come apart ("do", "n't")."""
    return _WORD.findall(text.lower().translate(_APOSTROPHES))


@cache
def answer_vocabulary() -> Vocabulary:
    """What answers are read with: accents kept, since they tell a deed (guardé) from a wish (guarde)."""
    return _compile({lang: _read(lang) for lang in LANGUAGES}, "words", ("imperative",), folded=False)


@cache
def user_vocabulary() -> Vocabulary:
    """What messages are read with: folded, as people type."""
    return _compile({lang: _read(lang) for lang in LANGUAGES}, "user", (), folded=True)


def _read(language: Language) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))


def _compile(
    tables: Mapping[Language, dict[str, Any]], lists: str, without: Sequence[Form], folded: bool
) -> Vocabulary:
    forms: dict[str, list[Sense]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for language, table in tables.items():
        for word, sense in _senses(language, table):
            if sense.form not in without:
                # Imperatives and infinitives carry pronouns, and then an accent or none (guárdala): stored without.
                for key in _keys(word, sense.form, folded=folded):
                    forms.setdefault(key, []).append(sense)
        for tag, listed in [*table[lists].items(), *((f"object:{k}", v) for k, v in table["objects"].items())]:
            for text in listed:
                phrase = tuple(words_of(fold(text) if folded else text))
                entry = (phrase, f"{language}:{tag}" if tag in _BY_LANGUAGE else tag)
                if entry not in phrases.setdefault(phrase[0], []):
                    phrases[phrase[0]].append(entry)
    return Vocabulary(
        {word: tuple(dict.fromkeys(senses)) for word, senses in forms.items()},
        frozenset(word for table in tables.values() for word in table["conjunctions"]),
        {word: tuple(entries) for word, entries in phrases.items()},
    )


# Small words that mean one thing in one language and another in the other: "he", "has", "me", "of".
_BY_LANGUAGE = frozenset(
    {
        *("agent", "be", "clitics", "determiners", "have", "have_other"),
        *("not_before_participle", "not_deed", "others", "relative", "second_person"),
    }
)


def _keys(word: str, form: Form, *, folded: bool) -> set[str]:
    if folded and form == "first" and word.endswith("é"):
        return {fold(word), told(word)}
    return {fold(word)} if folded else {word, fold(word)} if form in ("imperative", "gerund") else {word}


def told(past: str) -> str:
    """What a past in -é is folded to, so that "guardé" doesn't become the imperative "guarde"."""
    return f"{fold(past)}e"


def _senses(language: Language, table: dict[str, Any]) -> Iterator[tuple[str, Sense]]:
    for key, verbs in table["verbs"].items():
        action, _, implied = key.partition(" ")
        for entry in verbs:
            verb, _, particle = entry.partition(" ")
            for word, form in _forms(language, verb, table["irregular"]):
                yield word, Sense(action, implied, form, language, particle)


def _forms(language: Language, verb: str, irregular: dict[str, Any]) -> Forms:
    if language == "es":
        return spanish(verb, msgspec.convert(irregular.get(verb, {}), Irregular))
    return english(verb, msgspec.convert(irregular[verb], EnglishPast) if verb in irregular else None)
