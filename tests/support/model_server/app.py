"""The HTTP edge: OpenAI's endpoints under `/v1`, and a control surface for tests beside them."""

import asyncio
import time
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.support.model_server.matching import choose, facts_of
from tests.support.model_server.replies import complete, echo
from tests.support.model_server.rules import judge
from tests.support.model_server.script import Fault, Script
from tests.support.model_server.violations import Violation, envelope
from tests.support.model_server.wire import Answer, answer, refusal


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """One completion request as it came, and what became of it.

    `status` is the one sent (or due, when the answer hangs), `violations` the kinds of everything wrong with it,
    `rule` the name of the script's rule, "" for the echo. The authorization header is not kept.
    """

    headers: dict[str, str]
    body: Any
    size: int
    status: int
    violations: tuple[str, ...] = ()
    rule: str = ""


class State:
    """The script in force, how often its rules were used, and what was received."""

    def __init__(self, script: Script) -> None:
        self.closing = asyncio.Event()
        self.arrival = asyncio.Event()
        self.use(script)
        self.received: list[Received] = []

    def use(self, script: Script) -> None:
        """Put another script in force, its rules unused."""
        self.script = script
        self.used = [0] * len(script.rules)

    def reset(self) -> None:
        """Forget what was received and how often rules were used."""
        self.received = []
        self.used = [0] * len(self.script.rules)

    def answer(self, raw: bytes, headers: dict[str, str], authorization: str) -> Answer:
        """Judge one completion request, choose its answer, and remember both."""
        terms = self.script.terms
        body, found = judge(raw, terms)
        denied = _denied(self.script.key, authorization)
        if denied is not None:
            found = [denied, *found]
        rule_name = ""
        if found:
            result = refusal(found[0], terms.dialect)
        else:
            choice = choose(self.script.rules, facts_of(body), self.used)
            reply, fault = None, Fault()
            if choice.rule is not None:
                self.used[choice.at] += 1
                reply, fault, rule_name = choice.rule.reply, choice.rule.fault or fault, choice.rule.name
            completion = complete(
                reply or echo(choice.values), choice.values, body, dialect=terms.dialect, created=int(time.time())
            )
            usage = bool((body.get("stream_options") or {}).get("include_usage"))
            result = answer(completion, fault, terms.dialect, stream=bool(body.get("stream")), usage=usage)
        self.received.append(
            Received(
                headers=headers,
                body=body,
                size=len(raw),
                status=result.status,
                violations=tuple(violation.kind for violation in found),
                rule=rule_name,
            )
        )
        self.arrival.set()
        self.arrival = asyncio.Event()
        return result


class Played(Response):
    """Sends an `Answer` with its delays; a cut one is left unfinished, on which uvicorn drops the connection."""

    def __init__(self, planned: Answer, closing: asyncio.Event) -> None:
        super().__init__()
        self.planned = planned
        self.closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry: `scope` is not needed, an answer depends on nothing else any more."""
        del scope
        planned = self.planned
        await self._pause(planned.delay_s)
        if planned.end == "hang" and not planned.frames:
            await self._hang(receive)
            return
        await send(_start(planned))
        for at, frame in enumerate(planned.frames):
            await self._pause(planned.chunk_delay_s if at else 0.0)
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        if planned.end == "hang":
            await self._hang(receive)
        elif planned.end == "complete":
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), seconds)

    async def _hang(self, receive: Receive) -> None:
        """Wait until the client is gone or the server closes; the body was read, so nothing else can come."""
        waits = [asyncio.ensure_future(receive()), asyncio.ensure_future(self.closing.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def build(state: State) -> Starlette:
    """The application over `state`."""

    async def completions(request: Request) -> Response:
        headers = dict(request.headers)
        authorization = headers.pop("authorization", "")
        return Played(state.answer(await request.body(), headers, authorization), state.closing)

    async def models(request: Request) -> Response:
        denied = _denied(state.script.key, request.headers.get("authorization", ""))
        if denied is not None:
            return Played(refusal(denied, state.script.terms.dialect), state.closing)
        data = [
            {"id": model.id, "object": "model", "created": 0, "owned_by": "tests"}
            for model in state.script.terms.models
        ]
        return JSONResponse({"object": "list", "data": data})

    async def requests(_: Request) -> Response:
        return Response(msgspec.json.encode(state.received), media_type="application/json")

    async def script(request: Request) -> Response:
        try:
            state.use(msgspec.json.decode(await request.body(), type=Script))
        except msgspec.DecodeError as exc:
            return JSONResponse({"error": str(exc)}, status_code=400)
        return Response(status_code=204)

    async def reset(_: Request) -> Response:
        state.reset()
        return Response(status_code=204)

    async def not_served(request: Request, exc: Exception) -> Response:
        status = exc.status_code if isinstance(exc, HTTPException) else 500
        message = f"Invalid URL ({request.method} {request.url.path})"
        violation = Violation(kind="not-served", message=message, status=status)
        return JSONResponse(envelope(violation, state.script.terms.dialect), status_code=status)

    return Starlette(
        routes=[
            Route("/v1/chat/completions", completions, methods=["POST"]),
            Route("/v1/models", models),
            Route("/_requests", requests),
            Route("/_script", script, methods=["POST"]),
            Route("/_reset", reset, methods=["POST"]),
        ],
        exception_handlers={HTTPException: not_served},
    )


def _denied(key: str | None, authorization: str) -> Violation | None:
    if key is None or authorization == f"Bearer {key}":
        return None
    if authorization.startswith("Bearer "):
        message = "Incorrect API key provided."
        return Violation(kind="unauthorized", status=401, message=message, code="invalid_api_key")
    message = "You didn't provide an API key. You need to provide your API key in an Authorization header."
    return Violation(kind="unauthorized", status=401, message=message)


def _start(planned: Answer) -> MutableMapping[str, Any]:
    headers = {"content-type": planned.media_type, **planned.headers}
    if planned.content_length is not None:
        headers["content-length"] = str(planned.content_length)
    return {
        "type": "http.response.start",
        "status": planned.status,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
