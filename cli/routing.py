"""`jada routing`: what the router learned from use, and what an operator teaches it or takes back."""

import asyncio

import msgspec

from cli.broker import bus_settings, open_bus
from cli.exits import Exit
from cli.session import Session
from shared.clock import utc_now
from shared.learned_examples import MAX_CHARS, LearnedExamples
from shared.text import clean, cut

_TOLD = {
    ("add", True): "routing.add_done",
    ("add", False): "routing.add_not",
    ("remove", True): "routing.remove_done",
    ("remove", False): "routing.remove_not",
}
_SOURCES = {"outcome": "routing.outcome", "operator": "routing.operator"}


def run(session: Session) -> Exit:
    """List, add or remove an utterance."""
    return asyncio.run(_run(session))


async def _run(session: Session) -> Exit:
    args = session.args
    group, text = args.group, cut(clean(" ".join(args.text)).strip(), MAX_CHARS)
    if args.action != "list" and not (group and text):
        session.note(session.say("routing.needs_both"))
        return Exit.USAGE
    async with open_bus(bus_settings(session)) as bus:
        examples = LearnedExamples(bus)
        match args.action:
            case "add":
                done = await examples.add(group, text, source="operator", at=utc_now())
            case "remove":
                done = await examples.remove(group, text)
            case _:
                return await _list(session, examples, group)
    if session.json:
        session.print_json({"done": done})
    else:
        print(session.say(_TOLD[args.action, done], group=group, text=text))
    return Exit.OK if done else Exit.FAILED


async def _list(session: Session, examples: LearnedExamples, group: str) -> Exit:
    found = await (examples.list(group) if group else examples.list())
    if session.json:
        session.print_json({"examples": msgspec.to_builtins(found)})
        return Exit.OK
    for example in found:
        print(f"{example.group:<12} {session.say(_SOURCES[example.source]):<10} {example.text}")
    if not found:
        print(session.say("routing.none"))
    return Exit.OK
