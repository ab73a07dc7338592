"""The product's source, read once: files, syntax trees, imports."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("shared", "services", "cli", "bench", "docs")
SERVICES = sorted(path.parent for path in ROOT.glob("services/*/__init__.py"))
_IGNORED = [".git/", *(ROOT / ".gitignore").read_text("utf-8").split()]
_IGNORED_FOLDERS = frozenset(line.strip("/") for line in _IGNORED if line.endswith("/"))
_IGNORED_FILES = [line for line in _IGNORED if not line.endswith("/")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file of the repository that `.gitignore` does not name."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not any(fnmatch(path.name, pattern) for pattern in _IGNORED_FOLDERS):
                yield from files(path)
        elif not any(fnmatch(path.name, pattern) for pattern in _IGNORED_FILES):
            yield path


def modules(*packages: str) -> list[Path]:
    """The Python files of the packages, of all that are ours when none is named."""
    return [path for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@cache
def imports_of(path: Path) -> set[str]:
    """The modules a file imports; `from a import b` counts as `a` and `a.b`, since `b` may be a module."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def called(node: ast.AST) -> str:
    """The last name of what a call calls; empty for anything else."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return ""
