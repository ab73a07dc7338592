"""What an answer says without a verb of its own: "done", a lone ✅, a state, a promise, a thing handed over.

A short answer to a request that nothing carried out, and that tells so with no word, says that it was.
"""

import re
from collections.abc import Iterator, Sequence

from services.agent.claims.kinds import Evidence, kind_table
from services.agent.claims.request import Request
from services.agent.claims.segments import QUOTED, Sentence
from services.agent.claims.verdict import Claim
from services.agent.claims.wants import Want

_DISCLOSES = ("negation", "failure", "failed_sign", "hedge", "modal", "condition", "earlier", "imperfect", "ask")
_DENIES = ("negation", "failure", "failed_sign", "hedge", "condition", "modal", "earlier", "imperfect")
_IMAGE = re.compile(r"!\[[^\]]*\]\(")
_TICK = re.compile("[✅✔☑👍👌🙌🫡✓]")
_HANDED_OVER = frozenset({"image_make", "file_send"})
_WATCHES = frozenset({"reminder_set", "job_create"})
_SHORT_WORDS = 45
_TERSE_WORDS = 6


def implied(
    answer: str, sentences: Sequence[Sentence], request: Request, evidence: Evidence, explicit: Sequence[Claim]
) -> list[Claim]:
    """The claims that the words leave to be understood, beside the `explicit` ones."""
    found = [*_promises(sentences, request, evidence), *_handed_over(answer, sentences, request)]
    if request.stance != "act":
        return found
    open_wants = [want for want in request.wants if not evidence.proves(want.kinds, want.action, strangers=want.open)]
    if not open_wants:
        return [*found, *_states(sentences, request.wants), *_done(answer, sentences, request.wants)]
    disclosed = discloses(sentences)
    if not (disclosed and len(open_wants) < len(request.wants)):
        if not any(sentence.question or sentence.has("ask") for sentence in sentences):
            found += _states(sentences, open_wants)
        found += _done(answer, sentences, open_wants)
        found += _named_beside(sentences, open_wants, request, explicit)
    silent = not (found or explicit or disclosed or request.assents or len(open_wants) < len(request.wants))
    if silent and _speaks(sentences, request):
        found += [_claim(want, sentences[0], clear=False) for want in open_wants if sentences]
    return found


def discloses(sentences: Sequence[Sentence]) -> bool:
    """Whether anything in the answer may tell that not all was done: a denial, a doubt, a question, a condition."""
    return any((sentence.question and not sentence.has("more")) or sentence.has(*_DISCLOSES) for sentence in sentences)


def _speaks(sentences: Sequence[Sentence], request: Request) -> bool:
    """Whether it is the coordinator that answers, shortly, and not only a text it was asked for."""
    words = [word for sentence in sentences for word in sentence.words]
    own = not request.text_wanted or any(word not in (QUOTED, ".") for word in words)
    return own and len(words) <= _SHORT_WORDS


def _claim(want: Want, sentence: Sentence, *, clear: bool) -> Claim:
    return Claim(min(want.kinds, default="other"), "", sentence.text, want.kinds, want.action, want.open, clear)


def _promises(sentences: Sequence[Sentence], request: Request, evidence: Evidence) -> Iterator[Claim]:
    if evidence.later or any(s.has("ask") or (s.question and request.stance != "act") for s in sentences):
        return
    for sentence in sentences:
        for mark in sentence.marks:
            if (
                mark.tag != "watch"
                or sentence.question
                or sentence.before(mark.start, "negation", "modal", "condition")
            ):
                continue
            if _depends_on_the_user(sentence) or not (request.kinds & _WATCHES or sentence.has("times")):
                continue
            words = " ".join(sentence.words[mark.start : mark.end])
            needs = _WATCHES | (request.kinds & {"email_send", "file_send"})
            yield Claim("reminder_set", words, sentence.text, needs, "remind")
            break


def _depends_on_the_user(sentence: Sentence) -> bool:
    """Whether a condition is the user's to fulfil ("if you give me …"), not an event to wait for ("when it drops")."""
    return any(
        mark.tag == "condition" and any("addressed" in sentence.tags(i) for i in range(mark.start, mark.end + 3))
        for mark in sentence.marks
    )


def _handed_over(answer: str, sentences: Sequence[Sentence], request: Request) -> Iterator[Claim]:
    if _IMAGE.search(answer):
        yield Claim("image_make", "![", answer, frozenset(_HANDED_OVER), "draw")
    wanted = request.kinds & _HANDED_OVER
    for sentence in sentences:
        if not sentence.question and sentence.has("here") and not sentence.has(*_DENIES) and wanted:
            yield Claim(min(wanted), "", sentence.text, wanted, "send")


def _states(sentences: Sequence[Sentence], wants: Sequence[Want]) -> Iterator[Claim]:
    for sentence in sentences:
        for mark in sentence.marks:
            if mark.tag not in ("state", "receipt") or sentence.question or sentence.before(mark.start, *_DENIES):
                continue
            if mark.tag == "receipt" and not _shows_receipt(sentence, sentences):
                continue
            if sentence.has("earlier", "imperfect", "failure", "hedge"):
                continue
            named = [w for w in wants if _objects(w) & sentence.objects()]
            yield from (_claim(want, sentence, clear=True) for want in named or wants)


def _named_beside(
    sentences: Sequence[Sentence], wants: Sequence[Want], request: Request, explicit: Sequence[Claim]
) -> Iterator[Claim]:
    """What is named beside a claim shares its verb: "cancelled the class and its reminder"."""
    others = frozenset().union(*(_objects(want) for want in request.wants if want not in wants))
    told = {claim.sentence for claim in explicit}
    for sentence in sentences:
        if sentence.text in told and not discloses([sentence]):
            yield from (_claim(w, sentence, clear=True) for w in wants if (_objects(w) - others) & sentence.objects())


def _shows_receipt(sentence: Sentence, sentences: Sequence[Sentence]) -> bool:
    shown = any(character.isdigit() or character == QUOTED for character in sentence.text)
    return shown and not any(other.has("negation", "failure", "hedge") for other in sentences)


def _objects(want: Want) -> frozenset[str]:
    return frozenset().union(*(kind_table().kinds[kind].objects for kind in want.kinds))


def _done(answer: str, sentences: Sequence[Sentence], wants: Sequence[Want]) -> Iterator[Claim]:
    for sentence in sentences:
        said = any(
            mark.tag == "done" and not sentence.beside(mark.start, *_DENIES) and not sentence.question
            for mark in sentence.marks
        )
        if said and not discloses([sentence]):
            yield from (_claim(want, sentence, clear=True) for want in wants)
    if not discloses(sentences) and _TICK.search(answer) and sum(len(s.words) for s in sentences) <= _TERSE_WORDS:
        yield from (_claim(want, sentences[0], clear=True) for want in wants)


def short_of(
    sentences: Sequence[Sentence], request: Request, evidence: Evidence, claimed: Sequence[Claim]
) -> list[Claim]:
    """The claims of which more are made than calls went well: two alarms need two calls."""
    if request.stance != "act" or not claimed or discloses(sentences):
        return []
    both = any(sentence.has("plural") for sentence in sentences)
    for kind in sorted(request.kinds):
        outcomes = evidence.outcomes(kind)
        if not kind_table().kinds[kind].each or not any(outcomes):
            continue
        of_kind = [claim for claim in claimed if kind in claim.needs]
        same = sum(all(_share_tools(kind, other) for other in want.kinds) for want in request.wants)
        asked = 2 if (both or request.separately) and len(request.wants) == 1 else same
        if of_kind and (not outcomes[-1] or (asked > sum(outcomes) and same == len(request.wants))):
            return of_kind[:1]
        if sum(outcomes) < len(outcomes) and len({c.sentence for c in of_kind}) > sum(outcomes):
            return of_kind[:1]
    return []


def _share_tools(one: str, other: str) -> bool:
    kinds = kind_table().kinds
    return bool(set(kinds[one].tools) & set(kinds[other].tools))
