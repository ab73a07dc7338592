"""Everything in one process and one event loop: the embedded NATS, all five services, the HTTP API."""

import asyncio
from pathlib import Path

import msgspec
from fastapi import FastAPI

from services.agent.api.app import create_app
from services.agent.service import AgentService
from services.agent.service import build_service as build_agent
from services.learner.service import build_service as build_learner
from services.router.service import build_service as build_router
from services.scheduler.service import build_service as build_scheduler
from services.tools.service import build_service as build_tools
from shared.embedded import EmbeddedNats
from shared.http import HttpServer
from shared.lifecycle import Runner
from shared.logs import get_logger
from shared.model.config import ModelConfig
from shared.secret import Secret
from shared.settings import Settings

# In the order of starting; stopped the other way round, so that turns which end have their tools to the last.
_SERVICES = (
    ("router", build_router),
    ("tools", build_tools),
    ("scheduler", build_scheduler),
    ("learner", build_learner),
    ("agent", build_agent),
)
_SERVICES_SHARE = 0.8

log = get_logger()


class AllInOne:
    """The whole of Jada on one machine. `start` may be cancelled; `stop` undoes whatever was started, once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._runners: list[Runner] = []
        self._http: HttpServer | None = None
        self.nats: EmbeddedNats | None = None

    async def listen(self) -> None:
        """Start the broker, unless there is one already, and answer on the API's address.

        `DataDirectoryInUse`, `PortTaken` or `ServerFailed` say what is in the way.
        """
        settings = self._settings
        if not settings.bus.url:
            self.nats = EmbeddedNats(
                Path(settings.embedded.data_dir),
                listen=settings.embedded.listen,
                sync=settings.embedded.sync,
                max_store_bytes=settings.bus.max_store_bytes,
            )
            await self.nats.start()
            bus = msgspec.structs.replace(settings.bus, url=self.nats.url, token=Secret(self.nats.token))
            settings = msgspec.structs.replace(settings, bus=bus)
        # What is left of the grace period is for the connections, the API and the broker.
        service = msgspec.structs.replace(settings.service, grace_s=settings.service.grace_s * _SERVICES_SHARE)
        settings = msgspec.structs.replace(settings, service=service)
        self._runners = [Runner(name, build, settings) for name, build in _SERVICES]
        self._http = HttpServer(self._app(), host=settings.http.host, port=settings.http.port)
        await self._http.start()

    async def start(self) -> None:
        """Start the services, one after the other; waits for the broker as long as it takes."""
        for runner in self._runners:
            await runner.start()

    async def stop(self) -> None:
        """Stop services, API and broker in this order; what takes longer than the grace period is left to a restart."""
        try:
            async with asyncio.timeout(self._settings.service.grace_s):
                while self._runners:
                    await self._runners.pop().stop()
        except TimeoutError:
            log.warning("system.stopped_late", grace_s=self._settings.service.grace_s)
        finally:
            if self._http is not None:
                await self._http.stop()
            if self.nats is not None:
                await self.nats.stop()
            self._http = self.nats = None

    @property
    def api(self) -> str:
        """The address of the API, once it listens."""
        host = self._settings.http.host
        port = self._http.port if self._http else self._settings.http.port
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def model(self) -> ModelConfig:
        """The model in use, once the services have started; `RuntimeError` before."""
        agent = self._agent()
        if agent is None or agent.model is None:
            raise RuntimeError("the agent has not started")
        return agent.model.config

    def alive(self) -> dict[str, str]:
        """What stands still, of all services."""
        return {key: why for runner in self._runners for key, why in runner.alive().items()}

    def ready(self) -> dict[str, str]:
        """What is missing, of all services."""
        return {key: why for runner in self._runners for key, why in runner.ready().items()}

    def degraded(self) -> dict[str, str]:
        """What they work without, of all services."""
        return {key: why for runner in self._runners for key, why in runner.degraded().items()}

    def _agent(self) -> AgentService | None:
        service = self._runners[-1].service if len(self._runners) == len(_SERVICES) else None
        return service if isinstance(service, AgentService) else None

    def _app(self) -> FastAPI:
        return create_app(self._agent, self.alive, self.ready, self._settings, self.degraded)
