"""Everything fits on a screen or two: modules, classes, functions, argument lists."""

import ast
from pathlib import Path

from tests.contract.source import modules, name_of, nodes_of

MODULE_LINES, CLASS_LINES, FUNCTION_LINES, ARGUMENTS = 300, 200, 60, 8


def test_modules_and_all_in_them_keep_to_their_sizes() -> None:
    assert [f"{name_of(path)}: {found}" for path in modules() for found in _too_large_in(path)] == []


def _too_large_in(path: Path) -> list[str]:
    lines = len(path.read_text("utf-8").splitlines())
    too_long = [f"module: {lines} lines"] if lines > MODULE_LINES else []
    return too_long + [line for node in nodes_of(path) for line in _too_large(node)]


def _too_large(node: ast.AST) -> list[str]:
    match node:
        case ast.ClassDef():
            return [f"{node.name}: {_lines(node)} lines"] if _lines(node) > CLASS_LINES else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            found = [f"{node.name}: {_lines(node)} lines"] if _lines(node) > FUNCTION_LINES else []
            count = _arguments(node.args)
            return [*found, f"{node.name}: {count} arguments"] if count > ARGUMENTS else found
    return []


def _lines(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def _arguments(arguments: ast.arguments) -> int:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([a for a in named if a.arg not in ("self", "cls")]) + bool(arguments.vararg) + bool(arguments.kwarg)
