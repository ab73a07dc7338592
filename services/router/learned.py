"""Everything that is learned from phrases: weights, thresholds, and how far each keyword can be trusted."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from services.router.classifier import Classifier
from services.router.features import featurise
from services.router.lexicon import Lexicon, Precision
from services.router.linear import Linear, pack, unpack
from services.router.patterns import Endings
from services.router.policy import Thresholds
from services.router.samples import (
    GroupPhrases,
    Utterance,
    classes_of,
    concede,
    gather,
    hinted,
    keywords_only,
    measure_precision,
    read_corpus,
)
from services.router.training import Recipe, Sample, fit
from services.router.vectors import WordVectors, load_vectors
from services.router.words import Words, endings_of
from shared.errors import Malformed
from shared.messages.tools import Phrases
from shared.phrases import load_phrases

HERE = Path(__file__).parent
DATA = HERE / "shipped"
NONE_PHRASES = HERE / "none"
LEARNED_FILE = "learned.bin"
CORPUS_FILE = "corpus.jsonl"
# Raised when features or training change, so that what was learned before is learned anew.
EDITION = "1"


class Material(msgspec.Struct, frozen=True):
    """What every training needs beside the groups' phrases."""

    vectors: WordVectors
    words: Mapping[str, Words]
    none: Mapping[str, Phrases]
    corpus: list[Utterance]

    @property
    def endings(self) -> dict[str, Endings]:
        """Each language's inflection."""
        return endings_of(self.words)

    @property
    def connectors(self) -> frozenset[str]:
        """The words that join clauses, of all languages."""
        return frozenset(c for w in self.words.values() for c in w.connectors)


class Learned(msgspec.Struct, frozen=True):
    """The state of the built-in embedder for the phrases that `digests` name, by group."""

    digests: Mapping[str, str]
    model: Linear
    thresholds: Thresholds
    keywords: Mapping[str, Mapping[str, float]]

    def covers(self, groups: GroupPhrases) -> bool:
        """Whether this was learned from these very phrases; groups it knows beside them do no harm."""
        return digests_of(groups).items() <= self.digests.items()

    @property
    def precision(self) -> Precision:
        """What was measured for each (group, keyword)."""
        return {(group, text): p for group, texts in self.keywords.items() for text, p in texts.items()}

    def semantic(self, vectors: WordVectors) -> Classifier:
        """Make the semantic layer of it."""
        return Classifier(self.model, vectors, self.thresholds)


class _Head(msgspec.Struct, frozen=True):
    digests: dict[str, str]
    thresholds: Thresholds
    keywords: dict[str, dict[str, float]]


def load_material(words: Mapping[str, Words], folder: Path = DATA) -> Material:
    """Load what ships; the vectors are only opened."""
    return Material(load_vectors(folder), words, load_phrases(NONE_PHRASES), read_corpus(folder / CORPUS_FILE))


def digests_of(groups: GroupPhrases) -> dict[str, str]:
    """Name each group's phrases under this edition; the same phrases have the same name."""
    return {group: _digest(by_language) for group, by_language in sorted(groups.items())}


def _digest(by_language: Mapping[str, Phrases]) -> str:
    canonical = {lang: msgspec.to_builtins(phrases) for lang, phrases in sorted(by_language.items())}
    return hashlib.sha256(f"builtin {EDITION} ".encode() + msgspec.json.encode(canonical)).hexdigest()[:16]


def learn(groups: GroupPhrases, material: Material, thresholds: Thresholds, recipe: Recipe | None = None) -> Learned:
    """Learn from `groups` and `material` in seconds of one core; the same input gives the same state."""
    lexicon = keywords_only(groups, material.endings)
    utterances = concede(gather(groups, material.none, material.corpus), lexicon, material.connectors)
    samples = make_samples(utterances, lexicon, material)
    return Learned(
        digests=digests_of(groups),
        model=fit(samples, classes_of(groups), recipe or Recipe()),
        thresholds=thresholds,
        keywords=measure_precision(utterances, lexicon, material.connectors, groups),
    )


def make_samples(utterances: Iterable[Utterance], lexicon: Lexicon, material: Material) -> list[Sample]:
    """Turn utterances into what training takes."""
    connectors = material.connectors
    return [
        Sample(featurise(u.text, material.vectors), hinted(u.text, lexicon, connectors), frozenset(u.accept))
        for u in utterances
    ]


def write_learned(learned: Learned) -> bytes:
    """Pack the state: a JSON line, then the weights; a few hundred kilobytes, the same for the same state."""
    head = _Head(dict(learned.digests), learned.thresholds, {g: dict(t) for g, t in learned.keywords.items()})
    return msgspec.json.encode(head) + b"\n" + pack(learned.model)


def read_learned(data: bytes) -> Learned:
    """Read what `write_learned` wrote; `Malformed` when it is anything else."""
    head, _, weights = data.partition(b"\n")
    try:
        known = msgspec.json.decode(head, type=_Head)
    except msgspec.DecodeError as exc:
        raise Malformed(f"no routing state: {exc}") from exc
    return Learned(known.digests, unpack(weights), known.thresholds, known.keywords)


def read_shipped(folder: Path = DATA) -> Learned:
    """Read the state that ships, learned from the phrases that ship."""
    return read_learned((folder / LEARNED_FILE).read_bytes())


def load_shipped(folder: Path = DATA) -> Classifier:
    """Load the semantic layer that ships; tens of milliseconds."""
    return read_shipped(folder).semantic(load_vectors(folder))
