"""The subjects of `shared/subjects.py`, with what travels on them (`channels.toml`)."""

import importlib
import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import msgspec

from docs.generate.markdown import sentence
from shared import subjects
from shared.messages.base import Message
from shared.topology import STREAMS

_ENCODING = frozenset({"encode_id", "decode_id", "conversation_of"})


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A builder or constant of `shared/subjects.py`; in `pattern` its parameters stand as `<name>`."""

    name: str
    pattern: str
    meaning: str = ""

    @property
    def is_filter(self) -> bool:
        """Whether it is only subscribed to or read, never published on."""
        return not {"*", ">"}.isdisjoint(self.pattern.split("."))


class Channel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What travels on a subject: the name of a message or union in `shared/messages`, from whom to whom.

    Without `messages` anything may travel, as it came.
    `stored` is what is meant to be; a test compares it with the streams' subjects.
    """

    writers: list[str]
    readers: list[str]
    messages: str = ""
    reply: str = ""
    stored: bool = True
    meaning: str = ""


def load_channels() -> dict[str, Channel]:
    """The channels by the name of their subject's builder or constant, or by the subject of a bucket."""
    tree = tomllib.loads(Path(__file__).with_name("channels.toml").read_text("utf-8"))
    return msgspec.convert(tree, dict[str, Channel])


def all_subjects() -> list[Subject]:
    """Every subject and filter that `shared/subjects.py` builds, in its order; constants that only begin one aside."""
    found = []
    for name, value in vars(subjects).items():
        if name.isupper() and isinstance(value, str):
            found.append(Subject(name=name, pattern=value))
        elif inspect.isfunction(value) and not name.startswith("_") and name not in _ENCODING:
            found.append(Subject(name=name, pattern=_pattern(value), meaning=sentence(inspect.getdoc(value))))
    return [s for s in found if not any(other.pattern.startswith(f"{s.pattern}.") for other in found)]


def messages_of(name: str) -> tuple[type[Message], ...]:
    """The message types behind a name such as `conversation.Input`; none for an empty name."""
    if not name:
        return ()
    module, _, attribute = name.partition(".")
    family: Any = getattr(importlib.import_module(f"shared.messages.{module}"), attribute)
    return get_args(family) or (family,)


def wildcard(pattern: str) -> str:
    """A pattern with each parameter replaced by `*`, as a subscriber would write it."""
    return re.sub(r"<\w+>", "*", pattern)


def covers(outer: str, inner: str) -> bool:
    """Whether the NATS filter `outer` matches every subject that the filter `inner` matches."""
    wide, narrow = outer.split("."), inner.split(".")
    for at, part in enumerate(wide):
        if part == ">":
            return len(narrow) > at
        if at >= len(narrow) or part not in ("*", narrow[at]):
            return False
    return len(wide) == len(narrow)


def stored_in(pattern: str) -> str:
    """The stream that stores a subject, by the streams' own filters; empty when none does."""
    return next((s.name for s in STREAMS for f in s.subjects if covers(f, wildcard(pattern))), "")


def _pattern(builder: Callable[..., str]) -> str:
    # The parameters' own names are valid tokens: build with them, then mark them.
    names = list(inspect.signature(builder).parameters)
    return ".".join(f"<{token}>" if token in names else token for token in builder(*names).split("."))
