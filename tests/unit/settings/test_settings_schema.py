"""Rules every setting keeps, so that adding one is adding one field."""

from typing import Annotated, Literal

import msgspec
import pytest

from shared.secret import Secret
from shared.settings import Settings
from shared.settings.fields import Field, all_fields
from shared.settings.sources import ALIASES, RESERVED

FIELDS = all_fields()
BOOLEAN = Field(section="x", name="on", kind=Annotated[bool, msgspec.Meta(description="On.")], default=False)


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_a_setting_is_described_bounded_and_has_an_allowed_default(field: Field) -> None:
    assert (field.meta.description or "").endswith(".")
    assert field.choices or field.base in (int, float, str, bool, Secret)
    if field.base in (int, float):
        assert field.meta.ge is not None
        assert field.meta.le is not None
    assert field.convert(field.default) == field.default
    assert type(field.convert(field.default)) is type(field.default)


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_the_unit_in_the_name_is_the_unit_in_the_description(field: Field) -> None:
    units = {"_s": "Seconds", "_bytes": "Bytes", "_chars": "Characters", "_tokens": "Tokens", "_days": "Days"}
    for ending, unit in units.items():
        if field.name.endswith(ending):
            assert (field.meta.description or "").startswith(unit)


def test_no_two_settings_share_a_variable() -> None:
    plain = [field.variable for field in FIELDS.values()]
    every = [*plain, *(f"{name}_FILE" for name in plain), *RESERVED, *ALIASES]
    assert len(set(every)) == len(every)
    assert not [name for name in [*plain, *RESERVED, *ALIASES] if name.endswith("_FILE")]


def test_an_alias_stands_for_a_setting() -> None:
    assert [key for key in ALIASES.values() if key not in FIELDS] == []


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Settings().http.port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("1", True), ("false", False), ("FALSE", False), ("0", False)]
)
def test_a_switch_reads_true_and_false(text: str, value: bool) -> None:
    assert BOOLEAN.convert(BOOLEAN.parse(text)) is value


@pytest.mark.parametrize("text", ["yes", "2", "on", ""])
def test_a_switch_refuses_other_words(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        BOOLEAN.convert(BOOLEAN.parse(text))


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        (Annotated[bool, msgspec.Meta()], "true or false"),
        (Annotated[int, msgspec.Meta(ge=1, le=2)], "integer from 1 to 2"),
        (Annotated[float, msgspec.Meta(ge=0.5, le=2)], "number from 0.5 to 2"),
        (Annotated[str, msgspec.Meta()], "text"),
        (Annotated[str, msgspec.Meta(min_length=1)], "text not empty"),
        (Annotated[str, msgspec.Meta(pattern="^a$")], "text matching ^a$"),
        (Annotated[Secret, msgspec.Meta()], "secret text"),
        (Annotated[Literal[1, 3], msgspec.Meta()], "one of 1, 3"),
        (Annotated[Literal["a", "b"], msgspec.Meta()], 'one of "a", "b"'),
    ],
)
def test_what_is_allowed_is_said_in_words(kind: object, allowed: str) -> None:
    assert Field(section="x", name="y", kind=kind, default=None).allowed == allowed


def test_a_setting_without_limits_or_description_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match=r"x\.y"):
        _ = Field(section="x", name="y", kind=Annotated[int, "no meta"], default=1).meta
