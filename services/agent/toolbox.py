"""The tools that can be offered, from what workers declare; and a model's calls checked against them."""

from collections.abc import Iterable, Sequence

import msgspec

from shared import ids
from shared.messages.conversation import CallRequested
from shared.messages.tools import GroupDeclared, ToolDeclared
from shared.model.types import ReplyCall, ToolSpec


class Toolbox:
    """The configured groups at one moment. Immutable: a changed catalog makes a new one."""

    def __init__(self, declared: Iterable[GroupDeclared]) -> None:
        self.groups = {g.group: g for g in sorted(declared, key=lambda g: g.group) if g.configured}
        self._specs: dict[tuple[str, ...], tuple[ToolSpec, ...]] = {}

    def allowed(self, switched_on: Sequence[str]) -> list[str]:
        """The configured groups a profile has switched on (an empty list switches on all)."""
        return [g for g in self.groups if not switched_on or g in switched_on]

    def specs(self, groups: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The tools of these groups for a model request; groups that are gone are left out."""
        key = tuple(g for g in groups if g in self.groups)
        if key not in self._specs:
            self._specs[key] = tuple(
                ToolSpec(name=tool.name, description=tool.description, parameters=tool.parameters)
                for group in key
                for tool in self.groups[group].tools
            )
        return self._specs[key]

    def resolve(
        self, calls: Sequence[ReplyCall], *, turn_id: str, step: int, groups: Sequence[str], most: int
    ) -> list[CallRequested]:
        """A reply's calls as they go into the log, each either ready to dispatch or refused with its reason."""
        offered = {t.name: (g, t) for g in groups if g in self.groups for t in self.groups[g].tools}
        return [
            self._resolve(call, ids.call_id(turn_id, step, n), offered, too_many=n >= most)
            for n, call in enumerate(calls)
        ]

    def _resolve(
        self, call: ReplyCall, call_id: str, offered: dict[str, tuple[str, ToolDeclared]], *, too_many: bool
    ) -> CallRequested:
        found = offered.get(call.name)
        bare = CallRequested(call_id=call_id, name=call.name, arguments=call.arguments, malformed=call.malformed)
        if found is None:
            return msgspec.structs.replace(
                bare, refused=f"no such tool here: {call.name}; available: {', '.join(offered) or 'none'}"
            )
        group, tool = found
        if call.malformed:
            return msgspec.structs.replace(bare, refused="the arguments were not a JSON object; call again with one")
        if too_many:
            return msgspec.structs.replace(bare, refused="too many calls at once; call again with fewer")
        return msgspec.structs.replace(bare, group=group, side_effects=tool.side_effects, deadline_s=tool.deadline_s)
