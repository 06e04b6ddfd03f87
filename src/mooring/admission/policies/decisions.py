"""What a policy says of one request with one set of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mooring.admission.conditions import NO_BUDGET, ConditionError, matches_conditions
from mooring.admission.policies.policy import Policy
from mooring.kube.cel.admission import POLICY_BUDGET, admission_environment, compile_to, variables_type
from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import CelCompileError, CelPatienceError, CelRuntimeError
from mooring.kube.cel.evaluation import LazyValue
from mooring.kube.cel.program import PER_CALL_LIMIT, CelProgram
from mooring.kube.cel.types import DYN, CelType
from mooring.kube.cel.values import type_name
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object

__all__ = ["PolicyFailure", "decide"]

_KEPT_POLICIES: Final = 256
_MAX_MESSAGE_BYTES: Final = 5 * 1024
_MAX_ANNOTATION_BYTES: Final = 10 * 1024


class PolicyFailure(NamedTuple):
    """A validation that failed, or that has no value; `place` is where it stands among those of the policy. `always`
    denies whatever the binding does with failures."""

    message: str
    reason: str = ""
    always: bool = False
    place: int = 0


@dataclass(frozen=True, slots=True)
class _Validation:
    program: CelProgram | str
    message_program: CelProgram | None
    expression: str
    message: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Compiled:
    """The expressions of a policy; a text in the place of a program says why there is none."""

    variables: Mapping[str, CelProgram | str]
    validations: tuple[_Validation, ...]
    annotations: tuple[tuple[str, CelProgram | str], ...]


def decide(
    policy: Policy, variables: Mapping[str, Any], patience: int | None = None
) -> tuple[list[PolicyFailure], dict[str, str]]:
    """The failures of a request, and what the policy notes of it in the audit log. Raises CelPatienceError."""
    conditions = policy.spec.get("matchConditions") or ()
    try:
        if not matches_conditions(conditions, variables, params=True, fails_open=policy.fails_open, patience=patience):
            return [], {}
    except ConditionError as error:
        return [PolicyFailure(str(error))], {}
    run = _Run(_compiled(policy), variables, patience)
    try:
        return run.failures(policy.fails_open), run.annotations
    except _OutOfBudget:
        return ([] if policy.fails_open else [PolicyFailure(NO_BUDGET)]), {}


class _OutOfBudget(Exception):
    pass


class _Run:
    def __init__(self, compiled: _Compiled, variables: Mapping[str, Any], patience: int | None) -> None:
        self._compiled = compiled
        self._patience = patience
        self._budget = POLICY_BUDGET
        self.annotations: dict[str, str] = {}
        self._variables = {
            **variables,
            "variables": {name: LazyValue(self._finder(name, program)) for name, program in compiled.variables.items()},
        }

    def _finder(self, name: str, program: CelProgram | str) -> Callable[[int, int], tuple[Any, int]]:
        def find(limit: int, patience: int) -> tuple[Any, int]:
            head = f"composited variable {go_quote(name)} fails to"
            if isinstance(program, str):
                raise CelRuntimeError(f"{head} compile: {program}")
            try:
                return program.run(self._variables, PER_CALL_LIMIT, patience)
            except CelPatienceError:
                raise
            except CelRuntimeError as error:
                failed = CelRuntimeError(f"{head} evaluate: {error.message}")
                failed.cost = error.cost
                raise failed from None

        return find

    def failures(self, fails_open: bool) -> list[PolicyFailure]:
        found = []
        for place, validation in enumerate(self._compiled.validations):
            try:
                value = self._value(validation.program)
            except CelRuntimeError as error:
                if not fails_open:
                    found.append(PolicyFailure(error.message, place=place))
                continue
            if value is not True:
                found.append(PolicyFailure(self._message(validation), validation.reason, place=place))
        for key, program in self._compiled.annotations:
            try:
                value = self._value(program)
            except CelRuntimeError as error:
                if not fails_open:
                    found.append(PolicyFailure(error.message, always=True))
                continue
            if isinstance(value, str):
                if shown := value.strip():
                    self.annotations[key] = shown.encode()[:_MAX_ANNOTATION_BYTES].decode(errors="ignore")
            elif value is not None:
                text = program.text if isinstance(program, CelProgram) else ""
                detail = f"valueExpression '{text}' resulted in unsupported return type: {type_name(value)}. "
                found.append(PolicyFailure(f"{detail}Return type must be either string or null.", always=True))
        return found

    def _value(self, program: CelProgram | str) -> Any:
        """Raises CelRuntimeError, with the text that is told to the user."""
        if isinstance(program, str):
            raise CelRuntimeError(f"compilation error: {program}")
        try:
            value, cost = program.run(self._variables, patience=self._patience)
        except CelPatienceError:
            raise
        except CelRuntimeError as error:
            self._pay(error.cost)
            raise CelRuntimeError(f"expression '{program.text}' resulted in error: {error.message}") from None
        self._pay(cost)
        return value

    def _pay(self, cost: int) -> None:
        self._budget -= cost
        if self._budget < 0:
            raise _OutOfBudget

    def _message(self, validation: _Validation) -> str:
        text = ""
        if validation.message_program is not None:
            try:
                value = self._value(validation.message_program)
                text = value.strip() if isinstance(value, str) else ""
            except CelPatienceError:
                raise
            except CelRuntimeError:
                text = ""
        if "\n" in text or len(text.encode()) > _MAX_MESSAGE_BYTES:
            text = ""
        return text or validation.message.strip() or f"failed expression: {validation.expression.strip()}"


@lru_cache(_KEPT_POLICIES)
def _compiled(policy: Policy) -> _Compiled:
    spec, params = policy.spec, policy.param_kind is not None
    fields: dict[str, CelType] = {}
    variables: dict[str, CelProgram | str] = {}
    environment = admission_environment(params=params, authorizer=True)
    for each in spec.get("variables") or ():
        with_others = environment.with_variables({"variables": variables_type(dict(fields))})
        program = _program(with_others, each["expression"], ())
        variables[each["name"]] = program
        fields[each["name"]] = program.result if isinstance(program, CelProgram) else DYN
    declared = {"variables": variables_type(fields)}
    whole = environment.with_variables(declared)
    messages = admission_environment(params=True, authorizer=False).with_variables(declared)
    return _Compiled(
        variables,
        tuple(_validation(each, whole, messages) for each in spec.get("validations") or ()),
        tuple(
            (each["key"], _program(whole, each["valueExpression"], ("string", "null")))
            for each in spec.get("auditAnnotations") or ()
        ),
    )


def _validation(spec: Object, environment: Environment, messages: Environment) -> _Validation:
    message = spec.get("messageExpression")
    program = _program(messages, message, ("string",)) if message else None
    return _Validation(
        _program(environment, spec["expression"], ("bool",)),
        program if isinstance(program, CelProgram) else None,
        spec["expression"],
        spec.get("message") or "",
        spec.get("reason") or "",
    )


def _program(environment: Environment, expression: str, kinds: tuple[str, ...]) -> CelProgram | str:
    try:
        return compile_to(environment, expression, kinds)
    except CelCompileError as error:
        return error.message
