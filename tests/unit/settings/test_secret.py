"""A secret shows itself only to `reveal()`."""

import json
import traceback
from collections.abc import Callable

import msgspec
import pytest

from shared.secret import Secret, encode_secret

PLANTED = "sk-planted-0123456789"


class Holder(msgspec.Struct, frozen=True):
    key: Secret


SHOWN: dict[str, Callable[[Secret], str]] = {
    "repr": repr,
    "str": str,
    "f-string": lambda secret: f"{secret}",
    "f-string with width": lambda secret: f"{secret:>30}",
    "f-string with conversion": lambda secret: f"{secret!r} {secret!s} {secret!a}",
    "percent": lambda secret: "%s %r" % (secret, secret),  # noqa: UP031 - one of the ways to format
    "inside a struct": lambda secret: repr(Holder(secret)),
    "inside a list": lambda secret: str([secret]),
    "msgspec JSON": lambda secret: msgspec.json.encode(Holder(secret), enc_hook=encode_secret).decode(),
    "msgspec MessagePack": lambda secret: str(msgspec.msgpack.encode(Holder(secret), enc_hook=encode_secret)),
    "built-in JSON with str": lambda secret: json.dumps({"key": secret}, default=str),
}


@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
def test_every_way_to_show_a_secret_shows_stars(show: Callable[[Secret], str]) -> None:
    shown = show(Secret(PLANTED))
    assert PLANTED not in shown
    assert "***" in shown


def test_reveal_gives_the_text() -> None:
    assert Secret(PLANTED).reveal() == PLANTED


def test_without_the_hook_msgspec_refuses_and_does_not_quote_the_secret() -> None:
    with pytest.raises(TypeError) as refused:
        msgspec.json.encode(Holder(Secret(PLANTED)))
    assert PLANTED not in "".join(traceback.format_exception(refused.value))


def test_the_hook_leaves_other_types_refused() -> None:
    with pytest.raises(NotImplementedError, match="complex"):
        encode_secret(1j)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Secret("a"), Secret("a"), True),
        (Secret("a"), Secret("b"), False),
        (Secret("ñ"), Secret("ñ"), True),
        (Secret("\udcff"), Secret("\udcff"), True),
        (Secret("\udcff"), Secret("\udcfe"), False),
        (Secret(), Secret(""), True),
        (Secret("a"), "a", False),
        (Secret("a"), "***", False),
        (Secret(""), None, False),
    ],
)
def test_secrets_equal_only_secrets_of_the_same_text(one: Secret, other: object, equal: bool) -> None:
    assert (one == other) is equal
    assert (one != other) is not equal


def test_equal_secrets_hash_alike() -> None:
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2


def test_an_empty_secret_is_false_and_shows_that_it_is_empty() -> None:
    assert not Secret("")
    assert repr(Secret("")) == "Secret('')"
    assert Secret("a")
