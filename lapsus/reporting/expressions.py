"""Conditions on numbers that a user writes, such as `drop > 5 and p < 0.05`.

Only numbers, names, arithmetic, comparisons and `and`, `or`, `not` are accepted; the text is never evaluated as code.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from lapsus.io.predictions import format_quoted

ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and the names in it."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]

    def evaluate(self, values: Mapping[str, float | None]) -> bool:
        """Return whether the condition holds; False where one of its values is unknown.

        >>> parse_condition("drop > 5 and p < 0.05", ["drop", "p"]).evaluate({"drop": 7.5, "p": 0.01})
        True
        """
        known = {name: value for name in self.names if (value := values[name]) is not None}
        try:
            return len(known) == len(self.names) and bool(_evaluate(self.tree, known))
        except ZeroDivisionError:
            assignments = ", ".join(f"{name}={value:g}" for name, value in known.items())
            raise ValueError(
                f'{self.text!r} divides by 0 where {assignments}; multiply instead, as in "drop > 0.5 * old_drop".'
            ) from None


def parse_condition(text: str, names: Collection[str]) -> Condition:
    """Parse a condition; only these names may occur in it.

    >>> parse_condition("drop >> 5", ["drop"])
    Traceback (most recent call last):
    ValueError: 'drop >> 5' is no condition; write one like "drop > 5 and p < 0.05" over 'drop'.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        tree = _JoinDots().visit(tree)
        used = tuple(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)))
        is_boolean = isinstance(tree, ast.Compare | ast.BoolOp) or (
            isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
        )
        is_valid = is_boolean and all(_is_supported(node) for node in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_valid = False
    if not is_valid or not set(used) <= set(names) or not used:
        raise ValueError(
            f'{text!r} is no condition; write one like "drop > 5 and p < 0.05" over {format_quoted(sorted(names), 30)}.'
        )
    return Condition(text, tree, used)


class _JoinDots(ast.NodeTransformer):
    """Turns `drop.high` and `typed.drop.high` into one name."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self.visit(node.value)
        return ast.Name(f"{value.id}.{node.attr}", ast.Load()) if isinstance(value, ast.Name) else node


def _is_supported(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.operator):
        return type(node) in ARITHMETIC
    if isinstance(node, ast.cmpop):
        return type(node) in COMPARISONS
    kinds = ast.Name | ast.Load | ast.Compare | ast.BoolOp | ast.boolop | ast.BinOp | ast.UnaryOp
    return isinstance(node, kinds | ast.USub | ast.UAdd | ast.Not)


def _evaluate(node: ast.AST, values: Mapping[str, float]) -> float:
    result: float | None = None
    match node:
        case ast.Constant(value=int() | float() as number):
            result = number
        case ast.Name(id=name):
            result = values[name]
        case ast.BinOp(left=left, op=op, right=right):
            result = ARITHMETIC[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            result = UNARY[type(op)](_evaluate(operand, values))
        case ast.BoolOp(op=op, values=parts):
            result = (all if isinstance(op, ast.And) else any)(_evaluate(part, values) for part in parts)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [_evaluate(side, values) for side in (left, *comparators)]
            result = all(COMPARISONS[type(op)](a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False))
    if result is None:
        raise TypeError(f"{node!r} was let through, but is not understood")
    return result
