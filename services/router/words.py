"""What the router knows of a language beside the groups' phrases: inflection, connectors, small talk, references."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from services.router.patterns import Endings

_FOLDER = Path(__file__).parent / "languages"


class Inflection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The endings of verbs, folded: `hosts` are those that may carry the `pronouns` ("guard|a|lo")."""

    endings: list[str]
    hosts: list[str] = []
    pronouns: list[str] = []
    object_pronouns: list[str] = []

    def table(self) -> Endings:
        """Make every ending there is, and those that refer to a thing said before."""
        attached = {host + pronoun for host in self.hosts for pronoun in [*self.pronouns, *self.object_pronouns]}
        referring = {host + pronoun for host in self.hosts for pronoun in self.object_pronouns}
        return Endings(frozenset({*self.endings, *attached}), frozenset(referring))


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One language's words. All lists hold patterns, but `connectors` and `openers`, which are single words.

    `connectors` join requests, `openers` start a message that goes on with a topic, `follow_ups` refer to what was
    said before, `assents` agree to what was proposed, `small_talk` needs no tool, `fillers` may stand beside it.
    """

    inflection: Inflection
    connectors: list[str]
    openers: list[str]
    follow_ups: list[str]
    assents: list[str]
    small_talk: list[str]
    fillers: list[str]


def load_words(folder: Path = _FOLDER) -> dict[str, Words]:
    """Load the words of each language, from `folder/<language>.toml`."""
    return {
        path.stem: msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Words)
        for path in sorted(folder.glob("*.toml"))
    }


def endings_of(words: Mapping[str, Words]) -> dict[str, Endings]:
    """Make the inflection table of each language."""
    return {language: w.inflection.table() for language, w in words.items()}
