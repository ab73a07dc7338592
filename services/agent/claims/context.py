"""Whether a form that could claim does claim, where it stands: not in a denial, a question, a report, a plan."""

from services.agent.claims.readings import Said
from services.agent.claims.request import Request
from services.agent.claims.segments import Sentence
from shared.text import fold

_TERSE_WORDS = 12


def stands(said: Said, sentence: Sentence, request: Request) -> bool:
    """Whether the words claim an action for this turn, given what the user asked."""
    if _questioned(said.at, sentence) or is_denied(said.at, sentence) or is_earlier(said.at, sentence, request):
        return False
    if sentence.before(said.at, "condition", "modal") or _reported(said.at, sentence):
        return False
    if said.action == "notify" and _to_the_user(said.at, sentence):
        return False
    if said.reading != "done" and _starts_with_condition(sentence):
        return False
    if said.reading == "promise":
        return request.stance == "act" and not sentence.has("condition", "modal", "ask")
    if said.reading == "passive":
        return (
            (request.stance == "act" or _terse(said.at, sentence, request))
            and said.action not in request.told
            and not _by_others(said.at, sentence)
        )
    if request.past_asked and not sentence.has("now", "just"):
        return False
    return request.stance == "act" or not (_relative(said.at, sentence) or _instructs(said.at, sentence, request))


def _to_the_user(at: int, sentence: Sentence) -> bool:
    """Whether the user is told, which the answer does, or a tool is; Spanish names whom else ("le", "a Ana")."""
    around = range(max(0, at - 3), min(len(sentence.words), at + 5))
    tags = [sentence.tags(i) for i in around]
    if any("to_user" in found for found in tags) or any("system" in sentence.tags(i) for i in range(at + 1, at + 4)):
        return True
    spanish = any("es:have" in found for found in tags) or not sentence.words[at].endswith("d")
    return spanish and not any("to_other" in found for found in tags)


def _starts_with_condition(sentence: Sentence) -> bool:
    return any(mark.tag == "condition" and mark.start <= 1 for mark in sentence.marks)


def _instructs(at: int, sentence: Sentence, request: Request) -> bool:
    """Whether it may be an imperative of vos, which looks like a deed: "abrí el evento" in steps to follow."""
    opens = at == 0 or not sentence.words[at - 1].isalnum() or "steps" in sentence.tags(at - 1)
    return request.stance == "ask" and opens and sentence.words[at].endswith("í")


def _questioned(at: int, sentence: Sentence) -> bool:
    if not sentence.question:
        return False
    return "ask_opens" in sentence.tags(0) or sentence.clauses[at] == sentence.clauses[-1]


def is_denied(at: int, sentence: Sentence) -> bool:
    """Whether the word is negated, doubted or said to have failed, before it or by a sign beside it."""
    return (
        sentence.has("doubt")
        or sentence.before(at, "negation", "hedge", "failure")
        or sentence.beside(at, "failed_sign")
    )


def is_earlier(at: int, sentence: Sentence, request: Request) -> bool:
    """Whether the deed is placed before this turn. A time the user named belongs to the errand ("yesterday's note")."""
    if sentence.before(at, "imperfect"):
        return True
    tags = ("earlier", "dated") if request.stance != "act" else ("earlier",)
    for mark in sentence.marks:
        named = request.stance == "act" and all(fold(w) in request.words for w in sentence.words[mark.start : mark.end])
        of_something = mark.start > 0 and sentence.words[mark.start - 1] in ("de", "of")
        possessive = sentence.words[mark.end : mark.end + 1] == ["'s"]
        if mark.tag in tags and not (named or of_something or possessive):
            return True
    return False


def _reported(at: int, sentence: Sentence) -> bool:
    return any(mark.tag == "report" and mark.start < at for mark in sentence.marks)


def _by_others(at: int, sentence: Sentence) -> bool:
    """Whether somebody is named who did it: "rescheduled by Priya", but not "by email"."""
    if at + 2 >= len(sentence.words) or not sentence.tags(at + 1) & {"es:agent", "en:agent"}:
        return False
    tags = {mark.tag for mark in sentence.marks if at < mark.start <= at + 3}
    return (
        not tags & {"system", "me"}
        and not any(tag.startswith("object:") for tag in tags)
        and sentence.words[at + 2].isalpha()
    )


def _terse(at: int, sentence: Sentence, request: Request) -> bool:
    """Whether the words answer something the user told as a deed would: "Registrado 💪", "Workout logged"."""
    return request.stance == "tell" and not request.names_only and at <= 2 and len(sentence.words) <= _TERSE_WORDS


def _relative(at: int, sentence: Sentence) -> bool:
    return any({"es:relative", "en:relative"} & sentence.tags(i) for i in range(max(0, at - 3), at))
