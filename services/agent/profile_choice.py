"""Which profile a turn runs with."""

from services.agent.ports import Ports, UnknownProfile
from shared.conversation.fold import Conversation
from shared.conversation.log import ConversationLog
from shared.logs import get_logger
from shared.messages.conversation import UserMessage
from shared.profiles import Profile

logger = get_logger()


async def profile_for(ports: Ports, state: Conversation, seq: int) -> tuple[Profile, bool]:
    """The profile for a turn whose first input is `seq`, and whether it is borrowed for this turn only.

    Another conversation's (`profile_of`), else the one the message names, else the conversation's, else the default.
    """
    event = state.inputs.get(seq)
    if isinstance(event, UserMessage) and event.profile_of:
        other = (await ConversationLog.open(ports.bus, event.profile_of)).state.profile
        return profile_named(ports, other or ports.settings.agent.default_profile), True
    asked = event.profile if isinstance(event, UserMessage) else ""
    return profile_named(ports, asked or state.profile or ports.settings.agent.default_profile), False


def profile_named(ports: Ports, name: str) -> Profile:
    """A profile by name; the default one when it is gone, so that its conversations still get answers."""
    profile = ports.find_profile(name)
    if profile is None:
        logger.warning("profile.missing", profile=name)
        profile = ports.find_profile(ports.settings.agent.default_profile)
    if profile is None:
        raise UnknownProfile(f"no profile {name!r} and no default profile")
    return profile
