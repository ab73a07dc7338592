"""`jada conversations`: which conversations there are."""

import asyncio
from typing import Any

from cli.api import open_api
from cli.exits import Exit
from cli.session import Session

_PAGE = 100


def run(session: Session) -> Exit:
    """List the conversations, a user's only with `--user`."""
    return asyncio.run(_list(session))


async def _list(session: Session) -> Exit:
    found: list[dict[str, Any]] = []
    params: dict[str, str | float] = {"limit": _PAGE}
    if session.args.user:
        params["user_id"] = session.args.user
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
