"""Policies are told which of their expressions do not fit the kinds that they are about."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.registry.kinds.policy_types import check_policy_types
from tests.registry.world import World


def policy(resource: str, group: str, *validations: Object, **spec: Any) -> Object:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    constraints = {"resourceRules": [rule]}
    return {"metadata": {"name": "p"}, "spec": {"matchConstraints": constraints, "validations": [*validations], **spec}}


@pytest.fixture(autouse=True)
def served(world: World) -> None:
    """As a server has it; a bare registry says nothing of types, like an API server without controllers."""
    world.registry.admission.late.append(check_policy_types)


def made(world: World, obj: Object) -> Object:
    resource = world.registry.resource("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")
    return world.registry.create(resource, obj, now=world.now, manager="test")


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas > 1 && object.metadata.labels.all(k, k != 'a')",
        "object.spec.template.spec.containers.all(c, quantity(c.resources.limits['cpu']).isInteger())",
        "object.spec.strategy.rollingUpdate.maxSurge == 1",
        "object.metadata.creationTimestamp > timestamp('2026-01-01T00:00:00Z')",
        "oldObject == null || oldObject.spec.selector == object.spec.selector",
    ],
)
def test_expressions_that_fit_are_not_warned_of(world: World, expression: str) -> None:
    stored = made(world, policy("deployments", "apps", {"expression": expression}))
    assert stored["status"] == {"observedGeneration": 1, "typeChecking": {}}


def test_expressions_that_do_not_fit_are_told_with_their_kind(world: World) -> None:
    validation = {
        "expression": "object.spec.replicas > '1'",
        "messageExpression": "'wants replicas > 1, got ' + object.spec.replicas",
    }
    stored = made(world, policy("deployments", "apps", validation))
    first, second = stored["status"]["typeChecking"]["expressionWarnings"]
    assert first["fieldRef"] == "spec.validations[0].expression"
    assert first["warning"].startswith("apps/v1, Kind=Deployment: ")
    assert "found no matching overload for '_>_' applied to '(int, string)'" in first["warning"]
    assert second["fieldRef"] == "spec.validations[0].messageExpression"
    assert "found no matching overload for '_+_' applied to '(string, int)'" in second["warning"]


def test_variables_and_parameters_have_types_too(world: World) -> None:
    stored = made(
        world,
        policy(
            "configmaps",
            "",
            {"expression": "variables.size > params.data"},
            variables=[{"name": "size", "expression": "object.data.size()"}],
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        ),
    )
    (warning,) = stored["status"]["typeChecking"]["expressionWarnings"]
    assert "applied to '(int, map(string, string))'" in warning["warning"]


def test_what_is_not_known_is_not_judged(world: World) -> None:
    for resource, group in (("*", "apps"), ("deployments", "*"), ("unknown", "example.com")):
        obj = policy(resource, group, {"expression": "object.nothing == 1"})
        obj["metadata"]["name"] = f"p-{len(resource)}-{len(group)}"
        assert made(world, obj)["status"]["typeChecking"] == {}
