"""What the classifier learns from: the groups' own phrases beside a corpus of public utterances."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from services.router.lexicon import Lexicon, compile_lexicon
from services.router.patterns import Endings
from services.router.semantic import NONE
from services.router.tokens import tokenise
from shared.errors import Permanent
from shared.messages.tools import Phrases

# Public rows under these licences may shape what ships; share-alike ones may not.
LICENCES = frozenset({"CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "MIT", "MIT/Apache-2.0", "Apache-2.0"})
# A keyword decides alone only after it was seen right this often, however right it was.
PROVEN = 3
# What a keyword is worth that was not seen often enough: a strong hint.
UNPROVEN = 0.9

# The groups that whoever labelled the corpus and the phrases of no tool had in mind.
JUDGED = frozenset(
    {"calendar", "email", "gym", "memory", "notes", "reddit", "reminders"}
    | {"schedules", "shell", "storage", "think", "tv", "vision", "web"}
)

GroupPhrases = Mapping[str, Mapping[str, Phrases]]


class Utterance(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text and the classes any of which is right for it."""

    text: str
    accept: tuple[str, ...]
    lang: str = ""
    source: str = ""


class Row(msgspec.Struct, frozen=True):
    """A row of a routing data file: `groups` are needed (none: no tool), any one of `accept` is right too."""

    text: str
    groups: list[str]
    lang: str = ""
    accept: list[str] = []
    source: str = ""
    lic: str = ""
    kind: str = ""
    prev: str | None = None

    @property
    def right(self) -> frozenset[str]:
        """The classes any of which is right."""
        return frozenset(self.groups or [NONE]) | frozenset(self.accept)


def read_rows(path: Path) -> list[Row]:
    """Read a routing data file (JSON lines); `Permanent` names the line that is none."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(msgspec.json.decode(line, type=Row))
        except msgspec.DecodeError as exc:
            raise Permanent(f"{path}, line {number}: {exc}") from exc
    return rows


def shippable(rows: Iterable[Row]) -> list[Utterance]:
    """Keep the rows whose licence lets weights learned from them be given away."""
    return [Utterance(r.text, tuple(sorted(r.right)), r.lang, r.source) for r in rows if r.lic in LICENCES]


def read_corpus(path: Path) -> list[Utterance]:
    """Read what `write_corpus` wrote."""
    return [msgspec.json.decode(line, type=Utterance) for line in path.read_bytes().splitlines()]


def write_corpus(path: Path, corpus: Iterable[Utterance]) -> None:
    """Store a corpus as JSON lines."""
    path.write_bytes(b"".join(msgspec.json.encode(u) + b"\n" for u in corpus))


def classes_of(groups: Iterable[str]) -> tuple[str, ...]:
    """List the classes: the groups in order of their names, and no tool."""
    return (*sorted(groups), NONE)


def gather(groups: GroupPhrases, none: Mapping[str, Phrases], corpus: Iterable[Utterance]) -> list[Utterance]:
    """Put together everything there is to learn from, each text once.

    A group's example is right for it; its negative for everything else; `none` holds what needs no tool. Where a text
    comes twice, whatever any of them accepts is right. Of the corpus, classes that are not among `groups` are left
    out: a group that does not exist is no tool.
    """
    classes = classes_of(groups)
    found: dict[str, Utterance] = {}
    for u in [*corpus, *_own(groups, none, classes)]:
        accept = {c if c in classes else NONE for c in u.accept}
        known = found.get(u.text)
        if known is not None:
            accept |= set(known.accept)
        found[u.text] = Utterance(u.text, tuple(sorted(accept)), u.lang, u.source)
    return list(found.values())


def _own(groups: GroupPhrases, none: Mapping[str, Phrases], classes: Sequence[str]) -> Iterable[Utterance]:
    examples = {text for by_language in groups.values() for p in by_language.values() for text in p.examples}
    for group, by_language in sorted(groups.items()):
        others = tuple(c for c in classes if c != group)
        for language, phrases in sorted(by_language.items()):
            yield from (Utterance(text, (group,), language, "phrases") for text in phrases.examples)
            yield from (Utterance(t, others, language, "negatives") for t in phrases.negatives if t not in examples)
    for language, phrases in sorted(none.items()):
        yield from (Utterance(text, (NONE,), language, "phrases") for text in phrases.examples)


def concede(utterances: Iterable[Utterance], lexicon: Lexicon, connectors: frozenset[str]) -> list[Utterance]:
    """Let a group that the labels knew nothing of be right as well where its keywords meet what needs no tool.

    "Turn on the lights" needs no tool until somebody adds a group for lights.
    """
    conceded = []
    for u in utterances:
        newcomers = hinted(u.text, lexicon, connectors) - JUDGED if NONE in u.accept else frozenset()
        accept = tuple(sorted({*u.accept, *newcomers})) if newcomers else u.accept
        conceded.append(Utterance(u.text, accept, u.lang, u.source))
    return conceded


def keywords_only(groups: GroupPhrases, endings: Mapping[str, Endings]) -> Lexicon:
    """Compile the keywords without the examples: each example would be its own best proof."""
    bare = {
        group: {lang: Phrases(keywords=p.keywords, blockers=p.blockers) for lang, p in by_language.items()}
        for group, by_language in groups.items()
    }
    return compile_lexicon(bare, endings)


def hinted(text: str, lexicon: Lexicon, connectors: frozenset[str]) -> frozenset[str]:
    """Find the groups that keywords of `text` speak for."""
    return frozenset(h.group for h in lexicon.hits(tokenise(text, connectors)))


def measure_precision(
    utterances: Iterable[Utterance], lexicon: Lexicon, connectors: frozenset[str], groups: GroupPhrases
) -> dict[str, dict[str, float]]:
    """Measure, by group and keyword, the share of the utterances it meets that its group is right for."""
    seen: dict[tuple[str, str], int] = {}
    right: dict[tuple[str, str], int] = {}
    for u in utterances:
        for pair in {(h.group, h.pattern) for h in lexicon.hits(tokenise(u.text, connectors))}:
            seen[pair] = seen.get(pair, 0) + 1
            right[pair] = right.get(pair, 0) + (pair[0] in u.accept)
    return {
        group: {
            text: _precision(seen.get((group, text), 0), right.get((group, text), 0))
            for p in by_language.values()
            for text in p.keywords
        }
        for group, by_language in sorted(groups.items())
    }


def _precision(seen: int, right: int) -> float:
    share = right / seen if seen else UNPROVEN
    return round(share if seen >= PROVEN else min(share, UNPROVEN), 4)
