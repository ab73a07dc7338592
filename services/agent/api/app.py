"""The API put together."""

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from services.agent.api import about, conversations, files, problems, turns
from services.agent.api.backend import Backend, GetAgent
from services.agent.api.bodies import CancelBody, TurnRequest
from services.agent.api.door import KnownFiles
from services.agent.api.guard import Guard
from services.agent.api.narrate import Accepted
from services.agent.api.shapes import FileView, TurnView
from services.agent.service import AgentService
from shared.http import Checks, health_routes
from shared.lifecycle import Runner
from shared.settings import Settings

_SHAPES = (
    TurnRequest,
    CancelBody,
    problems.Problem,
    TurnView,
    Accepted,
    FileView,
    *conversations.SHAPES,
    *about.SHAPES,
)


def create_app(
    get_agent: GetAgent, alive: Checks, ready: Checks, settings: Settings, degraded: Checks = dict
) -> FastAPI:
    """The API of the agent that `get_agent` returns (None while it starts), with health of whatever runs beside it."""
    backend = Backend(get_agent=get_agent, alive=alive, ready=ready, settings=settings)
    known_files = KnownFiles(settings.intake)
    app = _Api(title="Jada", docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    app.include_router(turns.routes(backend, known_files))
    app.include_router(conversations.routes(backend))
    app.include_router(files.routes(backend, known_files))
    app.include_router(about.routes(backend))
    app.include_router(health_routes(alive, ready, degraded))
    problems.install(app)
    app.add_middleware(Guard)
    return app


def make_app(runner: Runner, settings: Settings) -> FastAPI:
    """The API of the one service that `runner` runs."""

    def get_agent() -> AgentService | None:
        return runner.service if isinstance(runner.service, AgentService) else None

    return create_app(get_agent, runner.alive, runner.ready, settings, runner.degraded)


class _Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """FastAPI's description of the routes, with our structs as its schemas."""
        if self.openapi_schema is None:
            described = get_openapi(title=self.title, version=about.version(), routes=self.routes)
            _, components = msgspec.json.schema_components(_SHAPES, ref_template="#/components/schemas/{name}")
            described.setdefault("components", {})["schemas"] = components
            self.openapi_schema = described
        return self.openapi_schema
