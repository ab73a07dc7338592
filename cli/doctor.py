"""`jada doctor`: checks each part, says what to do about what is missing."""

import asyncio
from collections.abc import Sequence

import msgspec

from cli.checks import Check, check_all
from cli.exits import Exit
from cli.session import Session
from shared.topology import STREAMS, agent_consumer, learner_consumer, scheduler_consumer, tools_consumer

_WIDTHS = (14, 34, 30, 26)


def run(session: Session) -> Exit:
    """Check everything; `Exit.FAILED` when something is ill, `Exit.UNREACHABLE` when no server answers."""
    checks = asyncio.run(check_all(session))
    ill = [check for check in checks if check.state == "failed"]
    if session.json:
        session.print_json({"checks": msgspec.to_builtins(checks), "ok": not ill})
    else:
        _print(session, checks, len(ill))
        if session.args.verbose:
            _print_topology(session)
    if any(check.name == "api" for check in ill):
        return Exit.UNREACHABLE
    return Exit.FAILED if ill else Exit.OK


def _print(session: Session, checks: Sequence[Check], ill: int) -> None:
    say = session.say
    for check in checks:
        name = check.name if check.name == "python" else say(f"doctor.{check.name}")
        print(f"{say(f'doctor.{check.state}')}  {name}: {check.detail}")
        if check.remedy:
            print(say("doctor.do", remedy=check.remedy))
    print(say("doctor.some_ill", count=ill) if ill else say("doctor.all_well"))


def _print_topology(session: Session) -> None:
    """The table of `shared.topology`: the names are the broker's own and have no translation."""
    print()
    for spec in STREAMS:
        print(_row(spec.name, ", ".join(spec.subjects), spec.writers, spec.readers))
    settings = session.settings
    consumers = (
        agent_consumer(settings),
        learner_consumer(settings),
        scheduler_consumer(),
        tools_consumer(settings, "*"),
    )
    print()
    for consumer in consumers:
        print(_row(consumer.name, consumer.filter_subject, consumer.stream, f"ack wait {consumer.ack_wait_s:g} s"))


def _row(*cells: str) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
