"""Workspaces with auto-provisioning: nodes that are there count, and only what is missing is asked for."""

from __future__ import annotations

from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.workspaces.town import WorkspaceTown


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
