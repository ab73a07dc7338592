"""From an intent to the next step, given the results so far: a call, something to say, or waiting for what precedes.

A turn is planned anew at each request: nothing is remembered between two of them but what the request itself holds.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from shared.model.offline.answers import Texts, abilities, describe, fill, numbered
from shared.model.offline.chat import Chat, Result
from shared.model.offline.rules import KINDS, Intent, Kind, intents
from shared.model.offline.things import LAST, Thing, at_place, last_shown, looks_like_id, matching, newest, number_of

MAX_RESULTS = 24


class Call(msgspec.Struct, frozen=True):
    """A tool to call."""

    name: str
    arguments: dict[str, Any]


class Say(msgspec.Struct, frozen=True):
    """A piece of the answer."""

    text: str


class Wait(msgspec.Struct, frozen=True):
    """Nothing yet: it depends on what comes before in the same message."""


Step = Call | Say | Wait


class Planner:
    """Plans the wishes of one message in their order; each takes the results of its own calls."""

    def __init__(self, chat: Chat, texts: Texts) -> None:
        self._chat = chat
        self._texts = texts
        self._left = list(chat.results)
        self._pending = False

    def step(self, intent: Intent) -> Step:
        """Return the next step towards one wish."""
        step = self._step(intent)
        self._pending = self._pending or not isinstance(step, Say)
        return step

    def _step(self, intent: Intent) -> Step:
        match intent.act:
            case "talk":
                return self._talk(intent)
            case "pick":
                return self._pick(intent)
            case "change":
                return self._change(intent)
            case "call":
                return self._call(intent)

    def _call(self, intent: Intent) -> Step:
        done = self._take(intent.tool)
        if done is not None:
            return Say(describe(done, self._texts))
        slots: dict[str, Any] = dict(intent.slots)
        if intent.name == "set_reminder":
            if not slots["text"]:
                return Say(fill(self._texts.ask_what, slots))
            if not slots["when"]:
                return Say(fill(self._texts.ask_when, slots))
        if "limit" in slots:
            slots["limit"] = number_of(slots["limit"])
        if intent.name == "read_result":
            slots = _continuation([*self._chat.earlier, *self._chat.results])
            if slots.get("offset", 0) is None:
                return Say(self._texts.end)
        return self._offered(intent.tool, slots)

    def _change(self, intent: Intent) -> Step:
        """Delete or update a thing: find it among what was shown, else look it up first."""
        shown = last_shown([*self._chat.earlier, *self._chat.results])
        done = self._done_change(intent)
        if done is not None:
            return done
        if self._pending and "target" not in intent.slots:
            return Wait()
        kind = intent.kind or (shown[0].kind if shown else "note")
        shown = [thing for thing in shown if thing.kind == kind]
        if "position" in intent.slots:
            return self._change_at(intent, intent.slots["position"], shown, kind)
        if "target" not in intent.slots:
            return self._apply(intent, shown, kind)
        if intent.slots["target"].isdecimal() and not matching(intent.slots["target"], shown):
            return self._change_at(intent, intent.slots["target"], shown, kind)
        return self._change_target(intent, shown, kind)

    def _change_at(self, intent: Intent, place: str, shown: Sequence[Thing], kind: str) -> Step:
        """Change the thing at a place of what was shown, else of the whole list."""
        if not shown and intent.kind:
            listed = self._take(KINDS[kind].list, {})
            if listed is None:
                return self._offered(KINDS[kind].list, {})
            if listed.error:
                return Say(describe(listed, self._texts))
            shown = last_shown([listed])
        # "My last note" is the newest one, wherever a list has it; "the last one" is the last of the list.
        thing = newest(shown) if intent.kind and number_of(place) == LAST else None
        thing = thing or at_place(place, shown)
        return self._apply(intent, [thing] if thing else [], kind)

    def _done_change(self, intent: Intent) -> Say | None:
        for name in [intent.kind] if intent.kind else KINDS:
            tool = _tool(intent, KINDS[name])
            done = self._take(tool) if tool else None
            if done is None:
                continue
            # The lookup that led here is used up too.
            lookup = self._lookup(KINDS[name], intent.slots.get("target", ""))
            self._take(lookup.name, lookup.arguments)
            return Say(describe(done, self._texts))
        return None

    def _change_target(self, intent: Intent, shown: Sequence[Thing], kind: str) -> Step:
        target = intent.slots["target"]
        found = matching(target, shown)
        if len(found) == 1:
            return self._apply(intent, found, kind)
        if looks_like_id(target):
            return self._apply(intent, [Thing(kind=kind, id=target, text=target)], kind)
        lookup = self._lookup(KINDS[kind], target)
        result = self._take(lookup.name, lookup.arguments)
        if result is None:
            return self._offered(lookup.name, lookup.arguments)
        if result.error:
            return Say(describe(result, self._texts))
        things = last_shown([result])
        # A search has judged already; of a whole list, only what fits counts.
        found = matching(target, things) or (things if lookup.arguments else [])
        return self._apply(intent, found, kind)

    def _apply(self, intent: Intent, found: Sequence[Thing], kind: str) -> Step:
        if not found:
            find = self._texts.find[kind]
            return Say(fill(find.none, intent.slots) if "target" in intent.slots else find.nothing)
        if len(found) > 1:
            return Say(f"{self._texts.find[kind].which}\n{numbered(found, self._texts, kind)}")
        arguments = {"id": found[0].id}
        if "text" in intent.slots:
            arguments["text"] = intent.slots["text"]
        return self._offered(_tool(intent, KINDS[kind]), arguments)

    def _pick(self, intent: Intent) -> Step:
        """Take "the second one" as the answer to what was asked about the wish before; else show it."""
        before = intents(self._chat.said[0]) if self._chat.said else []
        asked = next((old for old in before if old.act == "change"), None)
        if asked is not None:
            slots = {key: value for key, value in asked.slots.items() if key == "text"} | intent.slots
            return self._change(msgspec.structs.replace(asked, slots=slots))
        shown = last_shown(self._chat.earlier)
        if "position" in intent.slots:
            thing = at_place(intent.slots["position"], shown)
        else:
            thing = next(iter(matching(intent.slots["target"], shown)), None)
        return Say(thing.text) if thing else self._unknown()

    def _talk(self, intent: Intent) -> Step:
        if intent.name == "when_only":
            return self._late_when(intent.slots["when"])
        if intent.name == "clock" and not self._chat.clock:
            return self._unknown()
        text = fill(self._texts.talk[intent.name], {**intent.slots, "clock": self._chat.clock})
        return Say(f"{text} {abilities(self._chat.offered, self._texts)}" if intent.name in {"who", "help"} else text)

    def _late_when(self, when: str) -> Step:
        """Complete a reminder whose time was asked for."""
        before = intents(self._chat.said[0]) if self._chat.said else []
        asked = next((old for old in before if old.name == "set_reminder" and not old.slots["when"]), None)
        if asked is None or not asked.slots["text"]:
            return self._unknown()
        return self._call(msgspec.structs.replace(asked, slots={**asked.slots, "when": when}))

    def _unknown(self) -> Say:
        return Say(unknown(self._chat, self._texts))

    def _take(self, tool: str, arguments: dict[str, Any] | None = None) -> Result | None:
        for result in self._left:
            if result.name == tool and (arguments is None or result.arguments == arguments):
                self._left.remove(result)
                return result
        return None

    def _lookup(self, kind: Kind, target: str) -> Call:
        """Choose the call that finds a thing: a search if there is one, else the whole list."""
        if kind.search in self._chat.offered and target and not target.isdecimal():
            return Call(kind.search, {"query": target})
        return Call(kind.list, {})

    def _offered(self, tool: str, slots: dict[str, Any]) -> Step:
        """Call a tool if it is on offer and the slots are what its schema asks for."""
        schema = self._chat.offered.get(tool)
        if schema is None or len(self._chat.results) >= MAX_RESULTS:
            template = self._texts.unavailable if schema is None else self._texts.too_many_steps
            return Say(fill(template, {"tool": tool}))
        known = schema.get("properties") or {}
        arguments = {key: value for key, value in slots.items() if key in known and value not in ("", None)}
        if any(key not in arguments for key in schema.get("required") or ()):
            return self._unknown()
        return Call(tool, arguments)


def unknown(chat: Chat, texts: Texts) -> str:
    """Say that no rule fits, what can be done instead, and how to get a real model."""
    return "\n".join((texts.unknown, abilities(chat.offered, texts), texts.setup))


def _tool(intent: Intent, kind: Kind) -> str:
    return kind.update if "text" in intent.slots else kind.delete


def _continuation(results: Sequence[Result]) -> dict[str, Any]:
    """Find where to read on in the newest result that was cut; its `offset` is `None` when all was read."""
    for result in reversed(results):
        ref = result.data.get("ref") or result.arguments.get("ref")
        if ref:
            return {"ref": ref, "offset": result.data.get("next_offset", result.data.get("shown_chars", 0))}
    return {}
