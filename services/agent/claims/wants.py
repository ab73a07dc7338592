"""The actions a clause of a user's message asks for."""

import re
from collections.abc import Collection, Iterator

import msgspec

from services.agent.claims.kinds import KindTable
from services.agent.claims.segments import Sentence
from services.agent.claims.vocabulary import Sense, Vocabulary

# What a verb may mean that could as well ask for a text, and what makes it ask for a thing all the same.
_CONTENT_ACTIONS = frozenset({"create", "write", "update", "put", "add", "draw", "schedule", "copy", "export", "start"})
_THINGS = frozenset({"outside", "image", "file", "folder", "event", "reminder", "storage", "tv"})
_KEPT = frozenset({"note", "job", "routine", "workout", "session", "exercise"})
# What a message asks for that only names the thing: "alarm at 6", "note: …", "tv off".
_NAMED_ALONE = frozenset({"note_save", "reminder_set", "tv_control"})
_WANTED = _NAMED_ALONE | {"event_add", "image_make", "job_create"}
_WATCHES = frozenset({"reminder_set", "job_create"})
# Verbs of so many uses that, with no object we know and no tool offered, they ask for nothing we know of.
_VAGUE = frozenset(
    {"raise", "lower", "put", "start", "end", "add", "update", "create", "run", "write", "mark", "power"}
)
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)?")
_TO_ME = re.compile(r"(?:me|us|nos|\w+me(?:l[aeo]s?)?)")


class Want(msgspec.Struct, frozen=True):
    """One action asked for: the kinds that would do.

    `timed`: it names a time of day. `open`: a tool that is in no kind may do it, too.
    """

    kinds: frozenset[str]
    action: str = ""
    timed: bool = False
    open: bool = False


def first_word(part: Sentence) -> int:
    """Where a clause begins, fillers ("hey", "oye") left out."""
    fillers = {mark.start for mark in part.marks if mark.tag == "fillers"}
    return next((i for i, word in enumerate(part.words) if word[0].isalnum() and i not in fillers), 0)


def reported(part: Sentence, vocabulary: Vocabulary) -> set[str]:
    """The actions that a clause says were done: "I just booked the flights", "borré la nota"."""
    found = set()
    for at in range(len(part.words)):
        before = part.tags(at - 1)
        for sense in vocabulary.senses(part.words, at):
            past = sense.form in ("first", "participle", "other") and (
                sense.language == "es" or "before_past" in before
            )
            if past or (sense.form == "infinitive" and part.has("just")):
                found.add(sense.action)
    return found


def wants(part: Sentence, vocabulary: Vocabulary, offered: Collection[str], table: KindTable) -> list[Want]:
    """What the verb of a clause that is no question asks for: one action, since the rest is what it is about."""
    objects = part.objects()
    recurs = part.has("recurring") and part.has("content", "to_others", "send_me")
    if part.has("requests") or recurs:
        return [Want(_WATCHES, "remind", _timed(part), table.is_open(_WATCHES, frozenset({"reminder"}), offered))]
    for at in range(len(part.words)):
        senses = [s for s in _askings(part, vocabulary, at) if not _is_text(s, part, at, objects)]
        kinds: frozenset[str] = frozenset().union(*(_kinds(s, part, objects, offered, table) for s in senses))
        if len(senses) > 1:
            kinds = kinds & table.in_groups(offered) or kinds
        if kinds:
            return [Want(kinds, senses[0].action, _timed(part), table.is_open(kinds, objects, offered))]
    return []


def named(part: Sentence, vocabulary: Vocabulary, table: KindTable) -> list[Want]:
    """What a clause asks for that only names the thing, or says it is wanted: "alarm at 6", "I need an alarm"."""
    if part.has("content", "text_for", "to_form") or reported(part, vocabulary):
        return []
    wanted = next((mark.end for mark in part.marks if mark.tag == "want"), None)
    until, kinds = (first_word(part) + 1, _NAMED_ALONE) if wanted is None else (wanted + 2, _WANTED)
    objects = (m.tag.removeprefix("object:") for m in part.marks if m.tag.startswith("object:") and m.start <= until)
    found = table.with_objects(frozenset(objects)) & kinds
    return [Want(found)] if found else []


def same_again(part: Sentence, last: Want, table: KindTable) -> list[Want]:
    """What a clause without a verb asks for after one with: "cancel the class and its reminder", "alarms at 6, 7"."""
    if part.has("again") or (last.timed and last.kinds & _WATCHES and _timed(part)):
        return [last]
    objects = part.objects()
    kinds = table.named(last.action, objects) & table.with_objects(objects)
    return [Want(kinds, last.action)] if last.action and kinds and not kinds & last.kinds else []


def _timed(part: Sentence) -> bool:
    return any(_CLOCK.fullmatch(word) for word in part.words)


def _kinds(
    sense: Sense, part: Sentence, objects: frozenset[str], offered: Collection[str], table: KindTable
) -> frozenset[str]:
    """What the verb may mean: what its objects say; without any, what is offered."""
    kinds = table.named(sense.action, objects | (frozenset({sense.object}) - {""}))
    if any(objects & table.kinds[kind].objects for kind in kinds):
        kinds = kinds & table.in_groups(offered) or kinds
    else:
        within = table.named(sense.action, frozenset()) & table.in_groups(offered)
        if not within and sense.action in _VAGUE and not sense.object:
            return within
        kinds = within | kinds if sense.object else within or kinds
    # A file for somebody else goes by mail.
    if sense.action == "send" and "file_send" in kinds and not any(map(_TO_ME.fullmatch, part.words)):
        kinds |= {"email_send"}
    return kinds


def _askings(part: Sentence, vocabulary: Vocabulary, at: int) -> Iterator[Sense]:
    opens = at == first_word(part)
    before = part.tags(at - 1)
    to_me = part.words[at].endswith("me") or part.words[at + 1 : at + 2] in (["me"], ["us"])
    for sense in vocabulary.senses(part.words, at):
        if sense.action == "notify" and to_me:
            continue
        if sense.language == "en":
            if sense.form == "infinitive" and _asks_at(part, at):
                yield sense
        elif sense.form == "imperative" and "proclitic" in before and not part.words[at].endswith("s"):
            continue  # no imperative has its pronoun before it: "ya le escribí" tells
        elif sense.form in ("imperative", "infinitive") and (opens or "before_noun" not in before):
            yield sense


def _is_text(sense: Sense, part: Sentence, at: int, objects: frozenset[str]) -> bool:
    """Whether the verb asks for a text in the chat: "make a list", "text to tell her …", but not "make a note"."""
    content = [mark.start for mark in part.marks if mark.tag == "content" and _asks_at(part, mark.start)]
    if (
        sense.action == "write"
        and content
        and part.has("draft")
        and (part.has("text_for") or not objects & {"file", "folder", "note"})
    ):
        return True
    # "A table" is reserved or drawn.
    if objects & _THINGS - (frozenset({"outside"}) if part.has("products") else frozenset()):
        return False
    if part.has("help") and sense.action in ("write", "reply", "update"):
        return True
    if part.has("to_form") or any(m.tag == "text_for" and m.start <= at for m in part.marks):
        return True
    if not content:
        return False
    if part.has("draft") and at in content:
        return "note" not in objects
    if sense.action not in _CONTENT_ACTIONS or sense.object:
        return False
    if sense.action in ("update", "add") and "list" in objects:
        return False
    return sense.action == "write" or part.has("products") or not objects & _KEPT


def _asks_at(part: Sentence, at: int) -> bool:
    """Whether a word stands where a request begins: "list" asks in "list my notes", not in "my list"."""
    before = part.tags(at - 1)
    return at == first_word(part) or bool(before & {"before_imperative", "ask_to_act", "assent"})
