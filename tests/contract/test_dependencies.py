"""Every dependency is declared and explained in docs/dependencies.md: why, under which licence, instead of what."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.contract.source import ROOT, imports_of, modules, name_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OURS = {"shared", "services", "cli", "bench", "docs", "tests"}
# FastAPI is made of it and shows its classes; it is no choice of its own.
PART_OF = {"starlette": "fastapi"}

PROVIDERS = packages_distributions()


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0] for requirement in requirements}


RUNTIME = named(PROJECT["project"]["dependencies"])
DEVELOPMENT = named([r for extra in PROJECT["project"]["optional-dependencies"].values() for r in extra])
BUILD = named(PROJECT["build-system"]["requires"])


def rows() -> dict[str, list[str]]:
    """The cells of each table row of the page, by the package it begins with."""
    lines = re.findall(r"^\| `([\w.-]+)` \|(.*)\|$", (ROOT / "docs/dependencies.md").read_text("utf-8"), re.MULTILINE)
    return {package: [cell.strip() for cell in rest.split("|")] for package, rest in lines}


def test_the_page_has_a_row_for_each_dependency_and_no_other() -> None:
    assert sorted(rows()) == sorted(RUNTIME | DEVELOPMENT | BUILD)


@pytest.mark.parametrize("package", sorted(RUNTIME | DEVELOPMENT | BUILD))
def test_a_dependency_is_explained_with_its_licence_and_alternative(package: str) -> None:
    why, licence, instead = rows()[package]
    assert re.search(r"MIT|BSD|Apache|MPL|PSF|ISC", licence)
    assert min(len(why), len(instead)) > 10


def test_what_a_module_imports_is_declared() -> None:
    assert [f"{name_of(path)}: {top}" for path in modules() for top in _undeclared(path)] == []


def _undeclared(path: Path) -> list[str]:
    tops = {name.partition(".")[0] for name in imports_of(path)} - OURS - set(sys.stdlib_module_names)
    shipped = path.relative_to(ROOT).parts[0] in ("shared", "services", "cli")
    allowed = RUNTIME if shipped else RUNTIME | DEVELOPMENT
    return sorted(top for top in tops if not _packages(top) & allowed)


def _packages(top: str) -> set[str]:
    names = {PART_OF.get(top, top), *PROVIDERS.get(top, [])}
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}
