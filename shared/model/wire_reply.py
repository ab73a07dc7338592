"""The parts of a chat completion, or of one chunk of its stream, that a reply is proven from. Unknown fields pass."""

import re
from typing import Any

import msgspec

from shared.messages.conversation import Usage
from shared.model.errors import Transient


class WireFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function call; `arguments` is a JSON text of a JSON text, or (some servers) the object itself."""

    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")

    def arguments_text(self) -> str:
        """The arguments, or the piece of them in this chunk, as the model wrote them."""
        raw = bytes(self.arguments).strip()
        if raw in {b"", b"null"}:
            return ""
        try:
            return msgspec.json.decode(mended(raw), type=str) if raw.startswith(b'"') else raw.decode()
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise Transient(f"unreadable arguments of a call: {exc}") from exc


class WireCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, or a piece of one."""

    index: int | None = None
    id: str | None = None
    function: WireFunction | None = None


class WirePart(msgspec.Struct, frozen=True, kw_only=True):
    """A content part; only those of type `text` are the answer."""

    type: str = ""
    text: str | None = None


class WireMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message or a delta."""

    content: str | list[WirePart] | None = None
    refusal: str | None = None
    tool_calls: list[WireCall] | None = None

    def text(self) -> str:
        """The text of the content."""
        match self.content:
            case None:
                return ""
            case str():
                return self.content
            case parts:
                return "".join(part.text or "" for part in parts if part.type == "text")


class WireChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A choice; `delta` in a stream."""

    message: WireMessage | None = None
    delta: WireMessage | None = None
    finish_reason: str | None = None
    error: Any = None


class WireUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as servers count them."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None

    def usage(self) -> Usage:
        """As our own struct."""
        return Usage(tokens_in=int(self.prompt_tokens or 0), tokens_out=int(self.completion_tokens or 0))


class WireReply(msgspec.Struct, frozen=True, kw_only=True):
    """A completion or a chunk. `error`, when true, voids everything else; some servers put one's fields in the open."""

    choices: list[WireChoice] | None = None
    usage: WireUsage | None = None
    error: Any = None
    object: str = ""
    message: Any = None
    detail: Any = None

    @property
    def is_error(self) -> bool:
        """Whether this is an error object itself (Mistral, vLLM)."""
        return self.object == "error" or (self.choices is None and bool(self.message or self.detail))


_decoder = msgspec.json.Decoder(WireReply)
# Half of a surrogate pair, written as an escape: some servers cut inside an emoji.
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_pair_or_half = re.compile(rb"(%b%b)|%b|%b" % (_HIGH, _LOW, _HIGH, _LOW))


def decode_wire(data: bytes) -> WireReply:
    """The completion or chunk in `data`; `Transient` when it is none."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError as exc:
        raise Transient(f"not a chat completion: {exc}") from exc
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _decoder.decode(mended(data))
    except (msgspec.DecodeError, RecursionError) as exc:
        raise Transient(f"not a chat completion: {exc}") from exc


def mended(data: bytes) -> bytes:
    """JSON bytes with valid UTF-8 and without halves of surrogate pairs, each replaced by U+FFFD."""
    return _pair_or_half.sub(lambda match: match[1] or rb"\ufffd", data.decode("utf-8", "replace").encode())
