"""Which error a failed call is: a table of rules (`classify.toml`) over status, dialect and the server's own words."""

import re
from functools import cached_property
from typing import Any, Literal

import msgspec

from shared.model.errors import BadHistory, Denied, ModelError, Refused, TooLong, Transient, Unclassified
from shared.model.tables import load_table
from shared.text import clean, cut

_WORDS_CHARS = 4000
_ERRORS: dict[str, type[ModelError]] = {
    kind.__name__: kind for kind in (Transient, BadHistory, TooLong, Refused, Denied, Unclassified)
}


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What a server said when it failed: `status` is HTTP's, or the one named in an error inside a 200."""

    status: int
    message: str = ""
    code: str = ""
    kind: str = ""

    @property
    def words(self) -> str:
        """Code, type and message as one text for the rules."""
        return cut(" ".join(word for word in (self.code, self.kind, self.message) if word), _WORDS_CHARS)


class _Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    error: Literal["Transient", "BadHistory", "TooLong", "Refused", "Denied"]
    status: list[int] = []
    not_status: list[int] = []
    dialects: list[str] = []
    words: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.words, re.IGNORECASE | re.DOTALL)

    def fits(self, failure: Failure, dialect: str) -> bool:
        if self.status and failure.status not in self.status:
            return False
        if failure.status in self.not_status or (self.dialects and dialect not in self.dialects):
            return False
        return not self.words or self.pattern.search(failure.words) is not None


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: list[_Rule]


_RULES = load_table("shared.model", "classify.toml", _Table).rule


def classify(failure: Failure, dialect: str) -> type[ModelError]:
    """The class of a failure: the first rule that fits, else `Unclassified`."""
    for rule in _RULES:
        if rule.fits(failure, dialect):
            return _ERRORS[rule.error]
    return Unclassified


def to_error(failure: Failure, dialect: str) -> ModelError:
    """The error to raise, with what the server said as its gist."""
    head = " ".join(word for word in (f"HTTP {failure.status}", failure.code, failure.kind) if word)
    gist = cut(clean(f"{head}: {failure.message}" if failure.message else head), _WORDS_CHARS)
    return classify(failure, dialect)(gist, status=failure.status)


def read_failure(status: int, body: bytes) -> Failure:
    """A failure from an HTTP error's body: JSON in any of the known shapes, else its text."""
    try:
        tree = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Failure(status=status, message=_squeeze(body.decode("utf-8", "replace")))
    return failure_of(status, tree)


def failure_of(status: int, tree: Any) -> Failure:
    """A failure from a decoded error: `{"error": …}`, the error object itself, a list of one, or a text.

    An error inside a 200 that names a status of its own (OpenRouter, llama.cpp) has that status.
    """
    node = tree[0] if isinstance(tree, list) and tree else tree
    if isinstance(node, dict) and node.get("error"):
        node = node["error"]
    if not isinstance(node, dict):
        return Failure(status=status, message=_squeeze(_text(node)))
    code = node.get("code")
    if status < 400 and str(code).isdigit() and 400 <= int(str(code)) < 600:
        status = int(str(code))
    message = " ".join(_text(node[key]) for key in ("message", "detail", "msg", "metadata", "param") if node.get(key))
    kind = _text(node.get("type") or node.get("status") or "")
    return Failure(status=status, message=_squeeze(message), code=_text(code or ""), kind=kind)


def _text(node: Any) -> str:
    return node if isinstance(node, str) else msgspec.json.encode(node).decode()


def _squeeze(text: str) -> str:
    return " ".join(text[: 2 * _WORDS_CHARS].split())
