"""The index the router's tests decide with: the shipped groups beside others whose words are easily confused."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.router.index import RoutingIndex, compile_index
from services.router.words import load_words
from shared.messages.routing import Tier
from shared.messages.tools import GroupDeclared
from shared.phrases import load_phrases

SHIPPED = Path(__file__).parents[3] / "services" / "tools" / "groups"
CONFUSABLE = Path(__file__).parent / "groups"
AT = datetime(2026, 1, 1, tzinfo=UTC)
TIERS: Mapping[str, Tier] = {"vision": "vision", "think": "deep"}


@pytest.fixture(scope="session")
def declared() -> list[GroupDeclared]:
    """Every group configured, but `shell`."""
    folders = [SHIPPED / group / "phrases" for group in ("notes", "reminders", "memory")]
    folders += sorted(CONFUSABLE.iterdir())
    names = [f.parent.name if f.name == "phrases" else f.name for f in folders]
    return [
        GroupDeclared(
            group=name,
            tools=[],
            at=AT,
            tier=TIERS.get(name, "fast"),
            phrases=load_phrases(folder),
            configured=name != "shell",
            missing=["SHELL_ROOT"] if name == "shell" else [],
        )
        for name, folder in zip(names, folders, strict=True)
    ]


@pytest.fixture(scope="session")
def index(declared: list[GroupDeclared]) -> RoutingIndex:
    """The index without `shell`, which is not configured."""
    return compile_index(declared, load_words())


@pytest.fixture(scope="session")
def index_with_shell(declared: list[GroupDeclared]) -> RoutingIndex:
    """The index with every group configured."""
    everything = [GroupDeclared(group=g.group, tools=[], at=AT, tier=g.tier, phrases=g.phrases) for g in declared]
    return compile_index(everything, load_words())
