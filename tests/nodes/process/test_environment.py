"""The environment and the words of a container, as its spec gives them."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.expansion import expand
from mooring.nodes.process.containers.environment.fields import NodeFields
from mooring.nodes.process.containers.environment.variables import ConfigError, command_of, environment, references
from tests.nodes.process.life import bound_pod, container

PLACE = NodeFields("here", "10.0.0.1", {"cpu": "8", "memory": "32Gi"})
OBJECTS: dict[tuple[str, str], Object] = {
    ("ConfigMap", "settings"): {"metadata": {"name": "settings"}, "data": {"mode": "fast", "a.b": "dots", "2x": "no"}},
    ("Secret", "key"): {"metadata": {"name": "key"}, "data": {"password": "czNjcmV0"}},
}


def variables(
    *env: Object, env_from: tuple[Object, ...] = (), pod: Object | None = None, **more: Any
) -> dict[str, str]:
    spec = container(env=list(env), envFrom=list(env_from), **more)
    found = pod or bound_pod(spec)
    found["spec"]["containers"] = [spec]
    return environment(found, spec, lambda kind, name: OBJECTS.get((kind, name)), PLACE)


def value(text: str, name: str = "X") -> Object:
    return {"name": name, "value": text}


def source(name: str = "X", **reference: Any) -> Object:
    return {"name": name, "valueFrom": reference}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("$(A)", "1"),
        ("$(A)-$(B)", "1-$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A} $", "$A ${A} $"),
        ("$(A", "$(A"),
    ],
)
def test_variables_are_expanded_by_the_rules_of_the_api(text: str, expected: str) -> None:
    assert expand(text, {"A": "1"}) == expected


def test_a_value_sees_what_stands_before_it() -> None:
    found = variables(value("1", "A"), value("$(A)2", "B"), value("$(D)", "C"), value("4", "D"))
    assert found == {"A": "1", "B": "12", "C": "$(D)", "D": "4"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.name", "web"),
        ("metadata.namespace", "default"),
        ("metadata.uid", "u-1"),
        ("metadata.labels['app']", "shop"),
        ("metadata.annotations['none']", ""),
        ("spec.nodeName", "here"),
        ("status.podIP", "10.0.0.1"),
        ("status.hostIP", "10.0.0.1"),
    ],
)
def test_fields_of_the_pod(path: str, expected: str) -> None:
    pod = bound_pod()
    pod["metadata"]["labels"] = {"app": "shop"}
    assert variables(source(fieldRef={"fieldPath": path}), pod=pod) == {"X": expected}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"resource": "limits.memory"}, str(1 << 30)),
        ({"resource": "limits.memory", "divisor": "1Mi"}, "1024"),
        ({"resource": "limits.cpu"}, "2"),
        ({"resource": "requests.cpu", "divisor": "1m"}, "250"),
        ({"resource": "limits.cpu", "divisor": "0"}, "2"),
    ],
)
def test_amounts_of_the_container(reference: Object, expected: str) -> None:
    resources = {"limits": {"memory": "1Gi", "cpu": "1500m"}, "requests": {"cpu": "250m"}}
    assert variables(source(resourceFieldRef=reference), resources=resources) == {"X": expected}


def test_what_is_not_limited_is_limited_by_the_node() -> None:
    assert variables(source(resourceFieldRef={"resource": "limits.cpu"})) == {"X": "8"}


def test_keys_of_config_maps_and_secrets() -> None:
    found = variables(
        source("A", configMapKeyRef={"name": "settings", "key": "mode"}),
        source("B", secretKeyRef={"name": "key", "key": "password"}),
        source("C", secretKeyRef={"name": "none", "key": "x", "optional": True}),
        source("D", configMapKeyRef={"name": "settings", "key": "none", "optional": True}),
    )
    assert found == {"A": "fast", "B": "s3cret"}


def test_whole_objects_with_a_prefix_and_without_what_cannot_be_a_name() -> None:
    sources = ({"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "key"}, "prefix": "DB_"})
    found = variables(value("slow", "mode"), env_from=sources)
    assert found == {"mode": "slow", "a.b": "dots", "DB_password": "s3cret"}


@pytest.mark.parametrize(
    ("env", "env_from", "problem"),
    [
        ((source(secretKeyRef={"name": "none", "key": "x"}),), (), 'secret "none" not found'),
        (
            (source(configMapKeyRef={"name": "settings", "key": "none"}),),
            (),
            "couldn't find key none in ConfigMap default/settings",
        ),
        ((), ({"configMapRef": {"name": "none"}},), 'configmap "none" not found'),
        ((source(fieldRef={"fieldPath": "spec.wrong"}),), (), "field label not supported: spec.wrong"),
    ],
)
def test_what_is_missing_is_named(env: tuple[Object, ...], env_from: tuple[Object, ...], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        variables(*env, env_from=env_from)
    assert str(caught.value) == problem


def test_a_missing_object_that_is_optional_is_left_out() -> None:
    assert variables(env_from=({"configMapRef": {"name": "none", "optional": True}},)) == {}


def test_a_command_is_expanded_and_arguments_alone_are_none() -> None:
    assert command_of({"command": ["echo", "$(A)"], "args": ["$(B)"]}, {"A": "1"}) == ["echo", "1", "$(B)"]
    assert command_of({"args": ["x"]}, {}) == []


def test_the_objects_that_are_needed_are_known_beforehand() -> None:
    spec = container(
        env=[source(secretKeyRef={"name": "a", "key": "k"}), value("x")], envFrom=[{"configMapRef": {"name": "b"}}]
    )
    assert references(spec) == {("Secret", "a"), ("ConfigMap", "b")}
