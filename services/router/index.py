"""Everything a routing decision looks at, compiled once from what the tool workers declared."""

from collections.abc import Iterable, Mapping

import msgspec

from services.router.lexicon import Lexicon, Precision, compile_lexicon
from services.router.talk import Talk, compile_talk
from services.router.words import Words, endings_of
from shared.messages.routing import Tier
from shared.messages.tools import GroupDeclared

# What an attachment of a media type needs; a prefix of the type is enough.
ATTACHMENTS: Mapping[str, str] = {"image/": "vision", "application/pdf": "storage"}


class RoutingIndex(msgspec.Struct, frozen=True):
    """The configured groups with their tiers, in order of their names, and all words compiled."""

    tiers: Mapping[str, Tier]
    lexicon: Lexicon
    talk: Talk

    @property
    def problems(self) -> tuple[str, ...]:
        """Patterns of the declared phrases that were left out, each with its reason."""
        return self.lexicon.problems

    def offered(self, allowed: Iterable[str]) -> frozenset[str]:
        """Return the groups a decision may choose: configured and, unless `allowed` is empty, among `allowed`."""
        wanted = frozenset(allowed)
        return frozenset(self.tiers) & wanted if wanted else frozenset(self.tiers)


def compile_index(
    declared: Iterable[GroupDeclared], words: Mapping[str, Words], precision: Precision | None = None
) -> RoutingIndex:
    """Compile the index; groups that are not configured leave no trace in it. Milliseconds, so done on each change.

    `precision` is what calibration measured for a (group, keyword); keywords without a measure count as sure.
    """
    configured = sorted((g for g in declared if g.configured), key=lambda g: g.group)
    endings = endings_of(words)
    return RoutingIndex(
        tiers={g.group: g.tier for g in configured},
        lexicon=compile_lexicon({g.group: g.phrases for g in configured}, endings, precision),
        talk=compile_talk(words, endings),
    )
