"""Jada as it runs on several machines: nats-server, a model, and each service as a process of its own."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx

from bench.processes import ROOT, Running, environment, free_port, printed, python, ready
from shared.bus import Bus, connect
from shared.embedded import EmbeddedNats
from shared.secret import Secret
from shared.settings.schema import Bus as BusSettings

# In an order in which each finds what it waits for: a router without declared tools is not ready.
SERVICES = ("tools", "router", "learner", "scheduler", "agent")
QUEUE_PROFILE = "queue"
_STORE_BYTES = 1 << 30
_LEARNER_WITHIN_S = 15.0


class Stack:
    """Everything that runs, by name. `services` are what is measured; the model and the bench are not."""

    def __init__(self, folder: Path, nats: EmbeddedNats, model_url: str, bus: Bus, exits: AsyncExitStack) -> None:
        self._folder = folder
        self._nats = nats
        self._exits = exits
        self.model_url = model_url
        self.bus = bus
        self.measured: dict[str, Running] = {"nats-server": _server(nats)}

    async def start(self, name: str, module: str) -> None:
        """Start one service and wait until it says that it is ready."""
        port = free_port()
        env = environment(
            JADA_BUS_URL=self._nats.url,
            JADA_BUS_TOKEN=self._nats.token,
            JADA_HTTP_PORT=str(port),
            JADA_HTTP_HEALTH_PORT=str(port),
            **model_settings(self.model_url, self._folder),
        )
        running = await self._exits.enter_async_context(python(name, module, env=env, folder=self._folder))
        await ready(running, f"http://127.0.0.1:{port}/readyz", self._folder)
        self.measured[name] = running

    def cpu_s(self) -> dict[str, float]:
        """Seconds of CPU of each measured process so far."""
        return {name: running.cpu_s() for name, running in self.measured.items()}

    async def learner_idle(self) -> None:
        """Wait until the learner has read everything: it looks now and then, and nothing waits for it."""
        deadline = time.monotonic() + _LEARNER_WITHIN_S
        while time.monotonic() < deadline:
            info = await self.bus.client.jetstream().consumer_info("CONVERSATIONS", "learner")
            if not info.num_pending and not info.num_ack_pending:
                return
            await asyncio.sleep(0.1)
        raise TimeoutError(f"the learner has not caught up within {_LEARNER_WITHIN_S:g} s")

    def rss_mb(self) -> dict[str, float]:
        """Memory of each measured process."""
        return {name: running.rss_mb() for name, running in self.measured.items()}

    def plain_connection(self) -> dict[str, str]:
        """What `nats.connect` needs to connect here."""
        return {"servers": self._nats.url, "token": self._nats.token}

    async def markers_seen(self) -> list[list[str]]:
        """The race markers of each model request since the last question, in order."""
        async with httpx.AsyncClient(trust_env=False) as http:
            seen: list[list[str]] = (await http.get(f"{self.model_url.removesuffix('/v1')}/seen")).json()
            return seen


@asynccontextmanager
async def running_stack(folder: Path, services: Sequence[str] = SERVICES) -> AsyncIterator[Stack]:
    """A whole Jada on a private server that syncs every write, in `folder`; nothing of it is left afterwards."""
    async with AsyncExitStack() as exits:
        nats = EmbeddedNats(folder / "data", listen="127.0.0.1", sync="always", max_store_bytes=_STORE_BYTES)
        await nats.start()
        exits.push_async_callback(nats.stop)
        model_url = await exits.enter_async_context(model_server(folder))
        bus = await connect(bus_settings(nats.url, nats.token), name="bench")
        exits.push_async_callback(bus.close)
        stack = Stack(folder, nats, model_url, bus, exits)
        for name in services:
            await stack.start(name, f"services.{name}")
        yield stack


@asynccontextmanager
async def model_server(folder: Path) -> AsyncIterator[str]:
    """The model that answers at once; its base URL."""
    async with python("model", "bench.model_server", env=environment(), folder=folder):
        yield f"http://127.0.0.1:{await printed('model', folder)}/v1"


def model_settings(model_url: str, folder: Path) -> dict[str, str]:
    """Settings that every run of the bench has in common.

    Windows of the learner close at once: each turn is captured alone, which is the dearest case and what happens
    when a person writes less often than once in half a minute.
    """
    return {
        "JADA_MODEL_URL": model_url,
        "JADA_MODEL_NAME": "test-model",
        "JADA_AGENT_PROFILES_DIR": str(_profiles(folder)),
        "JADA_LEARNER_WINDOW_S": "0",
        "JADA_LOG_FORMAT": "json",
    }


def bus_settings(url: str, token: str) -> BusSettings:
    """How to connect to a private server."""
    return BusSettings(url=url, token=Secret(token))


def _profiles(folder: Path) -> Path:
    """The default profile, and the same one answering messages one after the other."""
    profiles = folder / "profiles"
    identity = (ROOT / "profiles/default/identity.md").read_text(encoding="utf-8")
    for name, arrival in (("default", "steer"), (QUEUE_PROFILE, "queue")):
        (profiles / name).mkdir(parents=True, exist_ok=True)
        (profiles / name / "identity.md").write_text(identity, encoding="utf-8")
        (profiles / name / "profile.toml").write_text(f'language = "es"\narrival = "{arrival}"\n', encoding="utf-8")
    return profiles


def _server(nats: EmbeddedNats) -> Running:
    if nats.process is None:
        raise RuntimeError("nats-server has not been started")
    return Running("nats-server", nats.process.pid)
