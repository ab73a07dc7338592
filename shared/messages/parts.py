"""Content parts: what messages, answers and tool results are made of. Bytes live in the blob store."""

from typing import Any

from shared.messages.base import Message


class Text(Message, frozen=True, tag="text"):
    """Plain text."""

    text: str


class Json(Message, frozen=True, tag="json"):
    """A structured value, as a tool returned it."""

    value: Any


class BlobRef(Message, frozen=True, tag="blob"):
    """A reference to bytes in the blob store; `bytes` is their length, sides are pixels of an image."""

    sha256: str
    media_type: str
    bytes: int
    name: str = ""
    width: int = 0
    height: int = 0
    note: str = ""


class Opaque(Message, frozen=True, tag="opaque"):
    """A part of a kind this version does not know."""

    kind: str


Part = Text | Json | BlobRef | Opaque
PART_TAGS = frozenset({"text", "json", "blob", "opaque"})


def plain_text(parts: list[Part]) -> str:
    """The text parts of `parts`, joined by line ends."""
    return "\n".join(p.text for p in parts if isinstance(p, Text))
