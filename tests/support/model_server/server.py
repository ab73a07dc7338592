"""The model server on a port of its own, in the running event loop."""

import asyncio
import socket
from types import TracebackType
from typing import Self

import uvicorn

from tests.support.model_server.app import Received, State, build
from tests.support.model_server.script import Script


class _Uvicorn(uvicorn.Server):
    """Uvicorn without its signal handlers and its clock tick: whoever runs the event loop decides when it stops."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self.stopping = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self.stopping.wait()

    async def run_until_stopped(self, listener: socket.socket) -> None:
        await self._serve([listener])


class ModelServer:
    """A scripted provider at `base_url` for as long as the `async with` block lasts.

    `port` 0 takes a free one; a port given again after leaving the block serves the same address (a provider that
    comes back). Requests that hang are let go on leaving.
    """

    def __init__(self, script: Script | None = None, *, port: int = 0) -> None:
        self._state = State(script or Script())
        self._port = port

    async def __aenter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", self._port))
        # create_server names no protocol, so asyncio leaves Nagle's algorithm on: 44 ms for each answer.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = listener.getsockname()[1]
        # Logging is left to whoever runs the loop: configuring it here would silence another uvicorn beside it.
        config = uvicorn.Config(
            build(self._state),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = _Uvicorn(config)
        self._serving = asyncio.ensure_future(self._uvicorn.run_until_stopped(listener))
        await self._uvicorn.ready.wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._state.closing.set()
        self._uvicorn.stopping.set()
        await self._serving

    @property
    def port(self) -> int:
        """The port listened on; 0 before the block is entered when none was asked for."""
        return self._port

    @property
    def root_url(self) -> str:
        """Where the control surface is: `/_requests`, `/_script`, `/_reset`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"{self.root_url}/v1"

    @property
    def received(self) -> list[Received]:
        """The completion requests so far, oldest first."""
        return list(self._state.received)

    async def until_received(self, count: int) -> None:
        """Wait for the `count`-th completion request since the start or the last reset."""
        while len(self._state.received) < count:
            await self._state.arrival.wait()

    def use(self, script: Script) -> None:
        """Answer by another script from now on."""
        self._state.use(script)

    def reset(self) -> None:
        """Forget what was received and how often rules were used."""
        self._state.reset()
