"""The claim check: whether an answer says that something was done in this turn which the calls don't show."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from services.agent.claims.context import stands
from services.agent.claims.framing import framing
from services.agent.claims.implied import implied, short_of
from services.agent.claims.kinds import CallMade, KindTable, evidence_of, kind_table
from services.agent.claims.readings import Said, readings
from services.agent.claims.request import Request, read_request
from services.agent.claims.segments import Sentence, head_and_tail, sentences_of
from services.agent.claims.verdict import Claim, Verdict
from services.agent.claims.vocabulary import answer_vocabulary, user_vocabulary

# "I made a list", "Hice un resumen": how a text that was asked for is announced.
_COMPOSES = frozenset(
    {"create", "write", "update", "add", "put", "export", "start", "end", "raise", "mark", "run", "copy"}
)
_TEXTS = frozenset({"list", "routine", "email", "workout", "exercise"})


def check(*, user: str, answer: str, calls: Sequence[CallMade], offered: Sequence[str]) -> Verdict:
    """Judge one answer. `user`: the message it answers; `calls`: all of this turn; `offered`: its tool groups.

    Spanish and English are both understood, mixed as well.
    """
    table, evidence = kind_table(), evidence_of(calls)
    user, answer = head_and_tail(user), head_and_tail(answer)
    request = read_request(user, offered, user_vocabulary(), table)
    sentences = sentences_of(framing(answer, request), answer_vocabulary())
    explicit = list(_explicit(sentences, request, table, offered))
    claimed = list(dict.fromkeys([*explicit, *implied(answer, sentences, request, evidence, explicit)]))
    unbacked = [claim for claim in claimed if not evidence.proves(claim.needs, claim.action, strangers=claim.open)]
    if not unbacked:
        unbacked = short_of(sentences, request, evidence, claimed)
    clear = any(claim.clear for claim in unbacked)
    if unbacked:
        return Verdict(claimed, unbacked, certain=clear, score=0.95 if clear else 0.7)
    in_doubt = request.stance == "act" and not claimed and not evidence.proves(request.kinds, "", strangers=True)
    return Verdict(claimed, [], certain=not in_doubt, score=0.3 if in_doubt else 0.05)


def _explicit(
    sentences: Sequence[Sentence], request: Request, table: KindTable, offered: Sequence[str]
) -> Iterator[Claim]:
    for sentence in sentences:
        carried: frozenset[str] = frozenset()
        for at, group in groupby(readings(sentence, answer_vocabulary()), key=lambda said: said.at):
            objects = sentence.objects(sentence.clauses[at])
            carried = objects or carried
            standing = [said for said in group if stands(said, sentence, request)]
            needs = _needs(standing, objects, carried, request, table, offered)
            said = next((said for said in standing if _counts(said, objects, needs, request)), None)
            if said:
                clear = said.reading != "promise" and request.stance != "tell"
                may_be_other = table.is_open(needs, objects | frozenset({said.object}), offered)
                yield Claim(min(needs), sentence.words[at], sentence.text, needs, said.action, may_be_other, clear)


def _counts(said: Said, objects: frozenset[str], needs: frozenset[str], request: Request) -> bool:
    """Whether a claim is about this turn: what is said of others' deeds counts only where it was asked for."""
    if said.action in _COMPOSES and (request.text_wanted or not needs & request.kinds) and not objects - _TEXTS:
        return False
    return bool(needs) and (said.reading == "done" or request.stance == "tell" or bool(needs & request.kinds))


def _needs(
    said: Sequence[Said],
    own: frozenset[str],
    carried: frozenset[str],
    request: Request,
    table: KindTable,
    offered: Sequence[str],
) -> frozenset[str]:
    """The kinds of which one has to be proved, whichever verb the word is a form of."""
    needs: frozenset[str] = frozenset()
    for one in said:
        with_own = (own or frozenset({one.object}) - {""} or carried) | frozenset({one.object}) - {""}
        named = table.named(one.action, with_own)
        if not any(with_own & table.kinds[kind].objects for kind in named):
            named = (named & table.in_groups(offered)) or named
        needs |= named | (
            table.named(one.action, frozenset()) & request.kinds if one.object == "outside" and not own else frozenset()
        )
    return needs & request.kinds or needs
