"""What the user's message asks for: actions, a text, an answer, or nothing."""

import re
from collections.abc import Collection, Iterator
from typing import Literal

import msgspec

from services.agent.claims.kinds import KindTable
from services.agent.claims.segments import QUOTED, Sentence, own_words, sentences_of
from services.agent.claims.vocabulary import Vocabulary, told
from services.agent.claims.wants import Want, first_word, named, reported, same_again, wants
from shared.text import fold

# act: something is to be done. ask: a question. text: something to be written or read out here. style: how to talk.
# talk: thanks, greetings. tell: anything else, mostly something the user says about themselves.
Stance = Literal["act", "ask", "text", "style", "talk", "tell"]
# An assent ("yes, do that") and a thing merely named ("my mails") are short.
_ASSENT_WORDS = 7
_NAMING_WORDS = 3
# What people write with an accent is no imperative of usted (guardé, guarde). Folded, both look the same.
_PAST = re.compile(r"\b\w{3,}é\b")
_SECOND_PAST = re.compile(r"\w{2,}(?:aste|iste)s?")


class Request(msgspec.Struct, frozen=True):
    """The message as the claim check needs it.

    `told`: actions the user says were done already; `past_asked`: the question is whether the coordinator did
    something before; `assents`: it says yes to what was proposed;
    `separately`: each gets one of its own; `drafting`: the text asked for is one somebody sends or says.
    """

    stance: Stance
    wants: tuple[Want, ...]
    text_wanted: bool
    drafting: bool
    told: frozenset[str]
    past_asked: bool
    separately: bool
    assents: bool
    words: frozenset[str]

    @property
    def names_only(self) -> bool:
        """Whether nothing is told but a thing named, which asks to see it."""
        return len(self.words) <= _NAMING_WORDS

    @property
    def kinds(self) -> frozenset[str]:
        """Every kind that would serve one of the wants."""
        return frozenset().union(*(want.kinds for want in self.wants))


def read_request(user: str, offered: Collection[str], vocabulary: Vocabulary, table: KindTable) -> Request:
    """Read a message. `offered`: the tool groups of this turn; they decide between kinds the words leave open."""
    text = own_words(fold(_PAST.sub(lambda found: told(found.group()), user)), quotes_count=False)
    sentences = sentences_of(text, vocabulary, frozenset())
    parts = [part for sentence in sentences for part in _parts(sentence)]
    asked: list[Want] = []
    told_actions: set[str] = set()
    question = text_wanted = past_asked = False
    for before, part in zip([None, *parts], parts, strict=False):
        told_actions |= reported(part, vocabulary)
        if _is_question(part) or (question and before and before.text == part.text and _goes_on(part, vocabulary)):
            question = True
            past_asked |= _asks_about_deeds(part)
            continue
        found = wants(part, vocabulary, offered, table)
        if not found:
            found = (same_again(part, asked[-1], table) if asked else []) or named(part, vocabulary, table)
        text_wanted |= not found and part.has("content", "text_for", "to_form")
        asked += found
    tags = {mark.tag for sentence in sentences for mark in sentence.marks}
    stance = _stance(parts, tags, asked, question=question, text=text_wanted)
    assents = stance == "act" and not asked
    if assents:
        asked = [Want(table.in_groups(offered), open=True)]
    return Request(
        stance,
        tuple(asked) if stance == "act" else (),
        text_wanted,
        "text_for" in tags or ("draft" in tags and "reads" not in tags),
        frozenset(told_actions),
        past_asked,
        "separately" in tags,
        assents,
        frozenset(word for part in parts for word in part.words),
    )


def _stance(parts: list[Sentence], tags: set[str], asked: list[Want], *, question: bool, text: bool) -> Stance:
    if "style" in tags and all(want.open for want in asked):
        return "style"
    if asked:
        return "act"
    if question:
        return "ask"
    if text:
        return "text"
    if "thanks" in tags:
        return "talk"
    short = sum(len(part.words) for part in parts) <= _ASSENT_WORDS
    assents = any(mark.tag == "assent" and mark.start <= first_word(part) for part in parts[:1] for mark in part.marks)
    return "act" if short and assents else "tell"


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """The clauses of a sentence, each as a sentence of its own, so that "save it and tell Ana" asks two things."""
    start = 0
    bounds = [i for i in range(1, len(sentence.words)) if sentence.clauses[i] != sentence.clauses[i - 1]]
    for end in [*bounds, len(sentence.words)]:
        words = sentence.words[start:end]
        if any(word[0].isalnum() or word == QUOTED for word in words):
            marks = [
                msgspec.structs.replace(m, start=m.start - start, end=m.end - start)
                for m in sentence.marks
                if start <= m.start and m.end <= end
            ]
            asks = sentence.question and end == len(sentence.words) and not sentence.has("ask_to_act")
            yield Sentence(sentence.text, words, [0] * len(words), marks, asks)
        start = end


def _is_question(part: Sentence) -> bool:
    first = first_word(part)
    if part.has("requests") or any(mark.tag == "ask_to_act" and mark.start <= first for mark in part.marks):
        return False
    questions = [mark for mark in part.marks if mark.tag == "question"]
    if any(mark.start == first for mark in questions) or _asks_about_deeds(part):
        return True
    return not part.has("ask_to_act") and (part.question or any(m.end - m.start > 1 for m in questions))


def _goes_on(part: Sentence, vocabulary: Vocabulary) -> bool:
    """Whether a clause after a question belongs to it: "… between guardar and archivar" asks for neither."""
    senses = [sense for at in range(len(part.words)) for sense in vocabulary.senses(part.words, at)]
    return any(s.form == "infinitive" for s in senses if s.language == "es") and not any(
        s.form == "imperative" or s.language == "en" for s in senses
    )


def _asks_about_deeds(part: Sentence) -> bool:
    """Whether it is about what the coordinator did ("did you send it?", "¿lo guardaste?")."""
    return part.has("did_you") or any(_SECOND_PAST.fullmatch(word) for word in part.words)
