"""An answer taken apart: its own words, without what it quotes, as sentences of clauses."""

import re
from collections.abc import Set as AbstractSet

import msgspec

from services.agent.claims.vocabulary import Mark, Vocabulary, words_of

# Stands for a quoted text, so that the sentence around it keeps its shape.
QUOTED = "§"
_HEAD_CHARS, _TAIL_CHARS = 4000, 2000
_QUOTE = re.compile(r"“[^”]*”|«[^»]*»|\"[^\"\n]*\"|„[^“]*“|(?<!\w)['\u2018][^'\u2019\n]+['\u2019](?!\w)")
_MULTILINE_QUOTE = re.compile(r"“[^”]*”|«[^»]*»|\"[^\"]*\"")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_BLOCK_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LINK = re.compile(r"\]\([^)\s]*\)|https?://\S+")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|~~")
_SENTENCE = re.compile(r"(?<=[.!?…])[)\"”»'\u2019]*\s+(?=\S)|\n+|(?=¿)|(?<=\?)\s*|(?<=…)\s*|;\s+")
_ABBREVIATION = re.compile(
    r"\b(?:[ap]\. ?m\.|sr\.|sra\.|dr\.|dra\.|mr\.|mrs\.|ms\.|e\.g\.|i\.e\.|etc\.|tel\.|no\.(?= ?\d))", re.IGNORECASE
)
_BREAKS = frozenset(
    {",", ":", "—", "\u2013", "(", ")", "|", "→", "-", "•", "*", "/", "+", "=", ">", "[", "]", "✅", "✔", "☑", "❌"}
)


class Sentence(msgspec.Struct, frozen=True):
    """One sentence: its words, the clause each word is in, and the phrases marked in it."""

    text: str
    words: list[str]
    clauses: list[int]
    marks: list[Mark]
    question: bool

    def has(self, *tags: str) -> bool:
        """Whether a phrase of any of these lists stands in the sentence."""
        return any(mark.tag in tags for mark in self.marks)

    def before(self, at: int, *tags: str) -> bool:
        """Whether one stands before the word `at`, in its clause."""
        return any(m.tag in tags and m.start < at and self.clauses[m.start] == self.clauses[at] for m in self.marks)

    def beside(self, at: int, *tags: str) -> bool:
        """Whether one stands in the clause of the word `at`."""
        return any(m.tag in tags and self.clauses[m.start] == self.clauses[at] for m in self.marks)

    def tags(self, at: int) -> frozenset[str]:
        """The lists of which a phrase covers the word `at`; none for a place outside."""
        return frozenset(mark.tag for mark in self.marks if mark.start <= at < mark.end)

    def objects(self, clause: int | None = None) -> frozenset[str]:
        """The objects named, in one clause or in all."""
        return frozenset(
            m.tag.removeprefix("object:")
            for m in self.marks
            if m.tag.startswith("object:") and clause in (None, self.clauses[m.start])
        )


def head_and_tail(text: str) -> str:
    """What is read of a text: claims stand at its beginning or its end, and time stays bounded."""
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"


def own_words(text: str, *, quotes_count: bool) -> str:
    """`text` without quotations, code and links. Fences and block quotes stay where `quotes_count`.

    After a request to act, models put their own claims in them; after a request for a text, they hold the text.
    """
    if not quotes_count:
        text = _MULTILINE_QUOTE.sub(QUOTED, _BLOCK_QUOTE.sub(QUOTED, _FENCE.sub(QUOTED, text)))
    text = text.replace("```", "\n")
    return _EMPHASIS.sub("", _LINK.sub(f"]{QUOTED}", _QUOTE.sub(QUOTED, _INLINE_CODE.sub(QUOTED, text))))


def sentences_of(text: str, vocabulary: Vocabulary, fixed: AbstractSet[str] = frozenset({"fixed"})) -> list[Sentence]:
    """The sentences that have words. Set phrases whose words mislead ("no problem") are taken out of them."""
    text = _ABBREVIATION.sub(lambda found: found.group().replace(".", ""), text)
    found = []
    for part in _SENTENCE.split(text):
        words = words_of(part)
        marks = vocabulary.marks(words)
        for mark in marks:
            if mark.tag in fixed:
                words[mark.start : mark.end] = [QUOTED] * (mark.end - mark.start)
        if any(mark.tag in fixed for mark in marks):
            marks = vocabulary.marks(words)
        if words:
            found.append(
                Sentence(
                    part.strip(),
                    words,
                    _clauses(words, vocabulary.conjunctions),
                    marks,
                    part.rstrip(' )"”*').endswith("?"),
                )
            )
    return found


def _clauses(words: list[str], conjunctions: AbstractSet[str]) -> list[int]:
    numbers = []
    clause = 0
    for word in words:
        if word in _BREAKS or word in conjunctions:
            clause += 1
        numbers.append(clause)
    return numbers
