"""What a verb form in an answer says: a deed of the coordinator, something done, a promise, or none of it."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from services.agent.claims.segments import QUOTED, Sentence
from services.agent.claims.vocabulary import Sense, Vocabulary

# done: the coordinator says it did it. passive: it is said to be done. promise: it will be, now or later.
Reading = Literal["done", "passive", "promise"]
_LOOK_BACK = 5


class Said(msgspec.Struct, frozen=True):
    """A verb form at a place of a sentence, and how it is to be read."""

    at: int
    action: str
    object: str
    reading: Reading


def readings(sentence: Sentence, vocabulary: Vocabulary) -> Iterator[Said]:
    """Every verb form of the sentence that says something was or will be done, before its context is weighed."""
    for at in range(len(sentence.words)):
        seen = set()
        for sense in vocabulary.senses(sentence.words, at):
            read = _spanish(sentence, at, sense) if sense.language == "es" else _english(sentence, at, sense)
            if read and (sense.action, sense.object, read) not in seen:
                seen.add((sense.action, sense.object, read))
                yield Said(at, sense.action, sense.object, read)


def _opens(sentence: Sentence, at: int) -> bool:
    """Whether nothing but openers ("listo", "sure") stands before the word in its clause."""
    for i in range(at - 1, -1, -1):
        if sentence.clauses[i] != sentence.clauses[at]:
            return True
        word = sentence.words[i]
        if not {"openers", "adverbs"} & sentence.tags(i) and word[0].isalnum():
            return False
    return True


def _spanish(sentence: Sentence, at: int, sense: Sense) -> Reading | None:
    before = sentence.tags(at - 1)
    match sense.form:
        case "first":
            noun = "es:determiners" in before and "es:clitics" not in before
            return None if noun else "done"
        case "other":
            if "se" in sentence.words[max(0, at - 3) : at] and "es:clitics" in before:
                return "passive"
            return "done" if sentence.before(at, "system") else None
        case "participle":
            return _spanish_participle(sentence, at)
        case "infinitive":
            if _follows(sentence, at, "just"):
                return "done"
            return "promise" if _follows(sentence, at, "future") else None
        case "present":
            return (
                "promise" if "es:clitics" in before or (_opens(sentence, at) and _takes_object(sentence, at)) else None
            )
        case "future":
            return "promise"
        case "gerund":
            return "promise" if _opens(sentence, at) or "progressive" in before else None
    return None


def _takes_object(sentence: Sentence, at: int) -> bool:
    return at + 1 < len(sentence.words) and "es:determiners" in sentence.tags(at + 1)


def _follows(sentence: Sentence, at: int, tag: str) -> bool:
    return any(mark.tag == tag and at - 2 <= mark.end <= at for mark in sentence.marks)


def _spanish_participle(sentence: Sentence, at: int) -> Reading | None:
    for i in range(at - 1, max(-1, at - 1 - _LOOK_BACK), -1):
        if sentence.clauses[i] != sentence.clauses[at] and "steps" not in sentence.tags(at - 1):
            break
        tags = sentence.tags(i)
        if "es:have" in tags:
            return "done"
        if "es:have_other" in tags:
            passive = "sido" in sentence.words[i:at] or (i and sentence.words[i - 1] == "se")
            return "passive" if passive else ("done" if sentence.before(i, "system") else None)
        if "es:second_person" in tags or "es:not_deed" in tags:
            return None
        if "es:be" in tags:
            return "passive"
        if i == at - 1 and "es:not_before_participle" in tags:
            return None
        if not tags & {"adverbs", "openers", "es:clitics"}:
            break
    return "passive"


def _english(sentence: Sentence, at: int, sense: Sense) -> Reading | None:
    match sense.form:
        case "gerund":
            return _english_ing(sentence, at)
        case "infinitive":
            return "promise" if _follows(sentence, at, "future") else None
        case "first" | "participle":
            return _english_past(sentence, at, sense)
    return None


def _english_ing(sentence: Sentence, at: int) -> Reading | None:
    return "promise" if "progressive" in sentence.tags(at - 1) or _opens(sentence, at) else None


def _english_past(sentence: Sentence, at: int, sense: Sense) -> Reading | None:
    words = sentence.words
    have = be = False
    for i in range(at - 1, max(-1, at - 1 - _LOOK_BACK), -1):
        word = words[i]
        tags = sentence.tags(i)
        if word in ("i", "we"):
            return "passive" if be else "done"
        if "adverbs" in tags and word not in ("have", "'ve"):
            continue
        if "en:not_deed" in tags:
            return None
        if "en:be" in tags and (word != "'s" or sense.form == "participle"):
            be = True
        elif "en:have" in tags or "en:have_other" in tags:
            have = True
        elif be:
            return None if "en:relative" in tags and i else "passive"
        elif sentence.clauses[i] != sentence.clauses[at]:
            break
        elif have and "system" in tags:
            return "done"
        elif "en:others" in tags or "en:second_person" in tags or (i == at - 1 and "en:not_before_participle" in tags):
            return None
        else:
            return _after_a_noun(sentence, at, sense, tags)
    if have and not be:
        return None
    return "done" if not be and _drops_subject(sentence, at, sense) else "passive"


def _drops_subject(sentence: Sentence, at: int, sense: Sense) -> bool:
    """Whether the "I" is left out: "Created hello.sh", "Just sent it"; "Set the dial" is an imperative."""
    following = sentence.tags(at + 1)
    takes_object = (
        bool(following & {"en:determiners", "en:clitics", "object:file"}) or QUOTED in sentence.words[at + 1 : at + 2]
    )
    begins = all("adverbs" in sentence.tags(i) for i in range(at))
    return begins and takes_object and sense.form == "first" and sentence.words[at].endswith(("ed", "nt"))


def _after_a_noun(sentence: Sentence, at: int, sense: Sense, tags: frozenset[str]) -> Reading | None:
    """After a noun ("Note saved", "Zenith released the …") a form is a participle unless an object follows it."""
    if "en:determiners" in tags or sense.action in ("notify", "reply"):
        return None
    if at + 1 < len(sentence.words) and {"en:determiners", "en:clitics"} & sentence.tags(at + 1):
        return "done" if "system" in tags else None
    return "passive"
