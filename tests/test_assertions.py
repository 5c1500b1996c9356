"""Every assertion of the tests can fail: it compares something, and its message is no second comparison."""

from __future__ import annotations

import ast

import pytest
from paths import TESTS

ALWAYS_TRUE = (ast.GeneratorExp, ast.Lambda, ast.JoinedStr)
CONDITIONS = (ast.Compare, ast.BoolOp)


def find_idle_assertions(source: str) -> list[int]:
    """Return the lines of assertions that hold whatever the code does, or that leave a comparison out.

    `assert a, b == (1, 2)` asserts `a`, and takes the comparison for its message.
    """
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert):
            is_filled = isinstance(node.test, (ast.Tuple, ast.List, ast.Set)) and node.test.elts
            is_constant = isinstance(node.test, ast.Constant) and node.test.value
            if is_filled or is_constant or isinstance(node.test, ALWAYS_TRUE) or isinstance(node.msg, CONDITIONS):
                lines.append(node.lineno)
    return lines


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.name)
def test_every_assertion_can_fail(path):
    assert find_idle_assertions(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("line", "is_idle"),
    [
        ("assert a, b == (1, 2)", True),
        ("assert a == 1, b == 2 and c", True),
        ("assert (x > 1 for x in a)", True),
        ("assert [a == 1]", True),
        ("assert True", True),
        ("assert (a, b) == (1, 2)", False),
        ("assert a, 'a is empty'", False),
        ("assert all(x > 1 for x in a), a", False),
        ("assert [] == a", False),
    ],
)
def test_idle_assertions_are_found(line, is_idle):
    assert bool(find_idle_assertions(line)) is is_idle
