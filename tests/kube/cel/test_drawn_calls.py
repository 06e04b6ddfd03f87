"""Every function of expressions with drawn arguments: what a call comes to, what it costs, and may cost at most."""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Any, Final

import pytest

from mooring.kube.cel import functions
from mooring.kube.cel.admission import admission_environment, compile_to, variables_type
from mooring.kube.cel.authorizer import Authorizer, CheckAnswer, PathCheck, ResourceCheck
from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import CelBudgetError, CelCompileError, CelPatienceError, CelRuntimeError
from mooring.kube.cel.evaluation import LazyValue
from mooring.kube.cel.functions.authorization import RESOURCE_CHECK
from mooring.kube.cel.program import CelProgram
from mooring.kube.cel.rules.extents import extent_of
from mooring.kube.cel.rules.readers import reader_of
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.cel.types import CelType, parse_type
from mooring.kube.schemas import structural_schema
from tests.conformance.language.recordings import read
from tests.conformance.language.samples import SPEC, VALUES
from tests.kube.cel.arguments import ARGUMENTS, OPERATORS, OTHERS, RIGHTS
from tests.support.golden import same_as_recorded

_EACH: Final = 6


@cache
def _environment() -> tuple[Environment, Any, Any]:
    """Expressions about `self`, the sizes of its parts, and how its values are read."""
    schema = structural_schema({"type": "object", "properties": {"spec": SPEC}}).properties["spec"]
    kind, extent = schema_type(schema, "selfType", resource=False), extent_of(schema, resource=False)
    assert kind is not None
    assert extent is not None
    return Environment({"self": kind}), extent.size_at, reader_of(schema)


def _said(expression: str) -> str:
    environment, size_at, reader = _environment()
    try:
        program = environment.compile(expression, size_at)
    except CelCompileError as error:
        return f"! {error.message}"
    lines = [f"{program.result} at most {program.worst_cost}"]
    lines += [_run(program, {"self": reader(value)}) for value in VALUES[:2]]
    return "\n".join(lines)


def _run(program: CelProgram, variables: dict[str, Any]) -> str:
    try:
        value, cost = program.run(variables)
    except CelRuntimeError as error:
        return f"! {error.message} {error.missing_key} {error.cost}"
    # Where a function lies in memory is no part of what it is.
    return f"{re.sub(' at 0x[0-9a-f]+', '', repr(value))} {cost}"


def _calls() -> list[str]:
    """Calls of every overload that is declared, each with arguments of its types, and some that are not."""
    draw, found = Random(1), list[str]()
    for name, overloads in functions._BY_NAME.items():
        if not name.isidentifier() and "." not in name:
            continue
        for overload in overloads:
            if any("authorization" in kind for kind in overload.parameters):
                continue
            for _ in range(_EACH):
                arguments = [_argument(draw, kind) for kind in overload.parameters]
                if overload.member:
                    found.append(f"{arguments[0]}.{name}({', '.join(arguments[1:])})")
                else:
                    found.append(f"{name}({', '.join(arguments)})")
    return found


def _argument(draw: Random, kind: str) -> str:
    if draw.random() < 0.03:
        kind = draw.choice([*ARGUMENTS])
    plain = kind.partition("<")[0]
    pool = ARGUMENTS.get(plain) or ARGUMENTS[draw.choice(("string", "int", "list", "double"))]
    return draw.choice(pool)


def _operations() -> list[str]:
    draw, found = Random(2), list[str]()
    kinds = [*ARGUMENTS]
    for sign in OPERATORS:
        for kind in kinds:
            for _ in range(2):
                right = kind if draw.random() < 0.75 else draw.choice(kinds)
                found.append(f"{draw.choice(ARGUMENTS[kind])} {sign} {draw.choice(ARGUMENTS[right])}")
    found += [f"{sign}({draw.choice(pool)})" for sign in "-!" for pool in ARGUMENTS.values()]
    found += [f"{a} {sign} {b}" for sign in OPERATORS[:5] for a in ARGUMENTS["int"] for b in ARGUMENTS["int"][:6]]
    return found


def test_calls_of_every_function() -> None:
    same_as_recorded("kube-cel-calls", {each: _said(each) for each in _calls()})


def test_operators_between_values_of_every_type() -> None:
    same_as_recorded("kube-cel-operators", {each: _said(each) for each in (*_operations(), *OTHERS)})


def test_what_recorded_expressions_cost() -> None:
    """Their values are held to a real server's elsewhere; what they cost there cannot be read off its answers."""
    valued = [each for each, wanted in read("expressions") if isinstance(wanted, list)]
    same_as_recorded("kube-cel-costs", {each: _said(each) for each in valued[::24]})


def test_a_limit_stops_an_expression_that_costs_one_more() -> None:
    environment, _, reader = _environment()
    variables = {"self": reader(VALUES[0])}
    for expression in OTHERS:
        try:
            program = environment.compile(expression)
            value, cost = program.run(variables)
        except (CelCompileError, CelRuntimeError):
            continue
        assert program.run(variables, cost, cost) == (value, cost), expression
        with pytest.raises(CelBudgetError) as stopped:
            program.run(variables, cost - 1)
        assert not isinstance(stopped.value, CelPatienceError), expression
        assert stopped.value.cost >= cost
        with pytest.raises(CelPatienceError):
            program.run(variables, cost, cost - 1)


def test_a_variable_that_has_no_value_says_so_each_time_and_is_paid_once() -> None:
    asked = []

    def find(limit: int, patience: int) -> tuple[Any, int]:
        asked.append((limit, patience))
        error = CelRuntimeError("none", "key")
        error.cost = 40
        raise error

    program = Environment({"lazy": "dyn"}).compile("[lazy == 1 || true, lazy == 1 || true] == [true, true]")
    value, cost = program.run({"lazy": LazyValue(find)}, 1000, 500)
    plain = Environment({"lazy": "dyn"}).compile("[lazy == 1 || true, lazy == 1 || true] == [true, true]")
    assert value is True
    assert asked == [(989, 489)], "a list costs 10, and a variable one"
    assert cost == plain.run({"lazy": 2})[1] + 40 - 2

    def impatient(limit: int, patience: int) -> tuple[Any, int]:
        asked.append((limit, patience))
        raise CelPatienceError("later")

    lazy = LazyValue(impatient)
    for _ in range(2):
        with pytest.raises(CelPatienceError):
            program.run({"lazy": lazy})
    assert len(asked) == 3


def test_rights_and_requests_in_expressions() -> None:
    said, asked = {}, list[str]()

    def ask(check: PathCheck | ResourceCheck, verb: str) -> CheckAnswer:
        facts = {name: getattr(check, name) for name in check.__slots__ if name != "authorizer"}
        asked.append(f"{verb} {facts} as {check.authorizer.service_account}")
        return CheckAnswer(verb != "delete", f"because of {verb}", "" if verb else "no verb")

    authorizer = Authorizer(ask)
    for params in (True, False):
        for rights in (True, False):
            environment = admission_environment(params=params, authorizer=rights)
            for expression in RIGHTS:
                asked.clear()
                try:
                    program = environment.compile(expression, lambda path: None)
                except CelCompileError as error:
                    said[f"{params} {rights} {expression}"] = f"! {error.message}"
                    continue
                variables = {
                    "authorizer": authorizer,
                    "authorizer.requestResource": ResourceCheck(authorizer, "", "pods", name="p"),
                    "object": {"spec": {"x": 1}},
                    "oldObject": None,
                    "params": {"x": 5},
                    "request": {
                        "dryRun": True,
                        "kind": {"kind": "Pod"},
                        "operation": "CREATE",
                        "userInfo": {"groups": ["x"]},
                    },
                    "namespaceObject": {
                        "metadata": {"generation": 3, "labels": {"a": "b"}},
                        "spec": {"finalizers": []},
                    },
                }
                said[f"{params} {rights} {expression}"] = f"{program.result} {_run(program, variables)} {asked}"
    same_as_recorded("kube-cel-rights", said)


def test_an_expression_must_have_a_value_of_one_of_some_types() -> None:
    environment = Environment({"variables": variables_type({"n": parse_type("int")})})
    assert compile_to(environment, "variables.n + 1").run({"variables": {"n": 1}})[0] == 2
    assert compile_to(environment, "'a'", ("string", "null")).result == parse_type("string")
    assert compile_to(environment, "null", ("string", "null")).result == parse_type("null")
    for kinds, message in (
        (("bool",), "must evaluate to bool but got int"),
        (("string", "null"), "must evaluate to one of [string null_type] but got int"),
    ):
        with pytest.raises(CelCompileError) as refused:
            compile_to(environment, "variables.n", kinds)
        assert refused.value.message == message


def test_what_is_asked_of_rights_has_types() -> None:
    environment = Environment({"check": RESOURCE_CHECK, "any": CelType("dyn")})
    assert str(environment.compile("check.check('get')").result) == "kubernetes.authorization.Decision"
    with pytest.raises(CelCompileError, match="no matching overload"):
        environment.compile("check.check(1)")
