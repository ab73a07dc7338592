"""What was learned from use, joined to what the groups declare."""

from collections.abc import Iterable

import msgspec

from shared.messages.routing import LearnedExample
from shared.messages.tools import GroupDeclared, Phrases

# ISO 639-2 for "undetermined": people mix languages, and an utterance is matched in all of them anyway.
_ANY_LANGUAGE = "und"


def with_examples(declared: Iterable[GroupDeclared], learned: Iterable[LearnedExample]) -> list[GroupDeclared]:
    """The declared groups, each with the utterances learned for it as further examples."""
    by_group: dict[str, list[str]] = {}
    for example in learned:
        by_group.setdefault(example.group, []).append(example.text)
    return [
        msgspec.structs.replace(
            group, phrases={**group.phrases, _ANY_LANGUAGE: Phrases(examples=sorted(by_group[group.group]))}
        )
        if group.group in by_group
        else group
        for group in declared
    ]
