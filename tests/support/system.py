"""The real services in this process, on a private nats-server, with a scripted model and the API over real HTTP."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from services.agent.api.app import create_app
from services.agent.service import AgentService
from services.agent.service import build_service as agent
from services.learner.service import build_service as learner
from services.router.service import build_service as router
from services.scheduler.service import build_service as scheduler
from services.tools.service import build_service as tools
from shared.bus import Bus
from shared.http import HttpServer
from shared.lifecycle import Build, Runner
from shared.settings.schema import Agent, Model, Service, Settings
from tests.support.model_server import ModelServer, Script
from tests.support.nats import PrivateNats, connected, private_nats, settings_for

BUILD: dict[str, Build] = {
    "router": router,
    "agent": agent,
    "tools": tools,
    "learner": learner,
    "scheduler": scheduler,
}
DEFAULT_SERVICES = ("router", "agent", "tools")
PROFILES = Path(__file__).parents[2] / "profiles"


class System(msgspec.Struct):
    """A running installation. `runners` are its services by name; stop or start them at will."""

    api: httpx.AsyncClient
    bus: Bus
    model: ModelServer
    nats: PrivateNats
    settings: Settings
    runners: dict[str, Runner]

    async def say(self, text: str, *, conversation: str = "c1", user: str = "ana", **more: Any) -> httpx.Response:
        """Post a message and wait for its answer."""
        body = {"conversation_id": conversation, "user_id": user, "text": text, **more}
        return await self.api.post("/v1/turns", json=body)


@asynccontextmanager
async def running_system(
    tmp_path: Path,
    script: Script | None = None,
    *,
    services: tuple[str, ...] = DEFAULT_SERVICES,
    nats_options: Mapping[str, object] | None = None,
    **sections: Any,
) -> AsyncIterator[System]:
    """Services, API and model on free ports until the block is left. `sections` are sections of the settings."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer(script))
        nats = await stack.enter_async_context(private_nats(tmp_path / "nats", **(nats_options or {})))
        sections.setdefault("agent", Agent(profiles_dir=str(PROFILES)))
        sections.setdefault("model", Model(url=model.base_url, name="test-model"))
        sections.setdefault("service", Service(grace_s=1.0))  # tests leave turns hanging on purpose
        settings = settings_for(nats, **sections)
        runners = {name: Runner(name, BUILD[name], settings) for name in services}
        for runner in runners.values():
            await runner.start()
            stack.push_async_callback(_stop, runner)
        bus = await stack.enter_async_context(connected(settings.bus))
        api = await stack.enter_async_context(served(runners, settings))
        yield System(api=api, bus=bus, model=model, nats=nats, settings=settings, runners=runners)


@asynccontextmanager
async def served(runners: Mapping[str, Runner], settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The API of these runners over HTTP, and a client of it."""

    def get_agent() -> AgentService | None:
        runner = runners.get("agent")
        return runner.service if runner and isinstance(runner.service, AgentService) else None

    def problems(kind: str) -> dict[str, str]:
        return {name: why for runner in runners.values() for name, why in getattr(runner, kind)().items()}

    app = create_app(get_agent, lambda: problems("alive"), lambda: problems("ready"), settings)
    server = HttpServer(app, host="127.0.0.1", port=0)
    await server.start()
    try:
        address = f"http://127.0.0.1:{server.port}"
        async with httpx.AsyncClient(base_url=address, timeout=30, trust_env=False) as client:
            yield client
    finally:
        await server.stop()


async def _stop(runner: Runner) -> None:
    # A test may have stopped it already.
    with contextlib.suppress(ValueError):
        await runner.stop()
