"""`jada conversations`: the conversations one takes part in."""

import asyncio
from typing import Any

from cli.api import open_api
from cli.exits import Exit
from cli.session import Session

_PAGE = 100


def run(session: Session) -> Exit:
    """List the conversations of a user."""
    return asyncio.run(_list(session))


async def _list(session: Session) -> Exit:
    found: list[dict[str, Any]] = []
    params: dict[str, str | float] = {"user_id": session.args.user, "limit": _PAGE}
    async with open_api(session) as api:
        while True:
            page = await api.get("/v1/conversations", **params)
            found += page["conversations"]
            if not page.get("next_cursor"):
                break
            params["cursor"] = page["next_cursor"]
    if session.json:
        session.print_json({"conversations": found})
    elif not found:
        print(session.say("no_conversations"))
    else:
        for conversation in found:
            print(conversation["conversation_id"])
    return Exit.OK
