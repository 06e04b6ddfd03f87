"""Functions and operators of expressions over many values each: texts almost right, numbers at the edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import CelCompileError, CelRuntimeError
from mooring.kube.cel.values import Uint
from tests.kube.cel.grids import ARITHMETIC, ASKED, DOUBLES, GRIDS, INTS, NAMED, NAMES, READ, UINTS
from tests.kube.drawn.drawing import variants
from tests.support.golden import same_as_recorded


def _line(environment: Environment, expression: str, grid: dict[str, Sequence[Any]]) -> str:
    try:
        program = environment.compile(expression)
    except CelCompileError as error:
        return f"! {error.message}"
    lines = [str(program.result)]
    for values in product(*grid.values()):
        try:
            value, cost = program.run(dict(zip(grid, values, strict=True)))
            said = f"{re.sub(' at 0x[0-9a-f]+', '', repr(value))} {cost}"
        except CelRuntimeError as error:
            said = f"! {error.message} {error.cost}"
        lines.append(f"{values!r}: {said}")
    return "\n".join(lines)


def _told(cases: Iterable[tuple[str, dict[str, Sequence[Any]]]]) -> dict[str, str]:
    """By expression; its variables have no type before they have a value."""
    found: dict[str, str] = {}
    for expression, grid in cases:
        found[f"{len(found)} {expression}"] = _line(Environment(dict.fromkeys(grid, "dyn")), expression, grid)
    return found


def test_texts_that_functions_read() -> None:
    environment, said = Environment({"text": "string"}), {}
    for number, (kind, expressions) in enumerate(ASKED.items()):
        texts = variants(number, READ[kind], "0159.:/-+aTZ%e #[", 12)
        for expression in expressions:
            said[expression] = _line(environment, expression, {"text": texts})
    for name in NAMED:
        texts = variants(99, NAMES, "aZ0-_./ ", 3)
        said[name] = _line(environment, f"format.{name}().validate(text)", {"text": texts})
        said[f"{name} by name"] = _line(
            environment, f"format.named('{name}').hasValue() && text == ''", {"text": ("", "a")}
        )
    same_as_recorded("kube-cel-texts", said)


def test_numbers_at_the_edges() -> None:
    kinds = {
        "int": INTS,
        "uint": UINTS,
        "double": DOUBLES,
        "mixed": (1, 2, Uint(1), 1.0, 1.5, "a", True, None, -1, float("nan"), 2**53 + 1),
    }
    cases: list[tuple[str, dict[str, Sequence[Any]]]] = [
        (f"a {sign} b", {"a": values, "b": values}) for sign in ARITHMETIC for values in kinds.values()
    ]
    same_as_recorded("kube-cel-numbers", _told(cases))


def test_functions_over_grids_of_values() -> None:
    same_as_recorded("kube-cel-grids", _told((each, grid) for grid, expressions in GRIDS for each in expressions))


def test_an_expression_that_is_nested_too_deeply_says_so() -> None:
    environment = Environment({"a": "dyn"})
    deep = "+".join(["a"] * 5000)
    said = _line(environment, deep, {"a": (1,)})
    assert said.startswith("! compilation failed: ")
