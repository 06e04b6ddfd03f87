"""Plans of LeaderWorkerSets, as a user sees them.

`MOORING_UPDATE_GOLDEN=1 pytest tests/plan/test_groups.py` writes the page anew; look at the difference before keeping
it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from mooring.features.groups.api import EXCLUSIVE_TOPOLOGY
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.manifests.emit import to_yaml
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.testing import node
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import Town

GOLDEN = Path(__file__).parent / "golden"
KEY = "example.com/node-group"
HOUR = timedelta(hours=1)


def own_nodes(*leaders: str) -> list[Object]:
    return [
        node(f"{name}-n{number}", cpu="1", labels={KEY: name}, taints=[f"{KEY}={name}:NoSchedule"])
        for name in leaders
        for number in range(3)
    ]


def planned(lws: Object, *nodes: Object) -> Plan:
    return make_plan(SimulatedCluster(nodes), [PlannedWorkload(lws, "work.yaml")], "default", HOUR)


def test_the_page_of_a_set_with_nodes_of_its_own_for_every_replica(tmp_path: Path) -> None:
    lws = leader_worker_set(replicas=3, cpu="700m", unique=KEY, annotations={EXCLUSIVE_TOPOLOGY: KEY})
    (tmp_path / "work.yaml").write_text(to_yaml(lws), encoding="utf-8")
    cluster = "---\n".join(map(to_yaml, own_nodes("serve-0", "serve-1")))
    (tmp_path / "cluster.yaml").write_text(cluster, encoding="utf-8")
    command = [sys.executable, "-m", "mooring", "plan", "-f", "work.yaml", "--snapshot", "cluster.yaml"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    golden = GOLDEN / "groups.txt"
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        golden.write_text(ran.stdout, encoding="utf-8")
    assert ran.stdout == golden.read_text(encoding="utf-8")


def test_every_group_lands_whole() -> None:
    plan = planned(leader_worker_set(replicas=4, size=8, cpu="1"), *(node(f"n{i}", cpu="8") for i in range(4)))
    assert len(plan.pods) == 32
    assert not plan.pending
    assert not plan.settled.moving


def test_the_pods_that_wait_belong_to_their_set() -> None:
    lws = leader_worker_set(replicas=1, pod={"nodeSelector": {"gpu": "yes"}})
    plan = planned(lws, node("n0"))
    assert [pod.key for pod in plan.pending] == ["default/serve-0", "default/serve-0-1"]
    top, workload = plan.origin(plan.pending[1])
    assert top["kind"] == "LeaderWorkerSet"
    assert workload is not None


def test_a_set_in_the_snapshot_goes_on() -> None:
    cluster = SimulatedCluster([node("n0"), leader_worker_set(replicas=1)])
    assert len(make_plan(cluster, [], "default", HOUR).pods) == 2


def test_an_update_of_a_set_that_runs_is_carried_out_to_its_end() -> None:
    town = Town(leader_worker_set(replicas=3, rolling={"maxSurge": 1}), nodes=2)
    kinds = ("Node", "Pod", "StatefulSet", "ControllerRevision", "Service", "LeaderWorkerSet")
    cluster = SimulatedCluster([obj for kind in kinds for obj in town.all(kind).values()])
    new = leader_worker_set(replicas=2, image="registry.example.com/serve:2")
    plan = make_plan(cluster, [PlannedWorkload(new, "work.yaml")], "default", HOUR)
    pods = cluster.objects("v1", "Pod")
    assert sorted(pod["metadata"]["name"] for pod in pods) == ["serve-0", "serve-0-1", "serve-1", "serve-1-1"]
    assert {pod["spec"]["containers"][0]["image"] for pod in pods} == {"registry.example.com/serve:2"}
    assert not plan.pending
    assert not plan.settled.moving
    assert not plan.cluster.simulation.terminal


def test_a_set_that_the_api_refuses_is_refused() -> None:
    with pytest.raises(ApiError, match=r"size must be equal or greater than 1"):
        planned(leader_worker_set(size=0), node("n0"))
