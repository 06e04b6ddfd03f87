"""DaemonSets, CronJobs and ReplicationControllers, explained and planned."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.kube.objects import Object
from tests.cli.world import World, requests


@pytest.fixture
def fleet(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.node("a", gpu=8, pool="gpu").node("b", pool="gpu").node("c")
    world.node("d", gpu=8, pool="gpu", cordoned=True)
    return world.node("e", gpu=8, pool="gpu", taint="team=x:NoSchedule")


def daemon_set(world: World, *, gpu: int = 1, pool: str = "gpu") -> Object:
    return world.workload("DaemonSet", "agent", requests(gpu=gpu), pod={"nodeSelector": {"pool": pool}})


def cron_job(world: World, *, cpu: int = 9) -> Object:
    job = world.workload("Job", "report", requests(cpu=cpu), parallelism=3)
    return {**job, "kind": "CronJob", "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": job["spec"]}}}


def replication_controller(world: World, *, cpu: int = 9) -> Object:
    made = world.workload("ReplicationController", "old", requests(cpu=cpu), replicas=4)
    return {**made, "apiVersion": "v1", "spec": {**made["spec"], "selector": {"app": "old"}}}


def plan(world: World, obj: Object) -> Result:
    return CliRunner().invoke(cli, ["plan", "-f", world.manifest(obj), "--snapshot", world.snapshot()])


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_daemon_set_has_a_pod_for_each_node_that_it_chooses_and_tolerates(fleet: World) -> None:
    """A cordoned node is one of them, and nodes that it does not choose are no failures."""
    found = fleet.answer(daemon_set(fleet))
    assert [(pod["pod"], pod["lands"], pod.get("node")) for pod in found["pods"]] == [
        ("default/agent-a", True, "a"),
        ("default/agent-b", False, None),
        ("default/agent-d", True, "d"),
    ]
    nodes = found["workloads"][0]["nodes"]
    assert (nodes["matching"], nodes["tolerated"]) == (["a", "b", "d", "e"], ["a", "b", "d"])
    assert nodes["notCounted"] == [
        {"name": "e", "reason": "has team=x:NoSchedule, which its pods do not tolerate"},
    ]


def test_the_node_that_has_no_room_for_its_daemon_is_told(fleet: World) -> None:
    result = fleet.explain(daemon_set(fleet))
    assert result.exit_code == 2
    assert "DaemonSet default/agent: 2 of 3 pods would be scheduled" in result.stdout
    assert "required   3  one pod on each node" in result.stdout
    assert "left out   1  e has team=x:NoSchedule, which its pods do not tolerate" in result.stdout


def test_no_advice_moves_a_daemon_to_another_node(fleet: World) -> None:
    advice = [each for pod in fleet.answer(daemon_set(fleet))["pods"] for each in pod.get("advice", ())]
    edited = [edit["path"] for each in advice for edit in each["edits"] if edit["target"] == "pod"]
    assert not [path for path in edited if "affinity" in path or "nodeSelector" in path or "tolerations" in path]


def test_a_daemon_set_for_one_node_is_not_told_to_let_the_scheduler_choose(fleet: World) -> None:
    made = fleet.workload("DaemonSet", "agent", requests(gpu=1), pod={"nodeName": "b"})
    (pod,) = fleet.answer(made)["pods"]
    assert (pod["pod"], pod["lands"]) == ("default/agent-b", False)
    assert not [each["title"] for each in pod.get("advice", ()) if "nodeName" in each["title"]]


def test_a_daemon_set_that_chooses_no_node_names_the_nearest_label(fleet: World) -> None:
    result = fleet.explain(daemon_set(fleet, pool="gup"))
    assert result.exit_code == 0
    assert "it makes no pods: no node has pool=gup; the nearest label is pool=gpu on a, b, d" in " ".join(
        result.stdout.split()
    )


def test_a_daemon_set_of_the_snapshot_is_explained_by_name_without_the_pods_that_it_has(fleet: World) -> None:
    fleet.add(daemon_set(fleet)).running("agent-x7k2p", "a", resources=requests(gpu=8), labels={"app": "agent"})
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    fleet.objects[-1]["metadata"]["ownerReferences"] = [owner]
    result = fleet.explain("ds/agent")
    assert "DaemonSet default/agent has 1 pod in the cluster already; explained as if not yet placed" in " ".join(
        result.stdout.split()
    )
    assert "default/agent-a  a" in result.stdout


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, "spec.template: a DaemonSet needs a pod template"),
        ({"template": {"spec": []}}, "spec.template.spec: must be an object"),
        ({"template": 3}, "spec.template: expected object, got int"),
    ],
)
def test_a_daemon_set_without_a_template_is_refused(fleet: World, spec: Object, said: str) -> None:
    made = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}
    result = fleet.explain(made)
    assert (result.exit_code, said in result.stderr) == (1, True), result.stderr


def test_a_daemon_set_in_a_plan_says_which_nodes_it_leaves_out(fleet: World) -> None:
    result = plan(fleet, daemon_set(fleet))
    assert result.exit_code == 2
    assert "2 of 3 pods scheduled" in result.stdout
    assert "e has team=x:NoSchedule, which its pods do not tolerate" in result.stdout


def test_a_cron_job_is_explained_by_the_pods_of_one_run(fleet: World) -> None:
    """Three of them at 9 of 16 CPUs: three nodes without a taint, and none to spare."""
    result = fleet.explain(cron_job(fleet))
    assert result.exit_code == 0, result.stdout
    assert "CronJob default/report: all 3 pods would be scheduled" in result.stdout
    assert "the pods of one run are explained" in result.stdout


def test_advice_for_a_cron_job_patches_its_job_template(fleet: World) -> None:
    result = fleet.explain(cron_job(fleet, cpu=17))
    assert result.exit_code == 2
    assert "/spec/jobTemplate/spec/template/spec/containers/0/resources" in result.stdout


def test_a_cron_job_without_a_job_template_is_refused(fleet: World) -> None:
    made = cron_job(fleet)
    made["spec"]["jobTemplate"] = {"spec": {}}
    result = fleet.explain(made)
    assert "spec.jobTemplate.spec.template: a Job needs a pod template" in result.stderr


def test_a_cron_job_and_a_replication_controller_of_the_snapshot_are_explained_by_name(fleet: World) -> None:
    fleet.add(cron_job(fleet), replication_controller(fleet))
    assert "CronJob default/report: all 3 pods would be scheduled" in fleet.explain("cronjob/report").stdout
    assert "ReplicationController default/old: 3 of 4 pods would be scheduled" in fleet.explain("rc/old").stdout


def test_a_replication_controller_selects_its_own_template_when_it_names_no_selector(fleet: World) -> None:
    made = replication_controller(fleet, cpu=1)
    del made["spec"]["selector"]
    assert fleet.explain(made).exit_code == 0
    made["spec"]["selector"] = {"app": "other"}
    assert "`selector` does not match template `labels`" in fleet.explain(made).stdout


def test_a_replication_controller_in_a_plan_makes_its_pods(fleet: World) -> None:
    result = plan(fleet, replication_controller(fleet))
    assert result.exit_code == 2
    assert "3 of 4 pods scheduled" in result.stdout


def test_a_plan_says_that_it_does_not_wait_for_the_next_run_of_a_cron_job(fleet: World) -> None:
    result = plan(fleet, cron_job(fleet))
    assert result.exit_code == 3
    assert "no run of CronJob default/report is waited for, so it makes no pods; mooring explain -f says" in " ".join(
        result.stdout.split()
    )
