"""A place in a list of tokens, and the few moves a grammar rule makes from it."""

from collections.abc import Callable
from typing import TypeVar

from shared.when.tokens import Token, written

T = TypeVar("T")


class Cursor:
    """Rules move it forward; a rule that fails is undone by `attempt`."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def ended(self) -> bool:
        """Whether every token was read."""
        return self.at >= len(self.tokens)

    def sees(self, *roles: str, ahead: int = 0) -> bool:
        """Whether the token here (or `ahead` of here) has one of `roles`."""
        place = self.at + ahead
        return place < len(self.tokens) and any(role in self.tokens[place].roles for role in roles)

    def take(self, role: str, of: type[T]) -> T | None:
        """The value of `role` of the token here, which is then read; None, and nothing read, if it has no such role."""
        if self.ended():
            return None
        value = self.tokens[self.at].roles.get(role)
        if not isinstance(value, of):
            return None
        self.at += 1
        return value

    def skip(self, *roles: str) -> bool:
        """Read the token here if it has one of `roles`."""
        if not self.sees(*roles):
            return False
        self.at += 1
        return True

    def separator(self, symbols: str) -> str | None:
        """Read one of the separator `symbols`."""
        if self.sees("sep") and self.tokens[self.at].roles["sep"] in tuple(symbols):
            return self.take("sep", str)
        return None

    def attempt(self, rule: "Callable[[Cursor], T | None]") -> T | None:
        """What `rule` reads from here; if it reads nothing, the cursor stays."""
        start = self.at
        value = rule(self)
        if value is None:
            self.at = start
        return value

    def words(self, start: int, end: int | None = None) -> tuple[str, ...]:
        """The words of the phrase from token `start` to before `end`, as written."""
        return written(self.tokens[start:end])
