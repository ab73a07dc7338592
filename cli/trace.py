"""`jada trace`: what happened in a turn, step by step."""

import asyncio
import json
from typing import Any

from cli.api import open_api
from cli.exits import Exit
from cli.receipts import chips
from cli.session import Session
from cli.texts import Texts
from shared.text import cut

_SHOWN_CHARS = 100


def run(session: Session) -> Exit:
    """Print the trace of a turn, given by its id or by the sequence of its input."""
    return asyncio.run(_trace(session))


async def _trace(session: Session) -> Exit:
    async with open_api(session) as api:
        turn = await api.get(f"/v1/turns/{session.args.turn}")
    if session.json:
        session.print_json(turn)
    else:
        print("\n".join(trace_lines(turn, session.say)))
    return Exit.OK


def trace_lines(turn: dict[str, Any], say: Texts) -> list[str]:
    """The trace of a turn as a person reads it."""
    lines = [
        say("trace.turn", turn=turn.get("turn_id") or "-", conversation=turn.get("conversation_id", "")),
        say("trace.status", status=turn["status"], epoch=turn.get("epoch", 1), profile=turn.get("profile") or "-"),
    ]
    if turn.get("route"):
        lines.append(_route(turn["route"], say))
    for step in turn.get("steps", []):
        lines += _step(step, say)
    if turn.get("reason"):
        lines.append(say("trace.reason", reason=turn["reason"]))
    if turn.get("error_ref"):
        lines.append(say("trace.error_ref", ref=turn["error_ref"]))
    if turn.get("actions"):
        lines.append(chips(turn["actions"]))
    if turn.get("answer"):
        lines.append(say("trace.answer", answer=turn["answer"]))
    return lines


def _route(route: dict[str, Any], say: Texts) -> str:
    words = ", ".join(f"{match['words']} → {match['group']}" for match in route.get("matched") or [])
    return say(
        "trace.route",
        layer=route["layer"],
        groups=", ".join(route["groups"]) or "-",
        why=words or route.get("reason") or "-",
        elapsed=f"{route.get('elapsed_us', 0):.0f}",
    )


def _step(step: dict[str, Any], say: Texts) -> list[str]:
    usage = step.get("usage") or {}
    head = say(
        "trace.step",
        step=step["step"],
        model=step["model"],
        elapsed=f"{step.get('elapsed_s', 0) * 1000:.0f}",
        tokens_in=usage.get("tokens_in", 0),
        tokens_out=usage.get("tokens_out", 0),
    )
    return [head, *(_call(call) for call in step.get("calls", []))]


def _call(call: dict[str, Any]) -> str:
    arguments = cut(json.dumps(call.get("arguments"), ensure_ascii=False), _SHOWN_CHARS)
    elapsed = call.get("elapsed_s")
    took = f" {elapsed * 1000:.0f} ms" if elapsed is not None else ""
    refused = f" ({call['refused']})" if call.get("refused") else ""
    return f"     {call['name']} {arguments}: {call.get('status') or '…'}{refused}{took}"
