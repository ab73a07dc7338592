"""Declaring tools: one typed async function each; schema from its annotations, description from its docstring."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from services.tools.context import ToolContext
from shared.messages.conversation import SideEffects
from shared.messages.routing import Tier
from shared.messages.tools import GroupDeclared, ToolDeclared
from shared.phrases import load_phrases

ToolFunction = Callable[..., Awaitable[Any]]


class BadArguments(Exception):
    """The model's arguments do not fit the tool; the text says what is wrong and shows the schema."""


class Tool:
    """A declared tool. Its function takes the context and the declared parameters, and returns a JSON value."""

    def __init__(self, function: ToolFunction, *, side_effects: SideEffects, deadline_s: float) -> None:
        self.name = function.__name__
        self._function = function
        self._arguments = _arguments_struct(function)
        self.side_effects = side_effects
        self.deadline_s = deadline_s
        self.parameters = _schema(self._arguments)

    def declared(self) -> ToolDeclared:
        """The tool as others see it."""
        return ToolDeclared(
            name=self.name,
            description=inspect.cleandoc(self._function.__doc__ or ""),
            parameters=msgspec.Raw(msgspec.json.encode(self.parameters)),
            side_effects=self.side_effects,
            deadline_s=self.deadline_s,
        )

    def check(self, arguments: msgspec.Raw) -> dict[str, Any]:
        """The arguments as the function takes them; `BadArguments` when they do not fit."""
        try:
            parsed = msgspec.json.decode(arguments, type=self._arguments)
        except msgspec.DecodeError as exc:
            schema = msgspec.json.encode(self.parameters).decode()
            raise BadArguments(f"wrong arguments for {self.name}: {exc}. They must match {schema}") from exc
        return {name: getattr(parsed, name) for name in self._arguments.__struct_fields__}

    async def run(self, context: ToolContext, arguments: dict[str, Any]) -> Any:
        """Run it; the value it returns is JSON-encodable."""
        return await self._function(context, **arguments)


class Group:
    """A tool group: the unit of routing, configuration and scaling. `titles` name it in each language."""

    def __init__(
        self, name: str, *, titles: dict[str, str], folder: Path, tier: Tier = "fast", needs: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.tools: dict[str, Tool] = {}
        self._titles = titles
        self._phrases = load_phrases(folder / "phrases")
        self._tier: Tier = tier
        self._needs = tuple(needs)

    def tool(
        self, *, side_effects: SideEffects = "none", deadline_s: float = 30.0
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Declare the decorated function as a tool of this group."""

        def declare(function: ToolFunction) -> ToolFunction:
            self.tools[function.__name__] = Tool(function, side_effects=side_effects, deadline_s=deadline_s)
            return function

        return declare

    def declared(self, configured: Callable[[str], bool], *, at: datetime) -> GroupDeclared:
        """The group as others see it; `configured` tells whether a setting (`section.field`) has a value."""
        missing = [name for name in self._needs if not configured(name)]
        return GroupDeclared(
            group=self.name,
            tools=[tool.declared() for tool in self.tools.values()],
            at=at,
            title=self._titles,
            tier=self._tier,
            configured=not missing,
            missing=missing,
            phrases=self._phrases,
        )


def _arguments_struct(function: ToolFunction) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        field = (parameter.name, hints[parameter.name])
        fields.append(field if parameter.default is parameter.empty else (*field, parameter.default))
    return msgspec.defstruct(function.__name__, fields, kw_only=True, forbid_unknown_fields=True)


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([arguments])
    schema = dict(components[arguments.__name__])
    schema.pop("title", None)
    return schema
