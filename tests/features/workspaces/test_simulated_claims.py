"""NodeClaims on the embedded cluster: they become simulated nodes, or say why they do not."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.workspaces import A100, node_claim
from tests.features.workspaces.town import WorkspaceTown, types

FILLED = {"Launched": "True", "Registered": "True", "Initialized": "True", "Ready": "True"}


def launched(town: WorkspaceTown, name: str = "claim") -> tuple[str, str, str]:
    return town.condition("Launched", name, "NodeClaim")


def test_a_claim_becomes_a_node_of_its_type() -> None:
    town = WorkspaceTown(node_claim(instance_type="Standard_ND96isr_H100_v5", storage="300Gi"))
    claim, made = town.get("NodeClaim", "claim"), town.get("Node", "claim")
    assert town.holds("claim", "NodeClaim") == FILLED
    assert (claim["status"]["nodeName"], claim["status"]["providerID"]) == ("claim", "mooring://claim")
    assert claim["status"]["capacity"]["nvidia.com/gpu"] == made["status"]["capacity"]["nvidia.com/gpu"] == "8"
    assert made["status"]["capacity"]["ephemeral-storage"] == "300Gi"
    labels = made["metadata"]["labels"]
    assert claim["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "Standard_ND96isr_H100_v5"
    assert labels["apps"] == "llm"
    assert labels["node.kubernetes.io/instance-type"] == "Standard_ND96isr_H100_v5"
    assert (labels["nvidia.com/gpu.product"], labels["nvidia.com/gpu.memory"]) == ("NVIDIA-H100", "81920")
    assert {"key": "sku", "value": "gpu", "effect": "NoSchedule"} in made["spec"]["taints"]


def test_it_takes_its_time() -> None:
    town = WorkspaceTown(node_claim(), run=False)
    town.run(4)
    assert "claim" not in town.all("Node")
    assert launched(town)[:2] == ("Unknown", "AwaitingReconciliation")
    town.run(2)
    assert "claim" in town.all("Node")


def test_a_claim_that_goes_takes_its_node_along_and_no_other() -> None:
    town = WorkspaceTown(node_claim(), node("mine", labels={"apps": "llm"}))
    town.delete("NodeClaim", "claim")
    town.run()
    assert list(town.all("Node")) == ["mine"]
    assert not town.all("NodeClaim")


def test_a_claim_whose_node_is_deleted_goes_too() -> None:
    town = WorkspaceTown(node_claim())
    town.delete("Node", "claim")
    town.run()
    assert not town.all("NodeClaim")
    assert town.told("NodeLost", "NodeClaim") == ["Node claim is gone, and its NodeClaim goes too"]


@pytest.mark.parametrize(
    ("claim", "cloud", "reason", "message"),
    [
        (node_claim(instance_type="Standard_D4"), {}, "UnknownInstanceType", "instance type 'Standard_D4' is not"),
        (node_claim(annotations={"mooring.dev/outcome": "no quota"}), {}, "LaunchFailed", "no quota"),
        (node_claim(), {A100: "the region is full"}, "LaunchFailed", "the region is full"),
        (node_claim(), {A100: "0"}, "InsufficientCapacity", f"no more than 0 nodes of instance type {A100}"),
        (node_claim("mine"), {}, "NodeNameTaken", "there is a node mine already"),
    ],
    ids=["unknown type", "fails alone", "fails as all of its type", "no capacity", "name taken"],
)
def test_a_claim_that_cannot_be_filled_says_why(claim: Object, cloud: Any, reason: str, message: str) -> None:
    town = WorkspaceTown(types(**cloud), node("mine"), claim)
    status, why, text = launched(town, claim["metadata"]["name"])
    assert (status, why) == ("False", reason)
    assert text.startswith(message)
    assert town.condition("Ready", claim["metadata"]["name"], "NodeClaim")[1] == "UnhealthyDependents"
    assert list(town.all("Node")) == ["mine"]


def test_as_many_claims_are_filled_as_there_are_nodes_and_the_next_one_when_one_is_free() -> None:
    town = WorkspaceTown(types(**{A100: "2"}), *(node_claim(f"c{number}") for number in range(3)))
    assert sorted(town.all("Node")) == ["c0", "c1"]
    assert launched(town, "c2")[1] == "InsufficientCapacity"
    town.delete("NodeClaim", "c0")
    town.run()
    assert sorted(town.all("Node")) == ["c1", "c2"]
    assert town.holds("c2", "NodeClaim") == FILLED


def test_a_node_that_never_joins_is_given_up_after_a_quarter_of_an_hour() -> None:
    town = WorkspaceTown(types(**{A100: "unregistered"}), node_claim(), run=False)
    town.run(60)
    assert launched(town)[0] == "True"
    assert town.condition("Registered", "claim", "NodeClaim")[:2] == ("Unknown", "AwaitingReconciliation")
    town.run(15 * 60)
    status, reason, message = town.condition("Registered", "claim", "NodeClaim")
    assert (status, reason) == ("False", "RegistrationTimeout")
    assert message.endswith("delete NodeClaim claim to try again")


def test_a_claim_stays_filled_when_its_node_is_not_ready_for_a_while() -> None:
    town = WorkspaceTown(node_claim())
    town.lose("claim")
    town.run(120)
    assert town.holds("claim", "NodeClaim") == FILLED
