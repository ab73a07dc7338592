"""Text that must not be seen: keys, tokens, passwords."""

import hmac

REDACTED = "***"


class Secret:
    """A text that shows itself only through `reveal()`.

    `repr`, `str`, formatting and encoding give `***` (nothing when it is empty, so that "not set" can be seen).
    It is true when not empty and compares in constant time, only with other secrets.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        """Give the text itself: for the one place that sends it, never for a log, an error or a message."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return REDACTED if self._value else ""

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_octets(self), _octets(other))

    def __hash__(self) -> int:
        return hash((Secret, self._value))


def encode_secret(value: object) -> str:
    """Encode a secret as `***`, as msgspec's `enc_hook`; `NotImplementedError` for any other foreign type.

    Without the hook msgspec refuses to encode a secret at all.
    """
    if isinstance(value, Secret):
        return str(value)
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


def _octets(secret: Secret) -> bytes:
    # The environment may hold bytes that are no UTF-8; Python keeps them as lone surrogates.
    return secret.reveal().encode("utf-8", "surrogatepass")
