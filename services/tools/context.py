"""What a tool gets beside its arguments."""

import hashlib
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from shared.bus import Bus
from shared.documents import Documents
from shared.errors import JadaError
from shared.settings import Settings

D = TypeVar("D", bound=msgspec.Struct)
Language = Literal["es", "en"]


class ToolError(JadaError):
    """A tool could not do what was asked, and says why in words a model can act on."""


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """One call's surroundings: for whom, where, when. `bus` is for groups that own a stream of their own.

    `now` is UTC; `time_zone` (IANA) and `language` (`es`, `en`) are the profile's.
    """

    bus: Bus
    settings: Settings
    group: str
    call_id: str
    conversation_id: str
    user_id: str
    language: Language
    time_zone: str
    now: datetime

    def documents(self, kind: type[D]) -> Documents[D]:
        """Documents of this user in this group."""
        return Documents(self.bus, group=self.group, user_id=self.user_id, kind=kind)

    def short_ids(self, prefix: str) -> list[str]:
        """Ids for what this call makes, the first one short enough to say in chat; longer ones if that is taken."""
        digest = hashlib.sha256(self.call_id.encode()).hexdigest()
        return [prefix + digest[:length] for length in (6, 9, 12, 24)]
