"""`jada tools`: what Jada can do here, and what is missing for the rest."""

import asyncio

from cli.api import open_api
from cli.exits import Exit
from cli.session import Session


def run(session: Session) -> Exit:
    """List the tool groups and their tools."""
    return asyncio.run(_list(session))


async def _list(session: Session) -> Exit:
    async with open_api(session) as api:
        catalog = await api.get("/v1/tools")
    if session.json:
        session.print_json(catalog)
        return Exit.OK
    for group in catalog["groups"]:
        missing = session.say("tools_missing", names=", ".join(group["missing"])) if group["missing"] else ""
        print(f"{group['group']}{missing}")
        for tool in group["tools"]:
            mark = "!" if tool["side_effects"] != "none" else " "
            print(f"  {mark} {tool['name']:<20} {tool['description'].splitlines()[0]}")
    print(session.say("tools_legend"))
    return Exit.OK
