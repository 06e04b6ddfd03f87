"""What expressions cost: a limit that nothing in them can catch, and a patience after which others have their turn."""

from __future__ import annotations

import pytest

from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import OVER_BUDGET, CelBudgetError, CelPatienceError, CelRuntimeError
from mooring.kube.cel.evaluation import LazyValue
from mooring.kube.cel.program import PER_CALL_LIMIT

ENVIRONMENT = Environment(
    {
        **dict.fromkeys(("numbers", "few", "array"), "list<int>"),
        "text": "string",
        **dict.fromkeys(("given", "variables"), "dyn"),
    }
)
NUMBERS = list(range(1000))


# As Kubernetes' own tests count them.
COSTS = {
    "type(given) == int": 3,
    "text.startsWith('Rook')": 3,
    "!text.startsWith('knight')": 4,
    "text.matches('^[^0-9]*$')": 7,
    "size(text) == 12": 3,
    "text.charAt(3) == 'k'": 3,
    "text.indexOf('o') == 1": 3,
    "text.replace(' ', 'x') == 'Rookxtakesx👑'": 6,
    "text.split(' ') == ['Rook', 'takes', '👑']": 5,
    "text.substring(5) == 'takes 👑'": 4,
    "text.substring(4, 10).trim() == 'takes'": 5,
    "text.lowerAscii() == text.lowerAscii()": 8,
    "'%o %o %o'.format([7, 8, 9]) == '7 10 11'": 2,
    "1 in few": 4,
    "few + few == [1, 2, 3, 1, 2, 3]": 4,
    "array.all(e, e > 0)": 42,
    "array.exists(e, e > 2)": 35,
    "!array.all(e, e < 2)": 20,
    "!array.exists(e, e < 0)": 51,
    "array.all(i, e, e > 0)": 42,
    "isQuantity(text) || true": 3,
    'quantity("50M").isLessThan(quantity("100M"))': 3,
    'quantity("50k").add(quantity("20")) == quantity("50.02k")': 5,
    "optional.of('a').hasValue()": 2,
    "lists.range(4) == [0, 1, 2, 3]": 16,
    "[5, 1, 2, 3].reverse() == [3, 2, 1, 5]": 16,
    "[1, 2, 3, 4].slice(1, 3) == [2, 3]": 14,
    "[4, 3, 2, 1].sort() == [1, 2, 3, 4]": 44,
    "[-2, 5, -2, 1, 1, 5, -2, 1].distinct() == [-2, 5, 1]": 140,
}


@pytest.mark.parametrize("expression", COSTS)
def test_every_step_has_the_cost_that_it_has_in_kubernetes(expression: str) -> None:
    variables = {"few": [1, 2, 3], "array": [1, 1, 2, 2, 3, 3, 4, 5], "text": "Rook takes 👑", "given": 1}
    assert ENVIRONMENT.compile(expression).run(variables) == (True, COSTS[expression])


LOOPS = "numbers.all(a, numbers.all(b, a + b >= 0))"


@pytest.mark.parametrize("expression", [LOOPS, f"({LOOPS}) || true", f"!({LOOPS}) && false", f"[1].all(x, {LOOPS})"])
def test_an_expression_that_costs_too_much_is_stopped_wherever_the_cost_arises(expression: str) -> None:
    with pytest.raises(CelBudgetError) as caught:
        ENVIRONMENT.compile(expression).run({"numbers": NUMBERS})

    assert caught.value.message == OVER_BUDGET
    assert PER_CALL_LIMIT < caught.value.cost < PER_CALL_LIMIT + 100


def test_text_that_grows_is_paid_for_as_it_grows() -> None:
    doubled = "given"
    for _ in range(7):
        doubled = f"[{doubled}].map(x, x + x)[0]"
    with pytest.raises(CelBudgetError):
        ENVIRONMENT.compile(f"size({doubled}) > 0").run({"given": "x" * 100_000})


def test_patience_ends_before_the_budget_does() -> None:
    program = ENVIRONMENT.compile("numbers.all(a, a >= 0)")
    with pytest.raises(CelPatienceError):
        program.run({"numbers": NUMBERS}, patience=1000)

    assert program.run({"numbers": NUMBERS})[0] is True


def test_an_error_counts_only_where_it_decides() -> None:
    program = ENVIRONMENT.compile("numbers.exists(x, 6 / x == 2)")
    assert program.evaluate({"numbers": [0, 3]}) is True
    with pytest.raises(CelRuntimeError) as caught:
        program.evaluate({"numbers": [0, 4]})

    assert caught.value.message == "division by zero"


def test_a_variable_is_evaluated_once_and_only_if_it_is_used() -> None:
    asked = []

    def find(limit: int, patience: int) -> tuple[int, int]:
        asked.append(limit)
        return 3, 50

    variables = {"variables": {"three": LazyValue(find), "unused": LazyValue(find)}}
    program = ENVIRONMENT.compile("variables.three + variables.three == 6")
    value, cost = program.run(variables)
    assert (value, len(asked)) == (True, 1)
    assert cost == 56


def test_lists_that_a_loop_builds_are_not_shared_with_its_input() -> None:
    program = ENVIRONMENT.compile(
        "numbers.map(a, numbers.filter(b, b > a)) == [[2, 3], [3], []] && numbers == [1, 2, 3]"
    )
    assert program.evaluate({"numbers": [1, 2, 3]}) is True
