"""Refusals that say which words were not understood, and what to say instead."""

from typing import Literal

from shared.errors import Rejected
from shared.when.words import Lexicon

Reason = Literal[
    "empty",
    "too_long",
    "unknown",
    "misplaced",
    "incomplete",
    "ambiguous",
    "past",
    "too_far",
    "no_such_date",
    "no_such_hour",
    "weekday",
    "contradiction",
    "no_length",
]


class NotUnderstood(Rejected):
    """A phrase that names no one moment to come. Nothing was guessed.

    `reason` is a stable word for programs: "unknown" words are not in the vocabulary, "misplaced" ones are. `words` are
    those of the phrase, as written, that the refusal is about; `readings` the two meanings of an ambiguous phrase.
    `detail` and `remedy` are for the user, in their language.
    """

    def __init__(
        self, detail: str, *, reason: Reason, words: tuple[str, ...], remedy: str, readings: tuple[str, ...] = ()
    ) -> None:
        super().__init__("time_not_understood", detail, remedy=remedy)
        self.reason: Reason = reason
        self.words = words
        self.readings = readings

    def __str__(self) -> str:
        return f"{self.detail} {self.remedy}"


class Refusal(Exception):
    """Why a phrase cannot be read in one language: the reason, the words concerned, fields of the reason's text."""

    def __init__(self, reason: Reason, words: tuple[str, ...] = (), **fields: str) -> None:
        super().__init__(reason, words)
        self.reason: Reason = reason
        self.words = words
        self.fields = fields

    def told(self, text: str, lexicon: Lexicon, remedy: str) -> NotUnderstood:
        """The refusal of `text` in the words of `lexicon`."""
        fields = {"text": text, "words": " ".join(self.words), **self.fields}
        readings = tuple(value for name, value in self.fields.items() if name.startswith("reading_"))
        fields["readings"] = " / ".join(readings)
        detail = lexicon.texts.refused[self.reason].format_map(fields)
        return NotUnderstood(detail, reason=self.reason, words=self.words, remedy=remedy, readings=readings)
