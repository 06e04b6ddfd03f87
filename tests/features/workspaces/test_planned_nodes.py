"""Workspaces in plans: nodes that nobody reports on are ready, and claims become nodes."""

from __future__ import annotations

from datetime import timedelta

from mooring.kube.objects import Object
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.settings import Configuration
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.workspaces.town import PROVISIONING


def planned(made: Object, *nodes: Object, configuration: Configuration) -> Plan:
    cluster = SimulatedCluster(nodes, configuration=configuration)
    return make_plan(cluster, [PlannedWorkload(made, "work.yaml")], "default", timedelta(hours=1))


def test_pods_land_on_the_nodes_of_a_snapshot_without_conditions() -> None:
    plan = planned(workspace(gpu=1), gpu_node("a"), configuration=Configuration())
    assert [pod.node for pod in plan.pods] == ["a"]


def test_nodes_that_are_asked_for_come_after_their_delay_and_pods_land_on_them() -> None:
    made = workspace(gpu=1, count=2, instance_type=A100)
    plan = planned(made, gpu_node("a", instance_type=A100), configuration=PROVISIONING)
    where = {pod.node for pod in plan.pods}
    assert len(where) == 2
    assert "a" in where
    assert not plan.pending
