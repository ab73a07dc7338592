"""Request bodies: measured while they arrive, decoded into structs that allow no unknown field."""

from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Request
from msgspec import Meta
from starlette.types import Message

from shared.errors import Rejected
from shared.messages.parts import BlobRef

T = TypeVar("T", bound=msgspec.Struct)


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all request bodies."""


class TurnRequest(Body, frozen=True):
    """A message to Jada. `wait_s` is how many seconds to wait for the answer (not with an event stream)."""

    conversation_id: Annotated[str, Meta(description="The conversation; any text, made on first use.")]
    user_id: Annotated[str, Meta(description="Who writes.")]
    text: Annotated[str, Meta(description="What they write; may be empty with an attachment.")] = ""
    attachments: Annotated[
        list[str | BlobRef], Meta(description="Uploaded files: their sha256, or what POST /v1/files answered.")
    ] = []
    profile: Annotated[str, Meta(description="Profile to answer with; empty: the conversation's.")] = ""
    profile_of: Annotated[str, Meta(description="A conversation whose profile to answer with; empty: none.")] = ""
    idempotency_key: Annotated[
        str, Meta(description="The same key in a conversation is the same message; empty: none.", max_length=200)
    ] = ""
    wait_s: Annotated[float, Meta(description="Seconds to wait for the answer; http.wait_max_s bounds it.", ge=0)] = (
        30.0
    )


class CancelBody(Body, frozen=True):
    """Asks the running turn to stop."""

    user_id: Annotated[str, Meta(description="Who asks.")]
    turn_id: Annotated[str, Meta(description="Only this turn (or the one of this input); empty: whichever runs.")] = ""


def limited(request: Request, limit: int, refusal: Rejected) -> Request:
    """The same request, raising `refusal` as soon as its body exceeds `limit` bytes, announced or not."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise refusal
    received = 0

    async def receive() -> Message:
        nonlocal received
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise refusal
        return message

    return Request(request.scope, receive)


async def decode_body(request: Request, kind: type[T], *, limit: int) -> T:
    """The request's JSON body as `kind`; `Rejected` when it is too large, not JSON, or not of that shape."""
    # A page of another site can send any text without asking, but not with this content type.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Rejected("not-json", "the content type is not application/json", status=415)
    refusal = Rejected("body-too-large", f"the limit for a body is {limit} bytes", status=413)
    body = await limited(request, limit, refusal).body()
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as exc:
        raise Rejected("invalid-body", str(exc)) from exc
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise Rejected("invalid-json", str(exc), status=400) from exc


def body_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The OpenAPI description of a JSON body of this kind."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
