"""The settings as a flat table, read from the schema: what loader and documents need to know of each."""

import json
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

import msgspec

from shared.secret import Secret
from shared.settings.schema import Settings

PREFIX = "JADA_"
FROM_FILE = "_FILE"

_NAMES = {int: "integer", float: "number", str: "text", bool: "true or false", Secret: "secret text"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Field(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One setting. `kind` is its annotated type, `default` its value when nobody sets it."""

    section: str
    name: str
    kind: Any
    default: Any

    @property
    def key(self) -> str:
        """Name in messages, and in TOML written with a dot: `http.port`."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """Name in the environment: `JADA_HTTP_PORT`."""
        return f"{PREFIX}{self.section}_{self.name}".upper()

    @cached_property
    def base(self) -> Any:
        """The type under the annotation: `int`, `float`, `str`, `bool`, `Secret` or a `Literal`."""
        return get_args(self.kind)[0]

    @cached_property
    def meta(self) -> msgspec.Meta:
        """Description and limits; `TypeError` for a setting without them."""
        for part in get_args(self.kind)[1:]:
            if isinstance(part, msgspec.Meta):
                return part
        raise TypeError(f"setting {self.key} has no msgspec.Meta")

    @property
    def choices(self) -> tuple[str | int, ...]:
        """The only values allowed; empty when there is no such list."""
        return get_args(self.base) if get_origin(self.base) is Literal else ()

    @property
    def type_name(self) -> str:
        """The type in words."""
        return "choice" if self.choices else _NAMES[self.base]

    @property
    def range(self) -> str:
        """The limits in words; empty when every value of the type will do."""
        if self.choices:
            return "one of " + ", ".join(json.dumps(choice) for choice in self.choices)
        if self.meta.ge is not None:
            return f"from {self.meta.ge} to {self.meta.le}"
        if self.meta.min_length:
            return "not empty"
        return f"matching {self.meta.pattern}" if self.meta.pattern else ""

    @property
    def allowed(self) -> str:
        """Type and limits in words: `integer from 0 to 65535`."""
        return self.range if self.choices else f"{self.type_name} {self.range}".rstrip()

    @property
    def shows(self) -> bool:
        """Whether a bad value may be repeated in a message: never a secret, and no text that may contain one."""
        return self.base not in (Secret, str)

    def parse(self, text: str) -> object:
        """Read a variable's text as a value of the type; the text itself when it is none, for `convert` to refuse."""
        if self.choices:
            return next((choice for choice in self.choices if str(choice) == text), text)
        try:
            if self.base in (int, float):
                return self.base(text)
        except ValueError:
            return text
        return _BOOLEANS.get(text.lower(), text) if self.base is bool else text

    def convert(self, value: object) -> object:
        """Check a value and give it its type; `msgspec.ValidationError` when it isn't allowed."""
        return msgspec.convert(value, self.kind, dec_hook=_secret)


def all_fields(schema: type[msgspec.Struct] = Settings) -> dict[str, Field]:
    """Every setting of the schema by its key, in the schema's order."""
    found = [
        Field(section=section.name, name=field.name, kind=field.type, default=field.default)
        for section in msgspec.structs.fields(schema)
        for field in msgspec.structs.fields(section.type)
    ]
    return {field.key: field for field in found}


def _secret(kind: type, value: object) -> object:
    # msgspec checks the type of what comes back.
    return Secret(value) if kind is Secret and isinstance(value, str) else value
