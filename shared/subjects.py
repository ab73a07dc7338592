"""Every subject Jada uses, and the reversible encoding of outside ids into subject tokens.

A token holds `[A-Za-z0-9_-]` as is and every other byte of the id's UTF-8 as `=XX`, so that two different ids
never share a subject and the id can be read back from it.
"""

from shared.errors import Rejected

MAX_TOKEN_BYTES = 200
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")

ROUTE = "route"
TOOL_CANCEL = "cancel"


def encode_id(value: str) -> str:
    """One subject token for an outside id; `Rejected` when it is empty, not UTF-8, or over 200 bytes encoded."""
    try:
        raw = value.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise Rejected("invalid-id", "an id holds an unpaired surrogate", remedy="send valid Unicode") from exc
    token = "".join(chr(b) if b in _PLAIN else f"={b:02X}" for b in raw)
    if not token:
        raise Rejected("invalid-id", "an id is empty", remedy="send at least one character")
    if len(token) > MAX_TOKEN_BYTES:
        raise Rejected(
            "invalid-id",
            f"an id takes {len(token)} bytes encoded, the limit is {MAX_TOKEN_BYTES}",
            remedy="use a shorter id; characters outside A-Z a-z 0-9 _ - count three times per byte",
        )
    return token


def decode_id(token: str) -> str:
    """The outside id behind a token made by `encode_id`."""
    out = bytearray()
    i = 0
    while i < len(token):
        if token[i] == "=":
            out.append(int(token[i + 1 : i + 3], 16))
            i += 3
        else:
            out.append(ord(token[i]))
            i += 1
    return out.decode("utf-8")


def conv_in(conversation_id: str) -> str:
    """Inputs of a conversation."""
    return f"conv.{encode_id(conversation_id)}.in"


def conv_log(conversation_id: str) -> str:
    """What the coordinator decided; written by the agent only, fenced."""
    return f"conv.{encode_id(conversation_id)}.log"


def conv_tool(conversation_id: str) -> str:
    """Tool results of a conversation."""
    return f"conv.{encode_id(conversation_id)}.tool"


def conv_all(conversation_id: str) -> str:
    """Filter for everything stored of a conversation."""
    return f"conv.{encode_id(conversation_id)}.>"


def live(conversation_id: str) -> str:
    """Tokens and progress for whoever watches; never stored."""
    return f"live.{encode_id(conversation_id)}"


def conversation_of(subject: str) -> str:
    """The conversation id in a `conv.<id>.<kind>` subject."""
    return decode_id(subject.split(".")[1])


def tool_job(group: str, name: str) -> str:
    """A job for one tool."""
    return f"tool.{encode_id(group)}.{encode_id(name)}"


def tool_group(group: str) -> str:
    """Filter for all jobs of a group."""
    return f"tool.{encode_id(group)}.*"


def tool_cancel(call_id: str) -> str:
    """Asks whichever worker runs a call to stop."""
    return f"{TOOL_CANCEL}.{encode_id(call_id)}"


def schedule(user_id: str, schedule_id: str) -> str:
    """A pending schedule. Under its owner, so that listing one's schedules is one filtered read."""
    return f"schedule.{encode_id(user_id)}.{encode_id(schedule_id)}"


def schedules_of(user_id: str) -> str:
    """Filter for a user's pending schedules."""
    return f"schedule.{encode_id(user_id)}.*"


def due(user_id: str, schedule_id: str) -> str:
    """Where a schedule fires."""
    return f"due.{encode_id(user_id)}.{encode_id(schedule_id)}"


def dead(stream: str) -> str:
    """Copies of messages of `stream` that nobody could handle."""
    return f"dead.{encode_id(stream)}"


def playbook(scope: str) -> str:
    """Deltas of one playbook scope, such as `user:ana`. The limit of an id holds for each side of the colon."""
    kind, colon, owner = scope.partition(":")
    return f"playbook.{encode_id(kind + colon)}{encode_id(owner) if owner else ''}"


def kv(bucket: str, *tokens: str) -> str:
    """The subject of a key-value entry; `tokens` are encoded and joined by dots."""
    return ".".join([f"$KV.{bucket}", *(encode_id(t) for t in tokens)])
