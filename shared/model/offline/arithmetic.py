"""Sums as people write them in chat, computed exactly."""

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

import msgspec

from shared.model.tables import load_table

_LIMIT_CHARS = 120
_DIGITS_AFTER_POINT = 6
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    words: list[tuple[str, str]]


_words = [
    (re.compile(pattern), replacement)
    for pattern, replacement in load_table("shared.model.offline", "arithmetic.toml", _Table).words
]


def evaluate(expression: str) -> str | None:
    """Return the value of a folded expression; `None` when it is no sum, or has no value."""
    if len(expression) > _LIMIT_CHARS:
        return None
    for pattern, replacement in _words:
        expression = pattern.sub(replacement, expression)
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        return _written(_value(tree)) if isinstance(tree, ast.BinOp) else None
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case _:
            raise ValueError(f"no arithmetic: {type(node).__name__}")


def _written(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.{_DIGITS_AFTER_POINT}f}".rstrip("0").rstrip(".")
