"""Kinds of actions: which actions and objects name them, and which calls prove them."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

import msgspec

from shared.messages.conversation import ResultStatus, SideEffects

_NAME_PART = re.compile(r"[a-z]+|[A-Z][a-z]*")


class CallMade(msgspec.Struct, frozen=True, kw_only=True):
    """A call of this turn, as the log tells it."""

    name: str
    status: ResultStatus
    side_effects: SideEffects


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of action. `tools`: each alone proves it ("a+b": both together); `each`: two deeds need two calls."""

    group: str
    actions: frozenset[str]
    objects: frozenset[str]
    tools: list[str]
    each: bool = False


class KindTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All kinds, and by which words in its name a tool that is not in them proves an action."""

    kinds: dict[str, Kind]
    deliver_later: frozenset[str]
    unknown_tools: dict[str, frozenset[str]]

    def known(self, tool: str) -> bool:
        """Whether a kind names `tool`."""
        return tool in _known_tools()

    def named(self, action: str, objects: AbstractSet[str]) -> frozenset[str]:
        """The kinds an action can be of; objects narrow it as far as any kind takes them."""
        possible = _by_action().get(action, frozenset())
        narrowed = frozenset(k for k in possible if objects & self.kinds[k].objects)
        return narrowed or possible

    def with_objects(self, objects: AbstractSet[str]) -> frozenset[str]:
        """The kinds that have to do with one of the objects."""
        return frozenset(name for name, kind in self.kinds.items() if objects & kind.objects)

    def is_open(self, kinds: Collection[str], objects: AbstractSet[str], offered: Collection[str]) -> bool:
        """Whether a tool in none of the kinds may be meant: no object names one of ours, or ours is not offered."""
        named = any(objects & self.kinds[kind].objects for kind in kinds)
        return not named or not any(self.kinds[kind].group in offered for kind in kinds)

    def in_groups(self, groups: Collection[str]) -> frozenset[str]:
        """The kinds of these tool groups."""
        return frozenset(name for name, kind in self.kinds.items() if kind.group in groups)


@cache
def kind_table() -> KindTable:
    """The table that ships."""
    text = Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), KindTable)


@cache
def _known_tools() -> frozenset[str]:
    return frozenset(part for kind in kind_table().kinds.values() for tool in kind.tools for part in tool.split("+"))


@cache
def _by_action() -> Mapping[str, frozenset[str]]:
    table = kind_table().kinds
    actions = {action for kind in table.values() for action in kind.actions}
    return {a: frozenset(name for name, kind in table.items() if a in kind.actions) for a in actions}


class Evidence(msgspec.Struct, frozen=True):
    """What the calls of a turn prove.

    `attempts`: every call of a tool of our kinds, in order, and whether it went well. `strangers`: the words in the
    names of other tools that did something. `later`: a tool will deliver by itself when it is ready.
    """

    attempts: tuple[tuple[str, bool], ...]
    strangers: tuple[frozenset[str], ...]
    later: bool

    @property
    def ok(self) -> frozenset[str]:
        """The tools of our kinds that did what they do."""
        return frozenset(name for name, went_well in self.attempts if went_well)

    def proves(self, kinds: Collection[str], action: str, *, strangers: bool) -> bool:
        """Whether an action of one of the kinds was done; where `strangers` count, by a tool called like `action`."""
        tools = [tool for kind in kinds for tool in kind_table().kinds[kind].tools]
        if any(all(part in self.ok for part in tool.split("+")) for tool in tools):
            return True
        words = kind_table().unknown_tools.get(action, frozenset())
        return strangers and any(not action or words & name for name in self.strangers)

    def outcomes(self, kind: str) -> list[bool]:
        """How the calls that could prove the kind went, in order."""
        tools = {part for tool in kind_table().kinds[kind].tools for part in tool.split("+")}
        return [went_well for name, went_well in self.attempts if name in tools]


def evidence_of(calls: Sequence[CallMade]) -> Evidence:
    """Sort the calls. Only `ok` proves; a call that only reads proves nothing."""
    table = kind_table()
    attempts = tuple((c.name, c.status == "ok") for c in calls if table.known(c.name))
    strangers = tuple(
        frozenset(part.lower() for part in _NAME_PART.findall(c.name))
        for c in calls
        if c.status == "ok" and c.side_effects != "none" and not table.known(c.name)
    )
    later = any(c.status == "ok" and c.name in table.deliver_later for c in calls)
    return Evidence(attempts, strangers, later)
