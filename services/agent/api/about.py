"""What there is here: tools, profiles, status."""

from importlib import metadata

import msgspec
from fastapi import APIRouter, Response

from services.agent.api.backend import Backend
from services.agent.api.replies import json_response, responses
from services.agent.api.shapes import View
from shared.messages.conversation import SideEffects
from shared.messages.tools import GroupDeclared


class ToolView(View, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    side_effects: SideEffects
    parameters: msgspec.Raw


class GroupView(View, frozen=True):
    """A tool group; `title` by language, `missing` the settings it needs before it is offered."""

    group: str
    title: dict[str, str]
    configured: bool
    missing: list[str]
    tier: str
    tools: list[ToolView]


class ToolList(View, frozen=True):
    """The groups that workers have declared."""

    groups: list[GroupView]


class ProfileView(View, frozen=True):
    """A profile; `revision` changes with its files."""

    name: str
    revision: str
    language: str
    time_zone: str


class ProfileList(View, frozen=True):
    """The profiles that turns can run with."""

    profiles: list[ProfileView]
    default: str


class ModelView(View, frozen=True):
    """The model that answers."""

    name: str
    provider: str


class StatusView(View, frozen=True):
    """How this installation is; `problems` by part, empty when all is well."""

    version: str
    model: ModelView | None
    ready: bool
    problems: dict[str, str]


SHAPES = (ToolList, ProfileList, StatusView)


def routes(backend: Backend) -> APIRouter:
    """The endpoints that only tell."""
    router = APIRouter(tags=["about"])

    @router.get("/v1/tools", summary="The tool groups and their tools", responses=responses({200: ToolList}))
    async def tools() -> Response:
        declared = sorted(backend.agent().catalog.values.values(), key=lambda group: group.group)
        return json_response(ToolList(groups=[_group_view(group) for group in declared]))

    @router.get("/v1/profiles", summary="The profiles", responses=responses({200: ProfileList}))
    async def profiles() -> Response:
        found = sorted(backend.agent().profiles.values.values(), key=lambda profile: profile.name)
        views = [
            ProfileView(name=p.name, revision=p.revision, language=p.language, time_zone=p.time_zone) for p in found
        ]
        return json_response(ProfileList(profiles=views, default=backend.settings.agent.default_profile))

    @router.get("/v1/status", summary="Version, model, and what is missing", responses=responses({200: StatusView}))
    async def status() -> Response:
        """Answers 200 whatever is missing; /readyz is for machines."""
        agent = backend.get_agent()
        config = agent.model.config if agent and agent.model else None
        problems = backend.ready()
        return json_response(
            StatusView(
                version=version(),
                model=ModelView(name=config.name, provider=config.provider) if config else None,
                ready=not problems,
                problems=problems,
            )
        )

    return router


def _group_view(declared: GroupDeclared) -> GroupView:
    return GroupView(
        group=declared.group,
        title=declared.title,
        configured=declared.configured,
        missing=declared.missing,
        tier=declared.tier,
        tools=[
            ToolView(
                name=tool.name,
                description=tool.description,
                side_effects=tool.side_effects,
                parameters=tool.parameters,
            )
            for tool in declared.tools
        ],
    )


def version() -> str:
    """The version of Jada that runs."""
    try:
        return metadata.version("jada")
    except metadata.PackageNotFoundError:
        return "0+source"  # run from a checkout that is not installed
