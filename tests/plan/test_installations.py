"""Plans of installations: Helm is played, and what stands in the way is said."""

from __future__ import annotations

from datetime import timedelta

from mooring.kube.objects import Object
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.drivers.simulation import START
from mooring.testing.builders import node
from mooring.testing.installations import installation
from mooring.testing.workspaces import gpu_node, workspace


def planned(*objects: Object) -> Plan:
    cluster = SimulatedCluster((node("cpu-1"), gpu_node("gpu-1")))
    return make_plan(cluster, [PlannedWorkload(each, "work.yaml") for each in objects], "default", timedelta(hours=1))


def test_an_installation_settles_when_helm_would_have_ended() -> None:
    plan = planned(installation())
    assert plan.settled == (START + timedelta(seconds=33), plan.settled.steps, ())
    (made,) = plan.objects
    assert made["status"]["phase"] == "Installed"


def test_what_our_own_controllers_do_is_not_installed() -> None:
    plan = planned(workspace(), installation(conflictsWith=["workspaces"]))
    (made,) = (each for each in plan.objects if each["kind"] == "Installation")
    assert made["status"]["conditions"][0]["reason"] == "ConflictsWithController"
