"""Content parts as the text (or image) a chat completion carries. Nothing empty, nothing unsafe, no bytes of blobs."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, assert_never

import msgspec

from shared.messages.parts import BlobRef, Json, Opaque, Part, Text
from shared.text import clean

# Whitespace alone is refused by some servers, so what stands for nothing must be visible.
EMPTY = "(empty)"
_NAME_LIMIT = 64
_not_in_names = re.compile("[^A-Za-z0-9_-]")

# The data URL of an image, or nothing when it may not be sent. The seam for images: a caller that has their bytes.
ImageUrl = Callable[[BlobRef], str | None]


class TextPart(msgspec.Struct, frozen=True, kw_only=True):
    """A text part on the wire."""

    type: Literal["text"]
    text: str


class ImageSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where an image comes from: a `data:` URL."""

    url: str


class ImagePart(msgspec.Struct, frozen=True, kw_only=True):
    """An image part on the wire."""

    type: Literal["image_url"]
    image_url: ImageSource


Content = str | list[TextPart | ImagePart]


def visible(text: str) -> str:
    """`text` made safe, or a visible placeholder when nothing is left."""
    safe = clean(text)
    return safe if safe.strip() else EMPTY


def text_content(parts: Sequence[Part]) -> str:
    """All parts as one text, without blank ones; empty when nothing is left."""
    texts = (clean(_text_of(part)) for part in parts)
    return "\n".join(text for text in texts if text.strip())


def content(parts: Sequence[Part], image_url: ImageUrl | None) -> Content:
    """The content of a user message: one text, or a list when it holds images that may be sent."""
    if image_url is None or not any(isinstance(part, BlobRef) for part in parts):
        return text_content(parts) or EMPTY
    items: list[TextPart | ImagePart] = []
    for part in parts:
        url = image_url(part) if isinstance(part, BlobRef) and part.media_type.startswith("image/") else None
        if url is not None:
            items.append(ImagePart(type="image_url", image_url=ImageSource(url=url)))
        elif text := text_content([part]):
            items.append(TextPart(type="text", text=text))
    return items or EMPTY


def wire_name(name: str) -> str:
    """A past call's tool name within the pattern every server accepts."""
    return _not_in_names.sub("_", name)[:_NAME_LIMIT] or "unnamed"


def wire_arguments(raw: msgspec.Raw) -> str:
    """The JSON text of a call's arguments: an object, free of control characters and lone surrogates."""
    text = bytes(raw).decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return "{}"
    if "\\u" not in text:
        return text
    try:
        return json.dumps(_clean_leaves(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return "{}"


def _clean_leaves(node: Any) -> Any:
    match node:
        case str():
            return clean(node)
        case list():
            return [_clean_leaves(item) for item in node]
        case dict():
            return {clean(key): _clean_leaves(value) for key, value in node.items()}
        case _:
            return node


def _text_of(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Json():
            return msgspec.json.encode(part.value).decode()
        case BlobRef():
            return _blob_note(part)
        case Opaque():
            return f"[a part of kind {part.kind!r} that cannot be shown]"
        case _:
            assert_never(part)


def _blob_note(blob: BlobRef) -> str:
    if blob.media_type.startswith("image/"):
        size = f", {blob.width}x{blob.height}" if blob.width and blob.height else ""
        note = f"[image {blob.name or 'without name'}{size}, stored as blob:{blob.sha256}]"
    else:
        note = f"[file {blob.name or 'without name'}, {blob.media_type}, {blob.bytes} bytes, "
        note += f"stored as blob:{blob.sha256}]"
    return f"{note} {blob.note}" if blob.note else note
