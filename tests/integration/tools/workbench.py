"""A group whose tools do what a test of the worker needs."""

import asyncio
import math
from pathlib import Path
from typing import Any

from services.tools import groups
from services.tools.context import ToolContext, ToolError
from services.tools.declare import Group

PHRASES = Path(next(iter(groups.__path__))) / "notes"


class Bench:
    """A group whose tools do what a test needs, and the calls that really ran."""

    def __init__(self) -> None:
        self.group = Group("bench", titles={"es": "B", "en": "B"}, folder=PHRASES)
        self.ran: list[str] = []
        self.release = asyncio.Event()
        tool = self.group.tool

        async def look(context: ToolContext, count: int = 1) -> Any:
            """Read something."""
            self.ran.append(context.call_id)
            return {"items": ["x" * 50] * count, "total": count}

        async def act(context: ToolContext) -> Any:
            """Do something."""
            self.ran.append(context.call_id)
            return {"done": True}

        async def slow_look(context: ToolContext) -> Any:
            """Read something slow."""
            self.ran.append(context.call_id)
            await self.release.wait()
            return "late"

        async def slow_act(context: ToolContext) -> Any:
            """Do something slow."""
            self.ran.append(context.call_id)
            await self.release.wait()
            return "done"

        async def fail(_context: ToolContext) -> Any:
            """Fail with a reason."""
            raise ToolError("the mail server refused the password")

        async def crash(_context: ToolContext) -> Any:
            """Fail without one."""
            raise ZeroDivisionError

        async def crash_act(_context: ToolContext) -> Any:
            """Fail without one, perhaps after an effect."""
            raise ZeroDivisionError

        async def odd(_context: ToolContext, kind: str) -> Any:
            """Return something odd."""
            return {"surrogate": "roto \ud83d", "object": object(), "nan": math.nan, "none": None, "bytes": b"x"}[kind]

        for function in (look, slow_look, fail, crash, odd):
            tool()(function)
        for function in (act, slow_act, crash_act):
            tool(side_effects="irreversible")(function)
