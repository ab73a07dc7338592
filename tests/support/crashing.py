"""A service as a process that kills itself with SIGKILL at a chosen effect.

    python -m tests.support.crashing agent|tools --at N --when before|after --ledger FILE

Effects are what the process tells the outside: appends, jobs, claims, acks, and the ledger's lines, in order. With
`before` the effect does not happen; with `after` the broker has it, but the process never learns that it does.
`--at 0` never kills; the number of effects is printed at the end.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import uvloop

from services.agent.service import AgentService
from services.tools.service import ToolsService
from shared import logs
from shared.bus import Bus, connect
from shared.lifecycle import Context, Runner, Service, settings_or_exit, until_signal
from shared.settings.schema import Bus as BusSettings
from tests.support.ledger import ledger_group

_EFFECTS = ("conv.", "$KV.claims.", "$KV.members.", "$JS.ACK.", "tool.")


class Fuse:
    """Counts effects and kills the process at the chosen one."""

    def __init__(self, at: int, when: str) -> None:
        self._at = at
        self._when = when
        self.count = 0

    def burn(self, moment: str) -> bool:
        """Note an effect's `before` or `after`; whether the process has to die now."""
        if moment == "before":
            self.count += 1
        return self.count == self._at and self._when == moment

    def in_tool(self, moment: str) -> None:
        if self.burn(moment):
            os.kill(os.getpid(), signal.SIGKILL)


def wire(bus: Bus, fuse: Fuse) -> None:
    """Watch everything the connection publishes."""
    publish = bus.client.publish

    async def watched(subject: str, payload: bytes = b"", **options: Any) -> None:
        effect = subject.startswith(_EFFECTS) and payload != b"+WPI"
        if effect and fuse.burn("before"):
            os.kill(os.getpid(), signal.SIGKILL)
        await publish(subject, payload, **options)
        if effect and fuse.burn("after"):
            await bus.catch_up()
            os.kill(os.getpid(), signal.SIGKILL)

    bus.client.publish = watched  # type: ignore[method-assign]


async def run(arguments: argparse.Namespace) -> None:
    fuse = Fuse(arguments.at, arguments.when)

    async def connect_wired(settings: BusSettings, *, name: str) -> Bus:
        bus = await connect(settings, name=name)
        wire(bus, fuse)
        return bus

    def build(context: Context) -> Service:
        if arguments.service == "agent":
            return AgentService(context)
        return ToolsService(context, [ledger_group(arguments.ledger, fuse.in_tool)])

    runner = Runner(arguments.service, build, settings_or_exit(), connect=connect_wired)
    await runner.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until_signal()
    await runner.stop()
    sys.stdout.write(f"effects {fuse.count}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("service", choices=["agent", "tools"])
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--when", choices=["before", "after"], default="before")
    parser.add_argument("--ledger", type=Path, required=True)
    logs.configure(level="warning", style="json")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop_runner:
        loop_runner.run(run(parser.parse_args()))
