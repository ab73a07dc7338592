"""The groups that exist: one package each under `groups/`, found by looking there."""

import importlib
import pkgutil
from collections.abc import Sequence

from services.tools import groups
from services.tools.declare import Group
from shared.errors import JadaError


class UnknownGroup(JadaError):
    """A group was named that does not exist."""


def find_groups(wanted: Sequence[str] = ()) -> list[Group]:
    """The groups named, or all; a group's package has a module-level `group`. `UnknownGroup` lists what there is."""
    names = sorted(module.name for module in pkgutil.iter_modules(groups.__path__))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise UnknownGroup(f"no tool group {', '.join(unknown)}; there are: {', '.join(names)}")
    return [load_group(name) for name in names if not wanted or name in wanted]


def load_group(name: str) -> Group:
    """One group by the name of its package."""
    group = importlib.import_module(f"{groups.__name__}.{name}").group
    if not isinstance(group, Group):
        raise UnknownGroup(f"{name} has no `group`")
    return group
