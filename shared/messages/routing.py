"""The router's question and answer (`route`, request/reply), and what it learned (KV `routing`)."""

from datetime import datetime
from typing import Literal

import msgspec

from shared.messages.base import Codec, Message

Layer = Literal["keywords", "semantic", "all", "small_talk", "attachment", "fixed"]
Tier = Literal["fast", "deep", "vision", "learn"]


class RouteRequest(Message, frozen=True, tag="route.request"):
    """Asks which tool groups a message needs.

    `open_groups` are the groups the previous turn used (a follow-up keeps them), `allowed` the groups the profile
    has switched on (empty: all that are configured), `media_types` those of the attachments.
    """

    text: str
    language: str = ""
    media_types: list[str] = []
    open_groups: list[str] = []
    allowed: list[str] = []


class Matched(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason for a group: the words of the message that spoke for it, and the pattern they met."""

    group: str
    words: str
    pattern: str = ""


class RouteDecision(Message, frozen=True, tag="route.decision"):
    """The groups to offer, which layer decided, and why. `layer` is `fixed` when no router was asked."""

    layer: Layer
    groups: list[str]
    tier: Tier = "fast"
    scores: dict[str, float] = {}
    matched: list[Matched] = []
    elapsed_us: float = 0.0
    reason: str = ""


class LearnedExample(Message, frozen=True, tag="route.learned_example"):
    """An utterance that turned out to need `group`; an entry of the `routing` bucket under group and digest.

    `source` is `outcome` (nothing had named the group, and the model used it) or `operator` (somebody added it).
    """

    group: str
    text: str
    source: Literal["outcome", "operator"]
    at: datetime
    turn_id: str = ""


requests: Codec[RouteRequest] = Codec(RouteRequest)
decisions: Codec[RouteDecision] = Codec(RouteDecision)
examples: Codec[LearnedExample] = Codec(LearnedExample)
