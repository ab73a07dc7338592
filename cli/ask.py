"""`jada ask`: one message, its answer and the receipts."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cli.api import TERMINAL, Api, open_api
from cli.exits import ApiProblem, Exit, Unreachable
from cli.receipts import chips
from cli.session import Session
from shared.text import clean

_WAIT_S = 60.0
_MARGIN_S = 10.0
_POLL_S = 0.2
_SHOW_PROGRESS_AFTER_S = 1.0


def run(session: Session) -> Exit:
    """Send the message, wait as long as its turn takes, print what came of it."""
    return asyncio.run(_ask(session))


async def _ask(session: Session) -> Exit:
    async with open_api(session) as api, _progress(session):
        turn = await answered_turn(api, turn_request(session, session.conversation, " ".join(session.args.text)))
    if session.json:
        session.print_json(turn)
    else:
        print(clean(turn.get("answer") or turn["status"]))
        if turn.get("actions"):
            print(chips(turn["actions"]))
    return Exit.OK if turn["status"] in ("answered", "waiting") else Exit.FAILED


async def answered_turn(api: Api, request: Mapping[str, object]) -> dict[str, Any]:
    """The turn that a request leads to, once it has ended."""
    turn: dict[str, Any] = await api.post("/v1/turns", {**request, "wait_s": _WAIT_S}, patience_s=_WAIT_S + _MARGIN_S)
    return turn if turn["status"] in TERMINAL else await ended_turn(api, turn["turn_url"])


async def ended_turn(api: Api, url: str) -> dict[str, Any]:
    """An accepted message's turn, once it has ended. The message is safe, so a restart of the server is waited for."""
    give_up = time.monotonic() + _WAIT_S
    while True:
        try:
            turn: dict[str, Any] = await api.get(url)
            if turn["status"] in TERMINAL:
                return turn
            give_up = time.monotonic() + _WAIT_S
        except Unreachable:
            if time.monotonic() > give_up:
                raise
        except ApiProblem as exc:
            if not exc.passing or time.monotonic() > give_up:
                raise
        await asyncio.sleep(_POLL_S)


def turn_request(session: Session, conversation_id: str, text: str) -> dict[str, object]:
    """The request for a turn."""
    body: dict[str, object] = {"conversation_id": conversation_id, "user_id": session.args.user, "text": text}
    return {**body, "profile": session.args.profile} if session.args.profile else body


@contextlib.asynccontextmanager
async def _progress(session: Session) -> AsyncIterator[None]:
    """Say that the answer takes a while, to a person only."""

    async def show() -> None:
        await asyncio.sleep(_SHOW_PROGRESS_AFTER_S)
        session.note(session.say("working"))

    task = asyncio.create_task(show()) if sys.stderr.isatty() else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
