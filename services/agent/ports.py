"""What the agent's parts are given to work with."""

from collections.abc import Callable

import msgspec

from services.agent.routing import Router
from services.agent.toolbox import Toolbox
from shared.bus import Bus
from shared.clock import Clock
from shared.errors import JadaError
from shared.model.types import ChatModel
from shared.profiles import Profile
from shared.settings import Settings

# The profile of a conversation by name; None when there is no such profile.
FindProfile = Callable[[str], Profile | None]


class UnknownProfile(JadaError):
    """A turn asks for a profile that does not exist (any more)."""


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """The agent's collaborators, built once in `service.py`. `owner` names this process in the log."""

    bus: Bus
    settings: Settings
    model: ChatModel
    clock: Clock
    owner: str
    find_profile: FindProfile
    toolbox: Callable[[], Toolbox]
    router: Router
