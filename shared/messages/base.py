"""Encoding and tolerant decoding of messages."""

from typing import Any, Generic, TypeVar

import msgspec

from shared.errors import Malformed

T = TypeVar("T")
_encoder = msgspec.json.Encoder()


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Base of all messages: immutable, keyword-only, tagged by `type`."""


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a newer version: kept as it is, skipped by readers."""

    type: str
    raw: bytes


def encode(message: msgspec.Struct) -> bytes:
    """The JSON bytes of a message."""
    return _encoder.encode(message)


class Codec(Generic[T]):
    """Decodes one family of messages.

    Unknown fields are ignored. A message with a tag this version does not know becomes `Unknown`; inside a known
    message, content parts with unknown tags become `Opaque` parts, so that an old service survives a newer one.
    """

    def __init__(self, family: Any) -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(family)
        self._family = family

    def decode(self, data: bytes) -> T | Unknown:
        """The message in `data`; `Malformed` when it is no JSON object with a tag, or a known one that is broken."""
        try:
            return self._decoder.decode(data)
        except (msgspec.DecodeError, RecursionError) as exc:
            return self._decode_tolerantly(data, exc)

    def _decode_tolerantly(self, data: bytes, cause: Exception) -> T | Unknown:
        try:
            tree = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError) as exc:
            raise Malformed(f"not JSON: {exc}") from exc
        if not isinstance(tree, dict) or not isinstance(tree.get("type"), str):
            raise Malformed("a message must be an object with a text `type`") from cause
        if tree["type"] not in self._tags():
            return Unknown(type=tree["type"], raw=data)
        try:
            # Through JSON again: `msgspec.convert` has no way into raw fields, such as the arguments of a call.
            return self._decoder.decode(_encoder.encode(_blunt_unknown_parts(tree)))
        except msgspec.ValidationError as exc:
            raise Malformed(f"{tree['type']}: {exc}") from exc

    def _tags(self) -> set[str]:
        members = getattr(self._family, "__args__", (self._family,))
        return {str(m.__struct_config__.tag) for m in members}


def _blunt_unknown_parts(tree: dict[str, Any]) -> dict[str, Any]:
    """Replace every content part with a tag we do not know by an `opaque` part, also in the reply inside `final`.

    What tools take and return is left alone, whatever its keys are called.
    """
    blunt = {key: _opaque_parts(value) if key in ("content", "attachments") else value for key, value in tree.items()}
    if isinstance(tree.get("final"), dict):
        final = tree["final"]
        blunt["final"] = {**final, "content": _opaque_parts(final["content"])} if "content" in final else final
    return blunt


def _opaque_parts(parts: Any) -> Any:
    from shared.messages.parts import PART_TAGS  # noqa: PLC0415 - parts are messages too

    if not isinstance(parts, list):
        return parts
    return [
        {"type": "opaque", "kind": str(p.get("type"))} if isinstance(p, dict) and p.get("type") not in PART_TAGS else p
        for p in parts
    ]
