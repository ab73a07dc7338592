"""How a message stands in its conversation: chit-chat, a follow-up, or a request of its own."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from services.router.patterns import Endings, Found, PatternTable, compile_pattern
from services.router.tokens import STOP, Tokens
from services.router.words import Words

# Longer messages are requests of their own, whatever they begin with.
OPENED_WORDS = 6
SHORT_WORDS = 3

Role = Literal["follow_up", "assent", "small_talk", "filler"]
_TALKS: frozenset[Role] = frozenset({"small_talk", "assent"})


class Stance(msgspec.Struct, frozen=True):
    """What kind of message it is.

    `chat`: the whole message is small talk. `reference`: the words that point back to the open topic, if any.
    `brief`: the message, when it is too short to be understood by itself (unless it names a group).
    """

    chat: bool
    reference: str = ""
    brief: str = ""


class Talk(msgspec.Struct, frozen=True):
    """All languages' conversational words, compiled."""

    table: PatternTable[Role]
    connectors: frozenset[str]
    openers: frozenset[str]

    def read(self, tokens: Tokens) -> Stance:
        """Tell how the message stands. An assent points back too ("sí" may mean "do it"), and so does an emoji."""
        if not tokens.count:
            return Stance(chat=True, reference=tokens.text.strip())
        found = self.table.find(tokens)
        chat = self._is_chat(tokens, found)
        brief = not chat and tokens.count <= SHORT_WORDS
        return Stance(chat=chat, reference=self._reference(tokens, found), brief=tokens.text.strip() if brief else "")

    def _is_chat(self, tokens: Tokens, found: list[Found[Role]]) -> bool:
        if not any(f.pattern.owner in _TALKS for f in found):
            return False
        covered = {i for f in found if f.pattern.owner != "follow_up" for i in range(f.start, f.end)}
        return all(i in covered or word == STOP or word in self.connectors for i, word in enumerate(tokens.words))

    def _reference(self, tokens: Tokens, found: list[Found[Role]]) -> str:
        for role in ("follow_up", "assent"):
            for f in found:
                if f.pattern.owner == role and (role == "follow_up" or tokens.count <= OPENED_WORDS):
                    return tokens.original(f.start, f.end)
        first = next((i for i, word in enumerate(tokens.words) if word != STOP), None)
        if first is not None and tokens.words[first] in self.openers and tokens.count <= OPENED_WORDS:
            return tokens.original(first, first + 1)
        return ""


def compile_talk(words: Mapping[str, Words], endings: Mapping[str, Endings]) -> Talk:
    """Compile every language's words; `BadPattern` when one of them means nothing."""
    patterns = [
        compile_pattern(text, role, endings[language])
        for language, w in words.items()
        for role, texts in _by_role(w).items()
        for text in texts
    ]
    return Talk(
        PatternTable(patterns),
        frozenset(c for w in words.values() for c in w.connectors),
        frozenset(o for w in words.values() for o in w.openers),
    )


def _by_role(words: Words) -> dict[Role, list[str]]:
    return {
        "follow_up": words.follow_ups,
        "assent": words.assents,
        "small_talk": words.small_talk,
        "filler": words.fillers,
    }
