"""Workspaces with auto-provisioning: nodes that are there count, and only what is missing is asked for."""

from __future__ import annotations

from mooring.api.crds.resource import definition
from mooring.features.workspaces.controller import CONTROLLER
from mooring.features.workspaces.definition import WORKSPACES
from mooring.kube.status import ForbiddenError
from mooring.registry import AdmissionRequest, ClusterView, Registry
from mooring.runtime.drivers.simulation import START
from mooring.testing.conditions import has_condition
from mooring.testing.simulations import checked_simulation
from mooring.testing.workspaces import A100, gpu_node, node_claim, workspace
from tests.features.workspaces.town import PROVISIONING, WorkspaceTown, types


def test_missing_nodes_are_asked_for_and_pods_land_on_brought_and_provisioned_ones_alike() -> None:
    town = WorkspaceTown(
        gpu_node("mine", instance_type=A100), workspace(gpu=1, count=3, instance_type=A100), provisions=True
    )
    claims = set(town.all("NodeClaim"))
    assert len(claims) == 2
    assert set(town.placed().values()) == {"mine", *claims}
    assert town.condition("NodeClaimReady")[:2] == ("True", "NodeClaimsReady")
    assert town.condition("WorkspaceSucceeded")[0] == "True"


def test_deletion_takes_claims_and_their_nodes_and_leaves_brought_nodes_alone() -> None:
    town = WorkspaceTown(
        gpu_node("mine", instance_type=A100), workspace(gpu=1, count=2, instance_type=A100), provisions=True
    )
    town.delete("Workspace", "llm")
    town.run()
    assert list(town.all("Node")) == ["mine"]
    assert not town.all("NodeClaim")
    assert not town.all("Workspace")


def test_nodes_of_another_type_are_named_and_do_not_count() -> None:
    town = WorkspaceTown(
        gpu_node("other", instance_type="Standard_NC40ads_H100_v5"),
        gpu_node("bare"),
        workspace(gpu=1, instance_type=A100),
        provisions=True,
    )
    assert len(town.all("NodeClaim")) == 1
    text = (
        "1 of 3 matching nodes count, 1 are required; not counted: bare has no instance type, "
        f"other is of instance type Standard_NC40ads_H100_v5 and not {A100}"
    )
    assert town.condition("NodesReady") == ("True", "NodesReady", f"Enough Nodes are ready: {text}")
    assert any(text.partition(";")[2] in told for told in town.told("NodeNotReady"))
    # Pods go by labels: what matches the selector is left to the scheduler.
    assert town.placed()


def test_nodes_of_another_workspace_are_named_and_do_not_count() -> None:
    marks = {"kaito.sh/workspace": "chat", "kaito.sh/workspacenamespace": "team"}
    taken = gpu_node("taken", instance_type=A100, labels={"apps": "llm", **marks})
    town = WorkspaceTown(taken, workspace(gpu=1, instance_type=A100), provisions=True)
    assert len(town.all("NodeClaim")) == 1
    assert town.condition("NodesReady")[2].endswith("not counted: taken belongs to Workspace team/chat")


def test_a_claim_that_fails_is_in_the_conditions_of_the_workspace() -> None:
    town = WorkspaceTown(types(**{A100: "no quota"}), workspace(gpu=1, instance_type=A100), provisions=True)
    assert town.condition("NodeClaimReady") == ("False", "LaunchFailed", "no quota")
    assert town.condition("ResourceReady") == ("False", "LaunchFailed", "no quota")
    assert "llm" not in town.all("StatefulSet")


def test_a_cloud_that_has_too_few_nodes_fills_a_part_and_the_rest_when_it_can() -> None:
    town = WorkspaceTown(types(**{A100: "1"}), workspace(gpu=1, count=2, instance_type=A100), provisions=True)
    assert town.condition("NodeClaimReady")[:2] == ("False", "InsufficientCapacity")
    assert town.condition("NodesReady")[2].startswith("Not enough Nodes are ready: 1 of 1 matching nodes count, 2 are")
    town.patch("ConfigMap", "simulated-instance-types", {"data": {A100: "2"}}, namespace="kube-system")
    town.run()
    assert town.condition("WorkspaceSucceeded")[0] == "True"


def test_a_provisioned_node_that_is_lost_is_asked_for_again() -> None:
    town = WorkspaceTown(workspace(gpu=1, instance_type=A100), provisions=True)
    (first,) = town.all("Node")
    town.delete("Node", first)
    town.run()
    assert town.told("NodeDeleted") == [f"Node {first} is gone"]
    assert town.condition("WorkspaceSucceeded")[0] == "True"
    assert set(town.placed().values()) == set(town.all("Node"))


def test_claims_are_never_more_than_what_is_missing_and_stay_when_nodes_are_brought_later() -> None:
    town = WorkspaceTown(workspace(gpu=1, count=2, instance_type=A100), provisions=True)
    before = set(town.all("NodeClaim"))
    town.create(gpu_node("late", instance_type=A100))
    town.run()
    assert set(town.all("NodeClaim")) == before


def test_a_selector_that_is_an_expression_finds_the_nodes_that_it_asks_for() -> None:
    expression = {"key": "pool", "operator": "In", "values": ["gpu-a"]}
    selector = {"matchExpressions": [expression]}
    town = WorkspaceTown(workspace(preset="phi-4", instance_type=A100, labelSelector=selector), provisions=True)
    assert town.holds()["WorkspaceSucceeded"] == "True"
    (claim,) = town.all("NodeClaim").values()
    assert claim["metadata"]["labels"]["pool"] == "gpu-a"


def test_claims_from_before_provisioning_was_switched_off_go_with_their_workspace() -> None:
    claim = node_claim("old", labels={"kaito.sh/workspace": "llm", "kaito.sh/workspacenamespace": "default"})
    other = node_claim("other", labels={"kaito.sh/workspace": "llm", "kaito.sh/workspacenamespace": "elsewhere"})
    town = WorkspaceTown(gpu_node("n0"), workspace(), claim, other)
    town.delete("Workspace", "llm")
    town.run()
    assert "llm" not in town.all("Workspace")
    assert list(town.all("NodeClaim")) == ["other"]
    assert "n0" in town.all("Node")


def test_a_cluster_without_node_claims_says_so() -> None:
    registry = Registry(now=START)
    for obj in (definition(WORKSPACES), workspace(gpu=1, instance_type=A100)):
        registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=START)
    checked_simulation([CONTROLLER], registry=registry, configuration=PROVISIONING).run()
    found = registry.find("kaito.sh/v1beta1", "Workspace", "default", "llm")
    assert has_condition(found, "NodeClaimReady", "False", reason="NodeClaimsUnavailable")
    assert "install a provisioner, such as karpenter, or run with --node-provisioner byo" in str(found)


def test_a_claim_that_the_api_server_refuses_is_told_once_and_made_when_it_can_be() -> None:
    refusing = True

    def refuse(request: AdmissionRequest, cluster: ClusterView) -> None:
        if request.resource.kind == "NodeClaim" and refusing:
            raise ForbiddenError("no more nodes")

    town = WorkspaceTown(provisions=True)
    town.registry.admission.validating.append(refuse)
    town.create(workspace(gpu=1, instance_type=A100))
    town.run(120)
    assert "no more nodes" in town.condition("NodesReady")[2]
    (told,) = town.told("NodeClaimCreationFailed")
    assert "no more nodes" in told
    refusing = False
    town.create(gpu_node("any"))
    town.run()
    assert town.condition("WorkspaceSucceeded")[0] == "True"
    assert "no more nodes" not in str(town.get("Workspace", "llm")["status"])
