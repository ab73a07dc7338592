"""Jobs for tool workers (`tool.<group>.<name>`) and what workers declare about their groups (KV `catalog`)."""

from datetime import datetime
from typing import Literal

import msgspec

from shared.errors import Malformed
from shared.messages.base import Codec, Message
from shared.messages.conversation import SideEffects
from shared.messages.routing import Tier


class ToolJob(Message, frozen=True, tag="tool.job"):
    """Run one tool once.

    `arguments` is a JSON object; `reply_to` the subject of the `ToolFinished`; `after_seq` the log sequence before
    which no result of this call can be; a job not begun by `start_by` is not begun at all.
    """

    call_id: str
    turn_id: str
    conversation_id: str
    user_id: str
    group: str
    name: str
    arguments: msgspec.Raw
    reply_to: str
    start_by: datetime
    deadline_s: float
    after_seq: int = 0
    profile: str = "default"
    language: str = "es"
    time_zone: str = "UTC"


class ToolDeclared(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool as the model and the agent see it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: msgspec.Raw
    side_effects: SideEffects = "none"
    idempotent: bool = False
    deadline_s: float = 30.0
    confirm: Literal["never", "first_time", "always"] = "never"


class Phrases(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people say when they need a group, in one language.

    `keywords` are whole words or phrases (a trailing `*` lets any ending follow), `blockers` words that silence
    them, `examples` whole utterances, `negatives` utterances that look alike and belong elsewhere.
    """

    keywords: list[str] = []
    blockers: list[str] = []
    examples: list[str] = []
    negatives: list[str] = []


class GroupDeclared(Message, frozen=True, tag="tool.group_declared"):
    """A tool group: its tools, its routing phrases by language, and whether it can be offered.

    `missing` names the settings that keep it from being `configured`.
    """

    group: str
    tools: list[ToolDeclared]
    at: datetime
    title: dict[str, str] = {}
    tier: Tier = "fast"
    configured: bool = True
    missing: list[str] = []
    phrases: dict[str, Phrases] = {}


jobs: Codec[ToolJob] = Codec(ToolJob)
groups: Codec[GroupDeclared] = Codec(GroupDeclared)


def decode_group(data: bytes) -> GroupDeclared:
    """A declaration as stored in the catalog; `Malformed` when it is anything else."""
    declared = groups.decode(data)
    if not isinstance(declared, GroupDeclared):
        raise Malformed("not a group declaration")
    return declared
