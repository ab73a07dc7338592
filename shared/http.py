"""HTTP for every service: health, readiness and metrics; and serving an app inside the service's own event loop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn
from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shared.errors import JadaError

# What is wrong, by the name of a dependency; empty when the service can do its work.
Checks = Callable[[], dict[str, str]]


def health_routes(alive: Checks, ready: Checks, degraded: Checks = dict) -> APIRouter:
    """`/healthz`, `/readyz` and `/metrics`.

    Healthy: this process makes progress. Ready: it can do its work, else why not; `degraded` names what is missing
    that it can work without.
    """
    router = APIRouter()

    @router.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        problems = alive()
        return JSONResponse({"ok": not problems, "problems": problems}, status_code=503 if problems else 200)

    @router.get("/readyz", include_in_schema=False)
    async def readyz() -> JSONResponse:
        problems = ready()
        report = {"ready": not problems, "problems": problems, "degraded": degraded()}
        return JSONResponse(report, status_code=503 if problems else 200)

    @router.get("/metrics", include_in_schema=False)
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return router


def health_app(name: str, alive: Checks, ready: Checks, degraded: Checks = dict) -> FastAPI:
    """The HTTP side of a service that has no API of its own."""
    app = FastAPI(title=f"jada {name}", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(health_routes(alive, ready, degraded))
    return app


class PortTaken(JadaError):
    """The address to listen on is in use."""


class HttpServer:
    """An ASGI app served by uvicorn as a task of this event loop, without touching the process's signals."""

    def __init__(self, app: FastAPI, *, host: str, port: int) -> None:
        self._socket = _bind(host, port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2, http="httptools"
        )
        self._server = _QuietServer(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to serve."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not self._task.done():  # noqa: ASYNC110 - uvicorn has no event for this
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Finish open requests briefly, then close."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        self._socket.close()


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the service's lifecycle owns the signals


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, or asyncio would leave Nagle's algorithm on.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        raise PortTaken(
            f"cannot listen on {host}:{port}: {exc.strerror}; set another port (0 takes a free one)"
        ) from exc
    listener.listen(512)
    listener.setblocking(False)  # noqa: FBT003 - its only parameter
    return listener
