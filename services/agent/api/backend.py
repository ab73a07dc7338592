"""What the endpoints work with: the agent, once it is up, and the settings."""

from collections.abc import Callable

import msgspec

from services.agent.api.problems import starting
from services.agent.service import AgentService
from shared.bus import Bus
from shared.errors import BusUnavailable
from shared.http import Checks
from shared.settings import Settings

GetAgent = Callable[[], AgentService | None]


class Backend(msgspec.Struct, frozen=True, kw_only=True):
    """The service behind the API. It may come up after the API does, and its bus may go away for a while."""

    get_agent: GetAgent
    alive: Checks
    ready: Checks
    settings: Settings

    def agent(self) -> AgentService:
        """The running agent; `Rejected` (503) while there is none."""
        agent = self.get_agent()
        if agent is None:
            raise starting()
        return agent

    def bus(self) -> Bus:
        """The agent's connection; `BusUnavailable` at once while it is cut, so that nobody waits in vain."""
        bus = self.agent().bus
        if not bus.connected:
            raise BusUnavailable("not connected to the broker")
        return bus
