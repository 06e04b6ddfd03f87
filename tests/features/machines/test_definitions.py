"""The definitions of cluster.x-k8s.io: upstream's in names, types, columns and rules, but for what is named here."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.features.machines.api.resources import MACHINE_DEPLOYMENTS, RESOURCES
from mooring.kube.objects import Object
from mooring.kube.schemas import structural_schema, validate
from mooring.testing.conversions import conversions_round_trip
from tests.features.groups.test_definition import differences

UPSTREAM = Path(__file__).parents[4] / "shared/upstream/crds"
# References are taken with a version behind the group too, or with apiVersion; v1beta1 must name kind and name, which
# v1beta2 cannot do without; and a spec that v1beta2 requires is required in v1beta1. ClusterClass is not supported.
REFERENCES = ("configRef", "infrastructureRef", "controlPlaneRef")
MEANT = {
    " required: ['spec'] and not None",
    ".spec minProperties: None and not 1",
    ".spec required: ['clusterName', 'selector', 'template'] and not ['clusterName', 'selector']",
    ".spec.template required: ['spec'] and not None",
}


def columns(version: Object) -> Iterator[Object]:
    for column in version["additionalPrinterColumns"]:
        yield {name: value for name, value in column.items() if name != "description"}


def schema(version: Object) -> Object:
    found: Object = version["schema"]["openAPIV3Schema"]
    return found


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.plural)
def test_names_types_columns_and_rules_are_those_of_upstream(resource: CustomResource) -> None:
    path = UPSTREAM / f"{resource.group}_{resource.plural}.yaml.gz"
    if not path.is_file():
        pytest.skip("upstream's definition is not here")
    theirs = yaml.load(gzip.decompress(path.read_bytes()), Loader=yaml.CSafeLoader)
    ours = definition(resource)
    assert ours["spec"]["names"] == theirs["spec"]["names"]
    for mine, other in zip(ours["spec"]["versions"], theirs["spec"]["versions"], strict=True):
        assert (mine["name"], mine["storage"]) == (other["name"], other["storage"])
        assert list(columns(mine)) == list(columns(other))
        assert mine["subresources"] == other["subresources"]
        found = {
            each
            for each in differences(schema(mine), schema(other))
            if not each.startswith(".spec.topology") and not any(f"{name}" in each for name in REFERENCES)
        }
        assert found <= MEANT


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.plural)
def test_schemas_are_structural(resource: CustomResource) -> None:
    for version in definition(resource)["spec"]["versions"]:
        assert "spec" in structural_schema(schema(version)).properties


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.plural)
def test_nothing_is_lost_between_versions(resource: CustomResource) -> None:
    assert conversions_round_trip(resource, examples=8) == 2


def pool(reference: Object) -> Object:
    """A MachineDeployment of v1beta2 with this infrastructureRef."""
    machine = {
        "clusterName": "c",
        "version": "v1.34.1",
        "bootstrap": {"dataSecretName": "data"},
        "infrastructureRef": reference,
    }
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "MachineDeployment",
        "metadata": {"name": "pool", "namespace": "default"},
        "spec": {"clusterName": "c", "selector": {}, "template": {"spec": machine}},
    }


@pytest.mark.parametrize(
    "group",
    [
        {"apiGroup": "infrastructure.cluster.x-k8s.io"},
        {"apiGroup": "infrastructure.cluster.x-k8s.io/v1beta1"},
        {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1"},
    ],
)
def test_a_reference_is_taken_in_every_spelling_and_is_one_in_v1beta1(group: Object) -> None:
    obj = pool({**group, "kind": "ByoMachineTemplate", "name": "worker-template"})
    assert validate(structural_schema(schema(definition(MACHINE_DEPLOYMENTS)["spec"]["versions"][1])), obj) == []
    old = MACHINE_DEPLOYMENTS.convert(obj, "cluster.x-k8s.io/v1beta1")
    assert old["spec"]["template"]["spec"]["infrastructureRef"] == {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "ByoMachineTemplate",
        "name": "worker-template",
    }
    assert MACHINE_DEPLOYMENTS.convert(old, "cluster.x-k8s.io/v1beta2") == obj


def test_a_strategy_of_v1beta1_is_a_rollout_of_v1beta2() -> None:
    old = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {"name": "pool"},
        "spec": {
            "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "50%", "deletePolicy": "Oldest"}},
            "minReadySeconds": 5,
            "progressDeadlineSeconds": 600,
            "template": {"spec": {"clusterName": "c", "nodeDrainTimeout": "1m30s", "nodeDeletionTimeout": "250ms"}},
        },
    }
    new = MACHINE_DEPLOYMENTS.convert(old, "cluster.x-k8s.io/v1beta2")
    assert new["spec"] == {
        "rollout": {
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "50%"}},
        },
        "deletion": {"order": "Oldest"},
        "template": {
            "spec": {"clusterName": "c", "deletion": {"nodeDrainTimeoutSeconds": 90}, "minReadySeconds": 5},
        },
    }
    assert MACHINE_DEPLOYMENTS.convert(new, "cluster.x-k8s.io/v1beta1") == old
