"""Asking the router which tool groups a turn needs; without a router, every group."""

from services.agent import metrics
from shared import subjects
from shared.bus import Bus
from shared.conversation.fold import Conversation, Turn
from shared.errors import BusUnavailable, Malformed
from shared.logs import get_logger
from shared.messages import routing as messages
from shared.messages.conversation import UserMessage
from shared.messages.parts import BlobRef
from shared.messages.routing import RouteDecision, RouteRequest
from shared.profiles import Profile

log = get_logger()


def open_groups(turn: Turn | None) -> list[str]:
    """The groups of the topic at hand: those the previous turn called, else those it was routed to for a reason."""
    if turn is None:
        return []
    called = list(dict.fromkeys(call.group for call in turn.calls if call.group))
    if called or turn.route is None or turn.route.layer in ("all", "fixed"):
        return called
    return turn.route.groups


def route_request(state: Conversation, inputs: list[int], profile: Profile, allowed: list[str]) -> RouteRequest:
    """The question for the router about these inputs."""
    events = [e for e in (state.inputs[seq] for seq in inputs) if isinstance(e, UserMessage)]
    finished = [turn for turn in state.turns if turn.ended is not None]
    return RouteRequest(
        text="\n".join(e.text for e in events),
        language=profile.language,
        media_types=[a.media_type for e in events for a in e.attachments if isinstance(a, BlobRef)],
        open_groups=open_groups(finished[-1] if finished else None),
        allowed=allowed,
    )


class Router:
    """Asks the router service. `answers` tells whether it did, the last time it was asked."""

    def __init__(self, bus: Bus, *, timeout_s: float) -> None:
        self._bus = bus
        self._timeout_s = timeout_s
        self.answers = True

    async def route(self, question: RouteRequest) -> RouteDecision:
        """The router's decision, or every allowed group when it does not answer in time: degraded, never blocked."""
        if not question.allowed:
            return RouteDecision(layer="fixed", groups=[], reason="no tool group is available")
        decision = await self._ask(question)
        self.answers = decision is not None
        if decision is None:
            decision = RouteDecision(layer="fixed", groups=question.allowed, reason="the router did not answer")
        metrics.ROUTES.labels(decision.layer).inc()
        return decision

    async def _ask(self, question: RouteRequest) -> RouteDecision | None:
        try:
            data = await self._bus.request(subjects.ROUTE, question, timeout_s=self._timeout_s)
            decision = messages.decisions.decode(data)
        except (BusUnavailable, Malformed) as exc:
            log.warning("route.unavailable", error=str(exc))
            return None
        return decision if isinstance(decision, RouteDecision) else None
