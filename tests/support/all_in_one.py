"""`jada up` as a process in a folder of its own, and the other commands talking to it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.support.eventually import eventually
from tests.support.processes import ROOT, Running, environment, finished, free_port, running


class Jada(msgspec.Struct):
    """A running Jada; `env` is what every command beside it needs to find it."""

    process: Running
    folder: Path
    env: dict[str, str]
    announced: dict[str, Any]

    async def run(self, *arguments: str, stdin: str = "") -> tuple[int, str]:
        """Run a command to its end: exit status and standard output."""
        status, out, err = await finished(
            "cli.main", *arguments, folder=self.folder, env=self.env, stdin=stdin.encode()
        )
        assert not err.startswith("Traceback"), err
        return status, out

    async def ask(self, text: str) -> dict[str, Any]:
        """The turn that a message led to."""
        status, out = await self.run("ask", text, "--json")
        assert status == 0, out
        turn: dict[str, Any] = json.loads(out)
        return turn


def variables(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a Jada on `folder`."""
    return environment(
        JADA_DATA=str(folder / "data"),
        JADA_AGENT_PROFILES_DIR=str(ROOT / "profiles"),
        JADA_SERVICE_GRACE_S="5",
        LC_ALL="en_US.UTF-8",
        **more,
    )


@asynccontextmanager
async def jada_up(folder: Path, **more: str) -> AsyncIterator[Jada]:
    """A ready Jada on a free port; killed at the end if the test did not stop it."""
    port = free_port()
    env = variables(folder, JADA_HTTP_PORT=str(port), **more)
    async with running("cli.main", "up", "--json", folder=folder, env=env, port=port) as process:
        line = await eventually(lambda: process.output.partition("\n")[0], within_s=20)
        yield Jada(process, folder, env, json.loads(line))
