"""The rule machine: a request in, text or calls out. Pure: the same request has the same answer."""

import msgspec

from shared.model.offline.answers import SIGNS, TEXTS
from shared.model.offline.chat import Chat
from shared.model.offline.language import Language, choose
from shared.model.offline.plan import Call, Planner, Say, unknown
from shared.model.offline.rules import intents

_DEFAULT: Language = "es"


class Decision(msgspec.Struct, frozen=True):
    """What the offline model answers: calls, or (without any) a text."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def decide(chat: Chat) -> Decision:
    """Answer a request.

    Calls come first; what there is to say is said once no wish needs another one. The first answer of a conversation
    says which model this is.
    """
    texts = TEXTS[choose([*reversed(chat.texts), *chat.said], chat.system, SIGNS, _DEFAULT)]
    planner = Planner(chat, texts)
    steps = [planner.step(intent) for text in chat.texts for intent in intents(text)]
    calls = tuple(step for step in steps if isinstance(step, Call))
    if calls:
        return Decision(calls=calls)
    said = [step.text for step in steps if isinstance(step, Say)] or [unknown(chat, texts)]
    if chat.first:
        said.append(texts.offline)
    return Decision(text="\n".join(said))
