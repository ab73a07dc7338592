"""A streamed chat completion: server-sent events, and the reply assembled from them."""

import msgspec

from shared.messages.conversation import Usage
from shared.model.classify import read_failure, to_error
from shared.model.dialects import Dialect
from shared.model.errors import Transient
from shared.model.reasoning import ThinkFilter, without_thinking
from shared.model.reply import Collected, prove, read_call, reject_error
from shared.model.types import ChatReply, ReplyCall
from shared.model.wire_reply import WireCall, WireMessage, decode_wire

MAX_CALLS = 64
_DONE = b"[DONE]"


class Event(msgspec.Struct, frozen=True):
    """One server-sent event."""

    name: bytes
    data: bytes


class EventParser:
    """Splits a byte stream into events, as the HTML standard defines them, for lines that end in LF or CRLF."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are complete with `chunk`."""
        self._rest += chunk
        if b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return [event for line in lines if (event := self._line(line.removesuffix(b"\r"))) is not None]

    def close(self) -> list[Event]:
        """What stood unterminated at the end: many servers end on `data: [DONE]` without the empty line."""
        return [event for line in (bytes(self._rest), b"") if (event := self._line(line.strip())) is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            event = Event(self._name, b"\n".join(self._data)) if self._data else None
            self._name, self._data = b"", []
            return event
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value
        return None


class _PartialCall:
    """A call that comes in pieces."""

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.name = ""
        self._pieces: list[str] = []

    def add(self, name: str, piece: str) -> None:
        # Repeated or growing names come from servers that send a call cumulatively.
        self.name = name if name.startswith(self.name) else self.name
        if piece:
            self._pieces.append(piece)

    def read(self) -> ReplyCall:
        """The whole call. When the pieces don't join but the last one holds all before it, they were cumulative."""
        call = read_call(self.name, "".join(self._pieces))
        if not call.malformed or len(self._pieces) < 2:
            return call
        last = self._pieces[-1]
        if not all(last.startswith(piece) for piece in self._pieces):
            return call
        whole = read_call(self.name, last)
        return call if whole.malformed else whole


class ReplyAssembler:
    """Collects the chunks of one reply. `done` once the server's `[DONE]` came."""

    def __init__(self, dialect: Dialect, *, max_tokens: int) -> None:
        self._dialect = dialect
        self._max_tokens = max_tokens
        self._think = ThinkFilter()
        self._visible: list[str] = []
        self._refusal = ""
        self._calls: list[_PartialCall] = []
        self._by_index: dict[int, _PartialCall] = {}
        self._finish_reason = ""
        self._usage = Usage()
        self.done = False

    def feed(self, event: Event) -> str:
        """Take one event; the text that becomes visible with it. `ModelError` when it carries an error."""
        if self.done:
            return ""
        if event.data == _DONE:
            self.done = True
            return ""
        if event.name == b"error":
            raise to_error(read_failure(200, event.data), self._dialect.name)
        wire = decode_wire(event.data)
        reject_error(wire, event.data, self._dialect.name)
        if wire.usage is not None:
            self._usage = wire.usage.usage()
        if not wire.choices:
            return ""
        choice = wire.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        # A closing chunk that repeats the whole message adds nothing to its deltas.
        delta = choice.delta or (None if self._visible or self._calls else choice.message)
        return self._take(delta) if delta is not None else ""

    def finish(self) -> ChatReply:
        """The proven reply after the last event; `Transient` when the stream was cut."""
        ended = self.done or (self._finish_reason and not self._dialect.strict_done)
        if not ended:
            raise Transient("the stream ended without its terminal marker")
        self._visible.append(self._think.close())
        answer = Collected(
            text=without_thinking("".join(self._visible)),
            calls=tuple(call.read() for call in self._calls),
            finish_reason=self._finish_reason,
            refusal=self._refusal,
            usage=self._usage,
        )
        return prove(answer, max_tokens=self._max_tokens)

    def _take(self, delta: WireMessage) -> str:
        for call in delta.tool_calls or ():
            self._take_call(call)
        self._refusal += delta.refusal or ""
        visible = self._think.feed(delta.text())
        if visible:
            self._visible.append(visible)
        return visible

    def _take_call(self, wire: WireCall) -> None:
        name = (wire.function.name if wire.function else None) or ""
        piece = wire.function.arguments_text() if wire.function else ""
        self._partial(wire, name).add(name, piece)

    def _partial(self, wire: WireCall, name: str) -> _PartialCall:
        """The call a piece belongs to: by its index, but another id with a name is another call (Gemini)."""
        if wire.index is not None:
            known = self._by_index.get(wire.index)
        else:
            known = next((call for call in self._calls if call.call_id == wire.id), None) if wire.id else None
            known = known or (self._calls[-1] if self._calls and not name else None)
        if known is not None and not (wire.id and name and known.call_id and wire.id != known.call_id):
            return known
        if len(self._calls) >= MAX_CALLS:
            raise Transient(f"more than {MAX_CALLS} calls in one reply")
        fresh = _PartialCall(wire.id or "")
        self._calls.append(fresh)
        if wire.index is not None:
            self._by_index[wire.index] = fresh
        return fresh
