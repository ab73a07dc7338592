"""The keyword layer: which groups the words of a message name."""

from collections.abc import Iterable, Mapping

import msgspec

from services.router.patterns import BadPattern, Endings, Found, Pattern, PatternTable, compile_pattern
from services.router.tokens import STOP, Tokens, tokenise
from shared.messages.tools import Phrases

Precision = Mapping[tuple[str, str], float]
_Utterance = tuple[str, int, int]


class Hit(msgspec.Struct, frozen=True):
    """Words `start` to `end` (excluded) of clause `clause` speak for `group`.

    `precision` is the share of such messages that really need the group: 1 unless calibration measured less.
    """

    group: str
    pattern: str
    start: int
    end: int
    clause: int
    precision: float = 1.0


class _Owner(msgspec.Struct, frozen=True):
    group: str
    blocks: bool = False
    precision: float = 1.0


class Lexicon(msgspec.Struct, frozen=True):
    """All groups' phrases, compiled. `problems` names the patterns left out because they mean nothing."""

    table: PatternTable[_Owner]
    examples: Mapping[str, tuple[str, ...]]
    negatives: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...] = ()

    def hits(self, tokens: Tokens) -> list[Hit]:
        """Find what the words speak for, by their place.

        A blocker silences its group's keywords in its clause. A phrase outweighs the words inside it, whoever's
        they are. A whole message or clause that is an example speaks for its group; one that is a negative never.
        """
        utterances = _utterances(tokens)
        found = self.table.find(tokens)
        silenced = self._negated(tokens, utterances)
        silenced |= {(f.pattern.owner.group, tokens.clauses[f.start]) for f in found if f.pattern.owner.blocks}
        keywords = [
            f
            for f in _outermost(f for f in found if not f.pattern.owner.blocks)
            if (f.pattern.owner.group, tokens.clauses[f.start]) not in silenced
        ]
        return [*(_hit(f, tokens) for f in keywords), *self._exemplified(tokens, utterances)]

    def _exemplified(self, tokens: Tokens, utterances: list[_Utterance]) -> list[Hit]:
        return [
            Hit(group, key, start, end, tokens.clauses[start])
            for key, start, end in utterances
            for group in self.examples.get(key, ())
        ]

    def _negated(self, tokens: Tokens, utterances: list[_Utterance]) -> set[tuple[str, int]]:
        return {
            (group, clause)
            for key, start, end in utterances
            for group in self.negatives.get(key, ())
            for clause in tokens.clauses[start:end]
        }


def compile_lexicon(
    groups: Mapping[str, Mapping[str, Phrases]], endings: Mapping[str, Endings], precision: Precision | None = None
) -> Lexicon:
    """Compile each group's phrases by language.

    `endings` are the languages' inflections; `precision` what calibration measured for a (group, keyword). A message
    is matched in every language at once: people mix them. A pattern without meaning is left out and named.
    """
    measured = precision or {}
    patterns: list[Pattern[_Owner]] = []
    examples: dict[str, tuple[str, ...]] = {}
    negatives: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for group, by_language in groups.items():
        for language, phrases in by_language.items():
            owners = [(text, _Owner(group, precision=measured.get((group, text), 1.0))) for text in phrases.keywords]
            owners += [(text, _Owner(group, blocks=True)) for text in phrases.blockers]
            for text, owner in owners:
                try:
                    patterns.append(compile_pattern(text, owner, endings.get(language, Endings())))
                except BadPattern as exc:
                    problems.append(f"{group} ({language}): {exc}")
            _add(examples, phrases.examples, group)
            _add(negatives, phrases.negatives, group)
    return Lexicon(PatternTable(patterns), examples, negatives, tuple(problems))


def _add(index: dict[str, tuple[str, ...]], utterances: Iterable[str], group: str) -> None:
    for utterance in utterances:
        key = _key(tokenise(utterance).words)
        if key and group not in index.get(key, ()):
            index[key] = (*index.get(key, ()), group)


def _key(words: Iterable[str]) -> str:
    return " ".join(w for w in words if w != STOP)


def _utterances(tokens: Tokens) -> list[_Utterance]:
    """List the whole message and, when there are several, its clauses: their words and where they start and end."""
    bounds = tokens.clause_bounds()
    whole = (0, len(tokens.words))
    return [
        (_key(tokens.words[start:end]), start, end) for start, end in ([whole, *bounds] if len(bounds) > 1 else [whole])
    ]


def _hit(found: Found[_Owner], tokens: Tokens) -> Hit:
    owner = found.pattern.owner
    return Hit(owner.group, found.pattern.text, found.start, found.end, tokens.clauses[found.start], owner.precision)


def _outermost(found: Iterable[Found[_Owner]]) -> list[Found[_Owner]]:
    """`found` without those that lie inside a longer phrase (one whose words stand side by side)."""
    kept: list[Found[_Owner]] = []
    widest = (0, 0)
    for f in sorted(found, key=lambda f: (f.start, -f.end)):
        span = (f.start, f.end)
        if widest[1] >= f.end and widest != span:
            continue
        kept.append(f)
        if f.pattern.solid and f.end > widest[1]:
            widest = span
    return kept
