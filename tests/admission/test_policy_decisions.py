"""Policies and conditions: what becomes of a request where an expression fails, or has no value."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.admission.conditions import NO_BUDGET, ConditionError, matches_conditions
from mooring.admission.policies import decisions
from mooring.admission.policies.decisions import PolicyFailure, decide
from mooring.admission.policies.policy import Policy, read_policies

REQUEST = {"operation": "CREATE", "userInfo": {"username": "ada"}}
VARIABLES = {"object": {"spec": {"replicas": 3}}, "oldObject": None, "request": REQUEST, "params": None}


def condition(expression: str) -> dict[str, str]:
    return {"name": "c", "expression": expression}


def policy(**spec: Any) -> Policy:
    made = {"metadata": {"name": "p"}, "spec": {"matchConstraints": {}, **spec}}
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}
    (found,) = read_policies([made], [binding])
    return found


@pytest.mark.parametrize(
    ("expressions", "fails_open", "matches"),
    [
        ((), False, True),
        (("object.spec.replicas == 3", "request.operation == 'CREATE'"), False, True),
        (("object.spec.replicas == 3", "object.spec.replicas == 4"), False, False),
        (("object.missing == 1", "false"), False, False),
        (("object.missing == 1", "true"), True, False),
    ],
)
def test_one_condition_that_is_false_decides(expressions: tuple[str, ...], fails_open: bool, matches: bool) -> None:
    conditions = list(map(condition, expressions))
    assert matches_conditions(conditions, VARIABLES, params=False, fails_open=fails_open) is matches


def test_a_condition_without_a_value_fails_the_request() -> None:
    with pytest.raises(
        ConditionError, match=r"expression 'object.missing == 1' resulted in error: no such key: missing"
    ):
        matches_conditions([condition("object.missing == 1")], VARIABLES, params=False, fails_open=False)


def test_every_failed_validation_is_told_with_its_message_and_reason() -> None:
    validations = [
        {"expression": "object.spec.replicas > 3", "message": " too few "},
        {"expression": "object.spec.replicas > 1"},
        {"expression": "false", "messageExpression": "'it is ' + request.userInfo.username", "reason": "Forbidden"},
        {"expression": "object.spec.missing == 1"},
    ]
    assert decide(policy(validations=validations), VARIABLES) == (
        [
            PolicyFailure("too few"),
            PolicyFailure("it is ada", "Forbidden", place=2),
            PolicyFailure("expression 'object.spec.missing == 1' resulted in error: no such key: missing", place=3),
        ],
        {},
    )


def test_a_policy_that_lets_go_does_so_for_errors_only() -> None:
    validations = [{"expression": "object.spec.missing == 1"}, {"expression": "false"}]
    failures, _ = decide(policy(validations=validations, failurePolicy="Ignore"), VARIABLES)
    assert failures == [PolicyFailure("failed expression: false", place=1)]


def test_an_annotation_that_has_no_value_denies_whatever_the_binding_does() -> None:
    annotations = [{"key": "k", "valueExpression": "string(object.spec.missing)"}]
    (failure,), _ = decide(policy(auditAnnotations=annotations), VARIABLES)
    assert failure.always
    assert "no such key: missing" in failure.message


def test_annotations_with_a_value_are_noted_in_as_many_bytes_as_there_may_be() -> None:
    texts = {"plain": "' ' + request.userInfo.username", "empty": "' '", "none": "null", "long": "'x'"}
    annotations = [{"key": key, "valueExpression": text} for key, text in texts.items()]
    assert decide(policy(auditAnnotations=annotations), VARIABLES) == ([], {"plain": "ada", "long": "x"})


def test_variables_of_a_policy_build_on_each_other() -> None:
    variables = [
        {"name": "spec", "expression": "object.spec"},
        {"name": "twice", "expression": "variables.spec.replicas * 2"},
    ]
    validations = [{"expression": "variables.twice == 6"}]
    assert decide(policy(variables=variables, validations=validations), VARIABLES) == ([], {})


@pytest.mark.parametrize(("budget", "text"), [(15, NO_BUDGET), (400, "no such key: missing")])
def test_what_a_variable_cost_before_it_failed_is_paid_for(
    budget: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "POLICY_BUDGET", budget)
    dear = {"name": "dear", "expression": "[1, 2, 3, 4, 5].all(each, each > 0) && object.missing"}
    (failure,), _ = decide(policy(variables=[dear], validations=[{"expression": "variables.dear"}]), VARIABLES)
    assert text in failure.message
