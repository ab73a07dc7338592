"""The order of roles a dialect accepts, settled on neutral messages. Each message stays one wire message or merges."""

from collections.abc import Iterable

from shared.messages.parts import Text
from shared.model.dialects import Dialect
from shared.model.types import AssistantTurn, ChatMessage, ToolTurn, UserTurn

_BRIDGE = AssistantTurn(content=[Text(text="(interrupted)")])


def clash(before: ChatMessage, after: ChatMessage, dialect: Dialect) -> bool:
    """Whether `after` may not follow `before` as it is."""
    return _mergeable(before, after, dialect) or _needs_bridge(before, after, dialect)


def settle(messages: Iterable[ChatMessage], dialect: Dialect) -> list[ChatMessage]:
    """`messages` in an order the dialect accepts: neighbours of one role merged, a bridge where a reply is missing."""
    settled: list[ChatMessage] = []
    for message in messages:
        if settled and _mergeable(settled[-1], message, dialect):
            settled[-1] = _merge(settled[-1], message)
            continue
        if settled and _needs_bridge(settled[-1], message, dialect):
            settled.append(_BRIDGE)
        settled.append(message)
    return settled


def _mergeable(before: ChatMessage, after: ChatMessage, dialect: Dialect) -> bool:
    match before, after:
        case UserTurn(), UserTurn():
            return dialect.merge_roles
        case AssistantTurn(calls=[]), AssistantTurn():
            return dialect.merge_roles
        case _:
            return False


def _needs_bridge(before: ChatMessage, after: ChatMessage, dialect: Dialect) -> bool:
    return not dialect.user_after_tool and isinstance(before, ToolTurn) and isinstance(after, UserTurn)


def _merge(before: ChatMessage, after: ChatMessage) -> ChatMessage:
    match before, after:
        case UserTurn(content=first), UserTurn(content=second):
            return UserTurn(content=[*first, *second])
        case AssistantTurn(content=first), AssistantTurn(content=second, calls=calls):
            return AssistantTurn(content=[*first, *second], calls=calls)
        case _:
            raise TypeError(f"{type(before).__name__} and {type(after).__name__} do not merge")
