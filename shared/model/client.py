"""One model over HTTP: a request in, a proven reply or a typed error out, within a time."""

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import msgspec

from shared.clock import utc_now
from shared.model.classify import read_failure, to_error
from shared.model.config import ModelConfig
from shared.model.dialects import DIALECTS
from shared.model.errors import ModelError, TooLong, Transient
from shared.model.openai_codec import OpenAICodec
from shared.model.reply import decode_reply
from shared.model.retry_after import retry_after_s
from shared.model.stream import EventParser, ReplyAssembler
from shared.model.types import ChatReply, ChatRequest, OnDelta, OnReset
from shared.text import cut

MAX_REPLY_BYTES = 8 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
GIST_CHARS = 300
CONNECT_TIMEOUT_S = 5.0
ATTEMPTS = 2
# Less than this is not worth another attempt.
MIN_ATTEMPT_S = 0.5
_PAUSE_S = 0.25
# A connection is reused only if its response was read to the end, which follows `[DONE]` at once or not at all.
_DRAIN_S = 0.25
_KEYLIKE = re.compile(r"\b(?:sk|gsk|nvapi|pk|rk|key|Bearer|AIza)[-_ ]?[A-Za-z0-9_*.-]{12,}")
_NO_TIME_LIMIT = {"connect": CONNECT_TIMEOUT_S, "read": None, "write": None, "pool": None}


class OpenAIChat:
    """A `ChatModel` over one OpenAI-compatible server. The HTTP client belongs to it and is closed with it."""

    def __init__(self, model: ModelConfig, http: httpx.AsyncClient) -> None:
        self.config = model
        self._http = http
        self._dialect = DIALECTS[model.dialect]
        self._codec = OpenAICodec(self._dialect, model.model_id)
        self._url = httpx.URL(model.base_url.rstrip("/") + "/chat/completions")
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if model.api_key:
            headers["authorization"] = f"Bearer {model.api_key.reveal()}"
        self._headers = httpx.Headers({**headers, "user-agent": "jada", "host": self._url.netloc.decode("ascii")})

    async def complete(
        self,
        request: ChatRequest,
        *,
        timeout_s: float,
        on_delta: OnDelta | None = None,
        on_reset: OnReset | None = None,
    ) -> ChatReply:
        """One reply within `timeout_s` (at most the model's own), or a `ModelError`.

        A `Transient` failure is tried once more when the time left allows it, after the pause the server asks for;
        `on_reset` is called first if text was already shown.
        """
        body = self._body(request, stream=on_delta is not None)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(timeout_s, self.config.timeout_s)
        show = _Shown(on_delta)
        attempt = 1
        while True:
            try:
                return self._signed(await self._attempt(body, request.max_tokens, show, deadline), attempt)
            except Transient as failure:
                pause = _PAUSE_S * (1 + random.random()) if failure.retry_after_s is None else failure.retry_after_s
                if attempt == ATTEMPTS or loop.time() + pause + MIN_ATTEMPT_S > deadline:
                    raise
            if show.anything and on_reset is not None:
                await on_reset()
            show.anything = False
            await asyncio.sleep(pause)
            attempt += 1

    async def aclose(self) -> None:
        """Close the HTTP client."""
        await self._http.aclose()

    def _body(self, request: ChatRequest, *, stream: bool) -> bytes:
        if not self.config.tools and request.tools:
            request = msgspec.structs.replace(request, tools=())
        body = self._codec.encode(request, stream=stream)
        if len(body) > self.config.max_request_bytes:
            gist = f"a request of {len(body)} bytes; the limit is {self.config.max_request_bytes}"
            raise TooLong(gist, model=self.config.name)
        return body

    def _signed(self, reply: ChatReply, attempts: int) -> ChatReply:
        return msgspec.structs.replace(
            reply,
            model=self.config.name,
            cost_usd=self.config.cost_usd(reply.usage.tokens_in, reply.usage.tokens_out),
            attempts=attempts,
            tried=(self.config.name,),
        )

    async def _attempt(self, body: bytes, max_tokens: int, show: "_Shown", deadline: float) -> ChatReply:
        try:
            async with asyncio.timeout_at(deadline) as scope:
                return await self._exchange(body, max_tokens, show)
        except TimeoutError:
            if not scope.expired():
                raise
            raise Transient("no complete reply in time", model=self.config.name) from None
        except httpx.RequestError as exc:
            # Not chained: the exception carries the request, and that the key.
            gist = f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__
            raise Transient(self._redacted(gist), model=self.config.name) from None
        except ModelError as exc:
            gist = self._redacted(exc.gist)
            raise type(exc)(gist, model=self.config.name, status=exc.status, retry_after_s=exc.retry_after_s) from None

    async def _exchange(self, body: bytes, max_tokens: int, show: "_Shown") -> ChatReply:
        request = httpx.Request(
            "POST", self._url, headers=self._headers, content=body, extensions={"timeout": _NO_TIME_LIMIT}
        )
        response = await self._http.send(request, stream=True)
        try:
            if response.status_code != httpx.codes.OK:
                raise await self._failure(response)
            media_type = response.headers.get("content-type", "")
            if show.wanted and not media_type.startswith("application/json"):
                return await self._read_stream(response, max_tokens, show)
            whole = await _read_whole(response, MAX_REPLY_BYTES)
            reply = decode_reply(whole, dialect=self._dialect.name, max_tokens=max_tokens)
            await show(reply.text)
            return reply
        finally:
            await response.aclose()

    async def _read_stream(self, response: httpx.Response, max_tokens: int, show: "_Shown") -> ChatReply:
        parser, assembler = EventParser(), ReplyAssembler(self._dialect, max_tokens=max_tokens)
        size = 0
        chunks = response.aiter_bytes()
        async for chunk in chunks:
            size += len(chunk)
            if size > MAX_REPLY_BYTES:
                raise Transient(f"a reply of more than {MAX_REPLY_BYTES} bytes")
            await show("".join([assembler.feed(event) for event in parser.feed(chunk)]))
            if assembler.done:
                await _drain(chunks)
                return assembler.finish()
        await show("".join([assembler.feed(event) for event in parser.close()]))
        return assembler.finish()

    async def _failure(self, response: httpx.Response) -> ModelError:
        with suppress(httpx.RequestError):
            body = await _read_start(response, MAX_ERROR_BYTES)
            error = to_error(read_failure(response.status_code, body), self._dialect.name)
            error.retry_after_s = retry_after_s(response.headers, utc_now())
            return error
        return to_error(read_failure(response.status_code, b""), self._dialect.name)

    def _redacted(self, gist: str) -> str:
        # Cut last, or half a key would survive at the cut.
        key = self.config.api_key.reveal()
        return cut(_KEYLIKE.sub("***", gist.replace(key, "***") if key else gist), GIST_CHARS)


class _Shown:
    """Passes visible text on and remembers whether there was any."""

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._on_delta = on_delta
        self.wanted = on_delta is not None
        self.anything = False

    async def __call__(self, text: str) -> None:
        if text and self._on_delta is not None:
            self.anything = True
            await self._on_delta(text)


async def _read_whole(response: httpx.Response, limit: int) -> bytes:
    """The body; `Transient` when it is larger than `limit` bytes."""
    body = await _read_start(response, limit)
    if len(body) > limit:
        raise Transient(f"a reply of more than {limit} bytes")
    return body


async def _read_start(response: httpx.Response, limit: int) -> bytes:
    """The body, or its start once that has grown past `limit` bytes."""
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        parts.append(chunk)
        size += len(chunk)
        if size > limit:
            break
    return b"".join(parts)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, httpx.RequestError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in chunks:
                pass
