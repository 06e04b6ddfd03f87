"""Expressions: what is accepted, what they say, and how errors read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import OVER_BUDGET, CelCompileError, CelRuntimeError
from mooring.kube.cel.types import object_type, parse_type
from mooring.kube.quantities import parse_quantity
from mooring.kube.versions import parse_version

DEVICE = {
    "driver": parse_type("string"),
    "attributes": parse_type("map<string,map<string,dyn>>"),
    "capacity": parse_type("map<string,map<string,kubernetes.Quantity>>"),
}
ENVIRONMENT = Environment({"device": object_type("device", DEVICE), "numbers": "list<int>"}, bindings=True)

VARIABLES = {
    "device": {
        "driver": "gpu.example.com",
        "attributes": {
            "gpu": {"model": "a100", "index": 3, "healthy": True, "version": parse_version("1.10.3")},
        },
        "capacity": {"gpu": {"memory": parse_quantity("40960Mi")}},
    },
    "numbers": [1, 2, 3],
}

TRUE = (
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu"].model.startsWith("a") && device.attributes["gpu"].index % 2 == 1',
    'device.attributes["gpu"].model.matches("^(a100|h100)$")',
    'has(device.attributes["gpu"].model) && !has(device.attributes["gpu"].colour)',
    'has(device.driver) && device.attributes["gpu"].healthy',
    'device.attributes["gpu"].?colour.orValue("none") == "none"',
    'cel.bind(gpu, device.attributes["gpu"], gpu.index > 0 && gpu.model == "a100")',
    '["a100", "h100"].exists(model, device.attributes["gpu"].model == model)',
    'device.capacity["gpu"].memory == quantity("40Gi")',
    'device.capacity["gpu"].memory.compareTo(quantity("40Gi")) == 0',
    'device.capacity["gpu"].memory.isGreaterThan(quantity("40G"))',
    'device.capacity["gpu"].memory.isLessThan(quantity("41Gi"))',
    'device.capacity["gpu"].memory.sub(quantity("39Gi")) == quantity("1Gi")',
    'quantity("1k").asInteger() == 1000 && quantity("1500m").asApproximateFloat() == 1.5',
    'sign(quantity("-1")) == -1 && !quantity("1.5").isInteger() && quantity("1").add(1).isInteger()',
    'isQuantity("1Gi") && !isQuantity("1Gx")',
    'device.attributes["gpu"].version.isGreaterThan(semver("1.2.0"))',
    'device.attributes["gpu"].version.compareTo(semver("2.0.0")) < 0',
    'device.attributes["gpu"].version.major() == 1 && semver("v2.03", true).minor() == 3',
    'semver("1.0.0-rc.2").isLessThan(semver("1.0.0")) && semver("1.2.3").patch() == 3',
    'isSemver("1.2.3") && !isSemver("1.2") && isSemver("1.2", true)',
    'semver("1.0.0+a") == semver("1.0.0+b")',
    '"a1b22".find("[0-9]+") == "1" && "a1b22".findAll("[0-9]+") == ["1", "22"] && "a1b2".findAll("[0-9]", 1) == ["1"]',
    "numbers.sum() == 6 && numbers.max() == 3 && numbers.min() == 1 && numbers.isSorted()",
    'sets.contains(["a", "b"], ["a"]) && sets.intersects([1, 2], [2, 3]) && sets.equivalent([1, 2], [2, 1])',
    "1 < 1.5 && 2u > 1",
    "1 / 0 == 1 || true",
)


@pytest.mark.parametrize("expression", TRUE)
def test_an_expression_says_what_it_says_to_kubernetes(expression: str) -> None:
    assert ENVIRONMENT.condition(expression).holds(VARIABLES) is True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("device.driver == 3", "found no matching overload for '_==_' applied to '(string, int)'"),
        (
            'device.capacity["gpu"].memory > 3',
            "overload for '_>_' applied to '(kubernetes.Quantity, int)'",
        ),
        ("device.drivr == ''", "undefined field 'drivr'"),
        ("1 == 1.0", "found no matching overload for '_==_' applied to '(int, double)'"),
        ("[[]].all(x, x == [x])", "overload for '_==_' applied to '(list(dyn), list(list(dyn)))'"),
        ("1 < 1.5 && nobody", "undeclared reference to 'nobody'"),
        ("1 +", "ERROR: <input>:1:4: Syntax error"),
        ("!" + "(" * 40 + "true" + ")" * 40, "ERROR: <input>:-1:0: expression recursion limit exceeded: 32"),
    ],
)
def test_an_expression_whose_types_do_not_fit_is_refused(expression: str, message: str) -> None:
    with pytest.raises(CelCompileError) as caught:
        ENVIRONMENT.condition(expression)

    assert message in caught.value.message
    assert "INVALID_ARGUMENT" not in caught.value.message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('device.attributes["gpu"].colour == "red"', "no such key: colour"),
        ("1 / (numbers[0] - 1) == 1", "division by zero"),
        ("numbers[7] == 1", "index out of bounds: 7"),
        ('device.attributes["gpu"].model > 3', "no such overload"),
        ('device.attributes["gpu"].version.isLessThan(quantity("1"))', "no such overload"),
        ('quantity("many") == quantity("1")', "quantities must match the regular expression"),
        ('semver("1.2") == semver("1.2.0")', "No Major.Minor.Patch elements found"),
        ('device.attributes["gpu"].model', "CEL result of type string could not be converted to bool"),
        ("[].max() == 1", "max called on empty list"),
        ('uint(["many"][0]) == 1u', "type conversion error from 'string' to 'uint'"),
        ('uint(["18446744073709551616"][0]) == 1u', "type conversion error from 'string' to 'uint'"),
    ],
)
def test_an_expression_without_a_value_says_why(expression: str, message: str) -> None:
    with pytest.raises(CelRuntimeError) as caught:
        ENVIRONMENT.condition(expression).holds(VARIABLES)

    assert caught.value.message.startswith(message)


def test_an_expression_that_goes_on_and_on_is_stopped() -> None:
    hundred = str(list(range(100)))
    program = ENVIRONMENT.condition(f"{hundred}.all(a, {hundred}.all(b, {hundred}.all(c, a + b + c >= 0)))")

    with pytest.raises(CelRuntimeError) as caught:
        program.holds(VARIABLES)

    assert caught.value.message == OVER_BUDGET


def test_the_library_is_loaded_with_the_first_expression_and_not_before() -> None:
    check = "import sys, mooring.kube.cel.environment; sys.exit('cel_expr_python' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@pytest.mark.parametrize(
    ("quotient", "value"),
    [
        ("1.0 / 0.0", "+Inf"),
        ("-1.0 / 0.0", "-Inf"),
        ("1.0 / -0.0", "-Inf"),
        ("-1.0 / -0.0", "+Inf"),
        ("0.0 / 0.0", "NaN"),
        ("double('NaN') / 0.0", "NaN"),
        ("3.0 / 2.0", "1.5"),
    ],
)
def test_doubles_are_divided_by_zero(quotient: str, value: str) -> None:
    assert Environment({}).compile(f"string({quotient})").evaluate({}) == value
