"""`jada route --explain`: which tool groups the router would choose for a text, and why."""

import asyncio

import msgspec

from cli.broker import bus_settings, open_bus
from cli.exits import Exit
from cli.session import Session
from shared import subjects
from shared.errors import JadaError
from shared.messages import routing as messages
from shared.messages.routing import RouteDecision, RouteRequest

_PATIENCE_S = 2.0


class NoDecision(JadaError):
    """The router answered something else."""


def run(session: Session) -> Exit:
    """Ask the router as an agent would, with nothing said before."""
    return asyncio.run(_explain(session))


async def _explain(session: Session) -> Exit:
    question = RouteRequest(text=session.args.explain)
    async with open_bus(bus_settings(session)) as bus:
        answer = await bus.request(subjects.ROUTE, question, timeout_s=_PATIENCE_S)
    decision = messages.decisions.decode(answer)
    if not isinstance(decision, RouteDecision):
        raise NoDecision(session.say("route.no_decision"))
    if session.json:
        session.print_json(msgspec.to_builtins(decision))
    else:
        _print(session, decision)
    return Exit.OK


def _print(session: Session, decision: RouteDecision) -> None:
    say = session.say
    print(say("route.groups", groups=", ".join(decision.groups) or "-", layer=decision.layer, tier=decision.tier))
    print(say("route.reason", reason=decision.reason, elapsed=f"{decision.elapsed_us:.0f}"))
    for name, score in sorted(decision.scores.items(), key=lambda item: -item[1]):
        print(f"  {name:<16} {score:.2f}")
    for match in decision.matched:
        print(say("route.matched", words=match.words, group=match.group, pattern=match.pattern or "-"))
