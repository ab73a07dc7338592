"""A tool with an effect the tests can see: it appends a line to a file, once per run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.tools.context import ToolContext
from services.tools.declare import Group


def ledger_group(ledger: Path, effect: Callable[[str], None] = lambda _: None) -> Group:
    """The group `ledger`. `effect` is told right before and right after the line is written."""

    def lines() -> list[str]:
        return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []

    group = Group("ledger", titles={"es": "Libro", "en": "Ledger"}, folder=Path(__file__).parent)

    @group.tool(side_effects="irreversible", deadline_s=10)
    async def ledger_add(context: ToolContext, text: str) -> Any:
        """Append a line to the ledger."""
        effect("before")
        with ledger.open("a", encoding="utf-8") as file:
            file.write(f"{context.call_id}\n")
        effect("after")
        return {"added": text}

    @group.tool()
    async def ledger_count(context: ToolContext) -> Any:
        """Count the lines of the ledger."""
        del context
        return {"lines": len(lines())}

    return group
