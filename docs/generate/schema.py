"""JSON schemas of messages. msgspec's own cannot say a field that defaults to raw JSON, as arguments do."""

import inspect
from collections.abc import Iterable
from datetime import datetime
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    type(None): {"type": "null"},
    msgspec.Raw: {"type": "object"},
    Any: {},
}

Struct = type[msgspec.Struct]


def tag_of(struct: Struct) -> str:
    """The `type` of a message; empty for a struct that only stands inside one."""
    return str(struct.__struct_config__.tag or "")


def schemas(structs: Iterable[Struct]) -> dict[str, dict[str, Any]]:
    """The schemas of `structs` and of all structs inside them, by their names, sorted."""
    found: dict[str, dict[str, Any]] = {}
    waiting = list(structs)
    while waiting:
        struct = waiting.pop()
        if struct.__name__ not in found:
            found[struct.__name__] = _object(struct)
            waiting += [inner for field in msgspec.structs.fields(struct) for inner in _structs_in(field.type)]
    return dict(sorted(found.items()))


def default_of(field: msgspec.structs.FieldInfo) -> str | None:
    """A field's default as JSON text; `None` when the field is required."""
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.json.encode(field.default_factory()).decode()
    return None if field.required else msgspec.json.encode(field.default).decode()


def _object(struct: Struct) -> dict[str, Any]:
    fields = msgspec.structs.fields(struct)
    tag = {"type": {"const": tag_of(struct)}} if tag_of(struct) else {}
    return {
        "type": "object",
        "description": " ".join((inspect.getdoc(struct) or "").split()),
        "properties": {**tag, **{field.encode_name: _property(field) for field in fields}},
        "required": [*tag, *(field.encode_name for field in fields if field.required)],
    }


def _property(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    default = default_of(field)
    return _schema(field.type) | ({} if default is None else {"default": msgspec.json.decode(default)})


def _schema(kind: Any) -> dict[str, Any]:
    if hasattr(kind, "__metadata__"):
        return _schema(kind.__origin__)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(member) for member in arguments]}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    return _PLAIN[kind]


def _structs_in(kind: Any) -> list[Struct]:
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [struct for argument in get_args(kind) for struct in _structs_in(argument)]
