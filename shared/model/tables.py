"""Loads the tables beside the code that uses them."""

from importlib.resources import files
from typing import TypeVar

import msgspec

T = TypeVar("T")


def load_table(package: str, name: str, kind: type[T]) -> T:
    """The TOML file `name` of `package` as a `kind`; `msgspec.ValidationError` says which key is wrong."""
    return msgspec.toml.decode(files(package).joinpath(name).read_bytes(), type=kind)
