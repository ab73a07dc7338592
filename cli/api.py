"""The HTTP API as the command line uses it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from cli.exits import ApiProblem, Unreachable
from cli.running import read_running
from cli.session import Session
from shared.model.stream import EventParser

DEFAULT_API = "http://127.0.0.1:8787"
TERMINAL = ("answered", "failed", "cancelled", "waiting")
_CONNECT_S = 3.0
_ANSWER_S = 30.0


class ServerEvent(msgspec.Struct, frozen=True):
    """One server-sent event with its JSON data."""

    name: str
    data: dict[str, Any]


class Api:
    """One server. Every call raises `Unreachable`, or `ApiProblem` when the server refuses or fails."""

    def __init__(self, address: str, http: httpx.AsyncClient) -> None:
        self.address = address
        self._http = http

    async def get(self, path: str, **params: str | float) -> Any:
        """The JSON at `path`."""
        return await self._json("GET", path, params=params)

    async def post(self, path: str, body: Mapping[str, object], *, patience_s: float = _ANSWER_S) -> Any:
        """The JSON answer to `body`."""
        return await self._json("POST", path, body=body, patience_s=patience_s)

    async def check(self, path: str) -> Any:
        """The JSON at `path` whatever its status: readiness reports come with 503."""
        async with self._reaching():
            return (await self._http.get(path)).json()

    @asynccontextmanager
    async def events(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """A stream of server-sent events; it has been accepted by the server once entered."""
        headers = {"accept": "text/event-stream"}
        timeout = httpx.Timeout(_CONNECT_S, read=None)
        async with (
            self._reaching(),
            self._http.stream(method, path, json=body, headers=headers, timeout=timeout) as response,
        ):
            if response.status_code != httpx.codes.OK:
                await response.aread()
                raise _problem(response)
            yield _events(response)

    async def _json(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | float] | None = None,
        body: Mapping[str, object] | None = None,
        patience_s: float = _ANSWER_S,
    ) -> Any:
        timeout = httpx.Timeout(_CONNECT_S, read=patience_s)
        async with self._reaching():
            response = await self._http.request(method, path, params=params, json=body, timeout=timeout)
        if not response.is_success:
            raise _problem(response)
        return response.json()

    @asynccontextmanager
    async def _reaching(self) -> AsyncIterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as exc:
            raise Unreachable(self.address) from exc


@asynccontextmanager
async def open_api(session: Session) -> AsyncIterator[Api]:
    """The server that `--api`, `JADA_API` or the data folder names, else the default address."""
    address = api_address(session)
    token = session.env.get("JADA_TOKEN", "")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=address, headers=headers, trust_env=False) as http:
        yield Api(address, http)


def api_address(session: Session) -> str:
    """Where the API is."""
    given = getattr(session.args, "api", "") or session.env.get("JADA_API", "")
    if given:
        return str(given).rstrip("/")
    running = read_running(session.data_dir)
    return running.api if running else DEFAULT_API


def conversation_path(conversation_id: str, rest: str = "") -> str:
    """The path of a conversation, whatever its id holds."""
    return f"/v1/conversations/{quote(conversation_id, safe='')}{rest}"


async def _events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    parser = EventParser()
    async for chunk in response.aiter_bytes():
        for event in parser.feed(chunk):
            yield ServerEvent(event.name.decode(), json.loads(event.data))


def _problem(response: httpx.Response) -> ApiProblem:
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.DecodeError:
        problem = {}
    return ApiProblem(
        response.status_code,
        code=str(problem.get("code", "")),
        detail=str(problem.get("detail") or problem.get("title") or f"HTTP {response.status_code}"),
        remedy=str(problem.get("remedy") or ""),
    )
