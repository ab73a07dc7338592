"""The golden files, and the message types they stand for."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from shared import messages
from shared.messages.base import Codec, Message
from shared.messages.parts import Part

FOLDER = Path(__file__).with_name("golden")
MODULES = [importlib.import_module(f"{messages.__name__}.{m.name}") for m in pkgutil.iter_modules(messages.__path__)]


def tag_of(message: type[msgspec.Struct]) -> str:
    return str(message.__struct_config__.tag)


def subclasses(base: type[Message] = Message) -> Iterator[type[Message]]:
    """Every message of the product, wherever it is defined."""
    for message in base.__subclasses__():
        if message.__module__.split(".")[0] in ("shared", "services", "cli"):
            yield message
        yield from subclasses(message)


def families() -> list[Codec[Any]]:
    """Every codec of `shared/messages`, and one for content parts, which have none of their own."""
    found = {id(value): value for module in MODULES for value in vars(module).values() if isinstance(value, Codec)}
    return [*found.values(), Codec(Part)]


def tags_of(codec: Codec[Any]) -> set[str]:
    return {tag_of(member) for member in get_args(codec._family) or (codec._family,)}


TYPES = {tag_of(message): message for message in subclasses()}
TREES: dict[str, Any] = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
# One case per codec that knows the tag: an input is read as an input and as an event.
CASES = [(codec, tag) for codec in families() for tag in sorted(tags_of(codec))]
IDS = [f"{tag}-{position}" for position, (_, tag) in enumerate(CASES)]
FAMILIES = {"|".join(sorted(tags_of(codec))): codec for codec in families()}


def fields_of(tag: str) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(TYPES[tag])}


def data_of(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode()


def tree_of(message: msgspec.Struct) -> Any:
    return msgspec.json.decode(msgspec.json.encode(message))
