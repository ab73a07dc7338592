"""The routing decision: a pure function of the message and the index."""

from collections.abc import Iterable, Sequence

from services.router.index import ATTACHMENTS, RoutingIndex
from services.router.lexicon import Hit
from services.router.semantic import Semantic, Verdict
from services.router.talk import Stance
from services.router.tokens import Tokens, tokenise
from shared.messages.routing import Layer, Matched, RouteDecision, RouteRequest, Tier
from shared.text import cut

# A keyword decides alone only when at least this share of the messages that have it need its group.
DECISIVE = 0.995
SHOWN_CHARS = 80
# Shorter clauses ("pan y leche") are parts of a request, not requests, unless they have a keyword ("y apúntalo").
CLAUSE_WORDS = 2
MAX_CLAUSES = 6

_TIER_RANK: dict[Tier, int] = {"learn": 0, "fast": 1, "deep": 2, "vision": 3}
_REASONS: dict[Layer, str] = {
    "small_talk": "the whole message is small talk",
    "attachment": "an attachment needs these groups",
    "keywords": "its words name these groups or the open topic",
    "semantic": "the message means what these groups do",
    "all": "nothing in the message decides, so every group is offered",
}


def decide(request: RouteRequest, index: RoutingIndex, semantic: Semantic | None = None) -> RouteDecision:
    """Choose the groups `request` needs, and say which layer found them and why.

    In order: attachments, keywords, `semantic` for the clauses no keyword decides, and every group offered when all
    are silent. A reference to the open topic keeps its groups. Only configured groups that the request allows are
    ever named. The tier is the highest of the groups chosen for a reason; `elapsed_us` is left to the caller.
    """
    offered = index.offered(request.allowed)
    tokens = tokenise(request.text, index.talk.connectors)
    stance = index.talk.read(tokens)
    attached = _attached(request.media_types, offered)
    hits = [] if stance.chat else [h for h in index.lexicon.hits(tokens) if h.group in offered]
    decisive = [h for h in hits if h.precision >= DECISIVE]
    judge = None if stance.chat or semantic is None or not offered else semantic
    judged = [] if judge is None else _judge(tokens, hits, judge, offered)
    kept = _kept(request.open_groups, stance, offered, silent=not decisive)
    matched = [*attached, *_named(decisive, tokens), *kept]
    meant = [g for v in judged for g in v.groups if g in offered]
    groups = list(dict.fromkeys([*(m.group for m in matched), *meant]))
    layer = _layer(meant=meant, named=[*decisive, *kept], attached=attached)
    if layer is None and not request.media_types and (stance.chat or judged):
        layer = "small_talk" if stance.chat else "semantic"
    if layer is None:
        layer, groups = "all", sorted(offered)
    return RouteDecision(
        layer=layer,
        groups=groups,
        tier="fast" if layer == "all" else _highest(index.tiers[g] for g in groups),
        scores=_scores(attached, hits, judged),
        matched=matched,
        reason=_REASONS[layer] if offered else "no group is configured and allowed",
    )


def texts_to_judge(request: RouteRequest, index: RoutingIndex) -> list[str]:
    """List the texts a semantic layer will be asked about, for one that must fetch something for each before."""
    listener = _Listener()
    decide(request, index, listener)
    return listener.heard


class _Listener:
    """A semantic layer without an opinion, which keeps what it was asked."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def judge(self, text: str, hinted: Iterable[str], offered: frozenset[str], *, part: bool) -> None:
        del hinted, offered, part
        self.heard.append(text)


def _layer(*, meant: Sequence[str], named: Sequence[object], attached: Sequence[object]) -> Layer | None:
    """Name the layer that found the groups there are: the least certain one that had a part in it."""
    if meant:
        return "semantic"
    if named:
        return "keywords"
    return "attachment" if attached else None


def _attached(media_types: Iterable[str], offered: frozenset[str]) -> list[Matched]:
    return [
        Matched(group=group, words=media_type, pattern=prefix)
        for media_type in dict.fromkeys(media_types)
        for prefix, group in ATTACHMENTS.items()
        if group in offered and media_type.startswith(prefix)
    ]


def _named(hits: Iterable[Hit], tokens: Tokens) -> list[Matched]:
    """Show the first place where each pattern is met."""
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        first.setdefault((hit.group, hit.pattern), hit)
    return [
        Matched(group=h.group, words=cut(tokens.original(h.start, h.end), SHOWN_CHARS), pattern=h.pattern)
        for h in first.values()
    ]


def _judge(tokens: Tokens, hits: Sequence[Hit], semantic: Semantic, offered: frozenset[str]) -> list[Verdict]:
    """Ask about the whole message, unless a keyword decides part of it, and about each clause no keyword decides."""
    bounds = tokens.clause_bounds()
    decided = {h.clause for h in hits if h.precision >= DECISIVE}
    verdicts: list[Verdict | None] = []
    if not decided:
        verdicts.append(semantic.judge(tokens.text, {h.group for h in hits}, offered, part=False))
    if len(bounds) > 1:
        verdicts += [
            semantic.judge(
                tokens.original(start, end), {h.group for h in hits if start <= h.start < end}, offered, part=True
            )
            for start, end in bounds[:MAX_CLAUSES]
            if tokens.clauses[start] not in decided
            and (end - start >= CLAUSE_WORDS or any(start <= h.start < end for h in hits))
        ]
    return [v for v in verdicts if v is not None]


def _kept(open_groups: Iterable[str], stance: Stance, offered: frozenset[str], *, silent: bool) -> list[Matched]:
    """Keep the open topic's groups, when the message refers to it."""
    words = cut(stance.reference or (stance.brief if silent else ""), SHOWN_CHARS)
    if not words:
        return []
    return [Matched(group=g, words=words, pattern="open topic") for g in dict.fromkeys(open_groups) if g in offered]


def _scores(attached: Iterable[Matched], hits: Iterable[Hit], verdicts: Iterable[Verdict]) -> dict[str, float]:
    """Each group's best score: 1 for an attachment, a keyword's precision, a verdict's probability."""
    evidence = [(m.group, 1.0) for m in attached]
    evidence += [(h.group, h.precision) for h in hits]
    evidence += [pair for v in verdicts for pair in v.scores.items()]
    best: dict[str, float] = {}
    for group, score in evidence:
        best[group] = max(score, best.get(group, 0.0))
    return best


def _highest(tiers: Iterable[Tier]) -> Tier:
    return max(tiers, key=_TIER_RANK.__getitem__, default="fast")
