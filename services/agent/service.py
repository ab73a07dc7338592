"""The agent's edge to NATS: inputs in, turns run, catalog and profiles followed."""

import os
import socket
import time

import httpx

from services.agent.ports import Ports
from services.agent.profile_files import ProfileFiles
from services.agent.routing import Router
from services.agent.sessions import Sessions
from services.agent.toolbox import Toolbox
from shared import ids
from shared.buckets import Mirror
from shared.clock import utc_now
from shared.lifecycle import Context
from shared.messages.tools import GroupDeclared, decode_group
from shared.model.client import OpenAIChat
from shared.model.discover import build, discover
from shared.profiles import Profile, decode_profile
from shared.topology import agent_consumer
from shared.worker import Worker

# Deliveries held at once: running turns, and inputs that wait for theirs.
_DELIVERIES_PER_TURN = 4


class AgentService:
    """Runs turns for whatever arrives on `conv.*.in`."""

    name = "agent"

    def __init__(self, context: Context) -> None:
        self.bus = context.bus
        self.settings = context.settings
        self.catalog: Mirror[GroupDeclared] = Mirror(context.bus, "catalog", decode_group)
        self.profiles: Mirror[Profile] = Mirror(context.bus, "profiles", decode_profile)
        self.router = Router(context.bus, timeout_s=context.settings.agent.route_timeout_s)
        self._profile_files = ProfileFiles(context.bus, context.settings.agent)
        self.model: OpenAIChat | None = None
        self._toolbox = Toolbox([])
        self._toolbox_version = -1
        self._sessions: Sessions | None = None
        self._worker: Worker | None = None

    async def start(self) -> None:
        """Publish the profiles on disk, follow catalog and profiles, find the model, begin to pull inputs."""
        await self._profile_files.start()
        await self.profiles.start()
        await self.catalog.start()
        async with httpx.AsyncClient(trust_env=False) as http:
            self.model = build(await discover(os.environ, http, settings=self.settings.model))
        ports = Ports(
            bus=self.bus,
            settings=self.settings,
            model=self.model,
            clock=utc_now,
            owner=f"{socket.gethostname()}.{os.getpid()}.{ids.uuid7()[-8:]}",
            find_profile=self.find_profile,
            toolbox=self.toolbox,
            router=self.router,
        )
        self._sessions = Sessions(ports)
        self._worker = Worker(
            self.bus,
            agent_consumer(self.settings),
            self._sessions.handle,
            concurrency=self.settings.agent.concurrency * _DELIVERIES_PER_TURN,
        )
        await self._worker.start()

    async def stop(self, grace_s: float) -> None:
        """End running turns within the grace period, hand back the rest at once."""
        if self._sessions is not None:
            await self._sessions.stop(grace_s)
        if self._worker is not None:
            await self._worker.stop(grace_s=1.0)
        await self._profile_files.stop()
        await self.catalog.stop()
        await self.profiles.stop()
        if self.model is not None:
            await self.model.aclose()

    def alive_at(self) -> float:
        """When the pull loop last made progress."""
        return self._worker.alive_at if self._worker else time.monotonic()

    def problems(self) -> dict[str, str]:
        """Without a default profile no turn can run."""
        if self.find_profile(self.settings.agent.default_profile) is None:
            return {"profiles": f"no profile {self.settings.agent.default_profile!r}: add it to the profiles folder"}
        return {}

    def degraded(self) -> dict[str, str]:
        """Turns run all the same: without tools, or on every group."""
        found = {}
        if not self.catalog.values:
            found["tools"] = "no tool worker has declared its groups yet: turns run without tools"
        if not self.router.answers:
            found["router"] = "no router answered the last question: every tool group is offered"
        return found

    def find_profile(self, name: str) -> Profile | None:
        """A profile by name, or None."""
        return self.profiles.values.get((name,))

    def toolbox(self) -> Toolbox:
        """The tools that can be offered now."""
        if self._toolbox_version != self.catalog.version:
            self._toolbox = Toolbox(self.catalog.values.values())
            self._toolbox_version = self.catalog.version
        return self._toolbox


def build_service(context: Context) -> AgentService:
    """The agent on one connection."""
    return AgentService(context)
