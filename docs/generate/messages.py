"""`docs/messages.md`: every message and its fields, by family."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from datetime import datetime
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from docs.generate.markdown import code, head, table
from docs.generate.schema import default_of, tag_of
from shared import messages
from shared.messages.base import Message, Unknown

_NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", datetime: "time", None: "nothing"}
_ANY_JSON = {Any: "any JSON", msgspec.Raw: "JSON object"}


def families() -> list[ModuleType]:
    """The modules of `shared/messages` that define messages."""
    names = [module.name for module in pkgutil.iter_modules(messages.__path__)]
    modules = [importlib.import_module(f"{messages.__name__}.{name}") for name in names]
    return [module for module in modules if any(structs_of(module))]


def structs_of(module: ModuleType) -> Iterator[type[msgspec.Struct]]:
    """The messages of a module, and the structs inside them, in its order."""
    for value in vars(module).values():
        defined_here = inspect.isclass(value) and value.__module__ == module.__name__
        if defined_here and issubclass(value, msgspec.Struct) and value not in (Message, Unknown):
            yield value


def page() -> str:
    """The page's text."""
    parts = [head("messages")]
    for module in families():
        parts += [f"## {module.__name__.rpartition('.')[2]}\n", f"{inspect.getdoc(module)}\n"]
        for struct in structs_of(module):
            parts += [f"### {struct.__name__}\n", *_section(struct)]
    return "\n".join(parts)


def _section(struct: type[msgspec.Struct]) -> Iterator[str]:
    if tag_of(struct):
        yield f"`type`: `{tag_of(struct)}`\n"
    yield f"{inspect.getdoc(struct)}\n"
    rows = [
        (code(field.encode_name), type_name(field.type), code(default_of(field) or "") or "required")
        for field in msgspec.structs.fields(struct)
    ]
    yield table(("field", "type", "default"), rows)


def type_name(kind: Any) -> str:
    """A type as a reader of JSON names it."""
    if hasattr(kind, "__metadata__"):
        return type_name(kind.__origin__)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(code(str(value)) for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(type_name(None if member is type(None) else member) for member in arguments)
    if origin is list:
        return f"list of {type_name(arguments[0])}"
    if origin is dict:
        return f"object of {type_name(arguments[1])} by {type_name(arguments[0])}"
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return _NAMES.get(kind) or _ANY_JSON[kind]
