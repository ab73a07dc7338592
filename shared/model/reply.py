"""From what a server sent to a proven reply. Success needs positive proof; everything else is a typed error."""

from collections.abc import Iterable

import msgspec

from shared.messages.conversation import Usage
from shared.model.classify import failure_of, read_failure, to_error
from shared.model.dialects import finish_of
from shared.model.errors import Transient
from shared.model.reasoning import without_thinking
from shared.model.types import ChatReply, Finish, ReplyCall
from shared.model.wire_reply import WireCall, WireReply, decode_wire, mended
from shared.text import clean


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer before it is judged. `finish_reason` is the server's word, empty when `[DONE]` alone ended it."""

    text: str
    calls: tuple[ReplyCall, ...] = ()
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage = Usage()


def decode_reply(body: bytes, *, dialect: str, max_tokens: int) -> ChatReply:
    """The reply in a whole (not streamed) response with HTTP status 200; a `ModelError` when it proves nothing."""
    wire = decode_wire(body)
    reject_error(wire, body, dialect)
    if not wire.choices or wire.choices[0].message is None:
        raise Transient("a response without a message")
    choice, message = wire.choices[0], wire.choices[0].message
    if not choice.finish_reason:
        raise Transient("a response without a finish reason")
    return prove(
        Collected(
            text=without_thinking(message.text()),
            calls=_calls(message.tool_calls or ()),
            finish_reason=choice.finish_reason,
            refusal=message.refusal or "",
            usage=wire.usage.usage() if wire.usage else Usage(),
        ),
        max_tokens=max_tokens,
    )


def reject_error(wire: WireReply, data: bytes, dialect: str) -> None:
    """Raise the error that a 200, or a chunk of its stream, carries in its body or in a choice."""
    error = wire.error or next((choice.error for choice in wire.choices or () if choice.error), None)
    if error:
        raise to_error(failure_of(200, error), dialect)
    if wire.is_error:
        raise to_error(read_failure(200, data), dialect)


def prove(answer: Collected, *, max_tokens: int) -> ChatReply:
    """The reply, if the answer ended properly and holds text, a call, or an explicit refusal or length state."""
    text = clean(answer.text).strip()
    finish = _finish(answer, max_tokens)
    if finish == "refused":
        return ChatReply(model="", finish=finish, text=clean(answer.refusal).strip() or text, usage=answer.usage)
    if finish == "length":
        return ChatReply(model="", finish=finish, text=text, usage=answer.usage)
    if not text and not answer.calls:
        raise Transient("an empty reply")
    return ChatReply(model="", finish=finish, text=text, calls=answer.calls, usage=answer.usage)


def read_call(name: str, arguments: str) -> ReplyCall:
    """A call as the model wrote it; no arguments at all are an empty object."""
    if not name:
        raise Transient("a call without a name")
    raw = mended(arguments.strip().encode("utf-8", "replace")) or b"{}"
    try:
        tree = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        return ReplyCall(name=clean(name), malformed=clean(raw.decode()))
    return ReplyCall(name=clean(name), arguments=msgspec.Raw(raw))


def _finish(answer: Collected, max_tokens: int) -> Finish:
    finish = finish_of(answer.finish_reason) if answer.finish_reason else "stop"
    if finish is None:
        raise Transient(f"finish reason {answer.finish_reason!r}")
    if finish == "refused" or answer.refusal:
        return "refused"
    # Some servers report a call that ran out of room as finished.
    cut = any(call.malformed for call in answer.calls) and 0 < max_tokens <= answer.usage.tokens_out
    if finish == "length" or cut:
        return "length"
    return "calls" if answer.calls else "stop"


def _calls(wire: Iterable[WireCall]) -> tuple[ReplyCall, ...]:
    """The calls of a message; one sent twice under the same id counts once."""
    seen: set[str] = set()
    calls = []
    for call in wire:
        if call.id and call.id in seen:
            continue
        seen.add(call.id or "")
        function = call.function
        calls.append(read_call(function.name or "", function.arguments_text()) if function else read_call("", ""))
    return tuple(calls)
