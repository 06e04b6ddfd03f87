"""What `mooring explain` tells about pods that land, cannot land, are refused, gated, or come in numbers."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from mooring.placement import messages
from mooring.testing.groups import leader_worker_set
from tests.cli.world import World, requests

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


@pytest.fixture
def fleet(world: World) -> World:
    """Two GPU nodes that keep others away, and two plain ones."""
    world.node("gpu-1", gpu=8, taint=GPU_TAINT, zone="a").node("gpu-2", gpu=8, taint=GPU_TAINT, zone="b")
    return world.node("cpu-1", zone="a").node("cpu-2", zone="b")


def headline(output: str) -> str:
    return output.splitlines()[0]


# Landing


def test_a_pod_that_lands_says_where_and_by_what_margin(fleet: World) -> None:
    fleet.running("busy", "cpu-2", resources=requests(cpu=8))
    result = fleet.explain(fleet.pod("web", resources=requests(cpu=1)))
    assert result.exit_code == 0
    assert headline(result.stdout) == "default/web would be scheduled on cpu-1, 50 points ahead of cpu-2"
    assert "Scheduled: Successfully assigned default/web to cpu-1" in result.stdout


def test_equal_nodes_and_the_only_one_that_fits_are_said_to_be_that(fleet: World) -> None:
    result = fleet.explain(fleet.pod("web"))
    assert headline(result.stdout) == "default/web would be scheduled on cpu-1, tied at 399 points with cpu-2"

    result = fleet.explain(fleet.pod("web", nodeSelector={"kubernetes.io/hostname": "cpu-2"}))
    assert headline(result.stdout) == "default/web would be scheduled on cpu-2, the only node that fits"


def test_scores_are_shown_by_plugin(fleet: World) -> None:
    fleet.running("busy", "cpu-2", resources=requests(cpu=8))
    answer = fleet.answer(fleet.pod("web", resources=requests(cpu=1)))
    totals = {node["name"]: node.get("total") for node in answer["nodes"]}
    assert totals["cpu-1"] - totals["cpu-2"] == 50
    assert answer["best"] == ["cpu-1"]
    assert answer["suggestedHost"] == "cpu-1"


def test_a_pod_of_the_snapshot_is_explained_as_if_not_yet_placed(fleet: World) -> None:
    fleet.running("train", "gpu-1", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    fleet.running("other", "gpu-2", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    result = fleet.explain("pod/train")
    assert result.exit_code == 0
    assert headline(result.stdout) == "default/train would be scheduled on gpu-1, the only node that fits"
    assert "Note: the pod runs on gpu-1; explained as if not yet placed." in result.stdout


def test_a_pod_that_is_in_the_snapshot_too_does_not_stand_in_its_own_way(fleet: World) -> None:
    fleet.running("train", "gpu-1", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    fleet.running("other", "gpu-2", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    pod = fleet.pod("train", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    assert headline(fleet.explain(pod).stdout) == "default/train would be scheduled on gpu-1, the only node that fits"


def test_a_pod_lands_by_preemption(fleet: World) -> None:
    for node in ("gpu-1", "gpu-2"):
        fleet.running(f"batch-{node}", node, resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    urgent = fleet.pod("urgent", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}], priority=1000)
    result = fleet.explain(urgent)
    assert result.exit_code == 0
    assert headline(result.stdout) == "default/urgent would be scheduled on gpu-1 after 1 pod of lower priority leaves"
    assert "Evicted from gpu-1\n  default/batch-gpu-1  priority 0\n" in result.stdout
    answer = fleet.answer(urgent)
    assert (answer["lands"], answer["nominated"], answer["victims"]) == (True, "gpu-1", ["gpu-1: default/batch-gpu-1"])


# Not landing


def test_a_pod_that_cannot_land_names_the_taint_and_what_would_help(fleet: World) -> None:
    result = fleet.explain(fleet.pod("llm", resources=requests(gpu=4)))
    assert result.exit_code == 2
    assert headline(result.stdout) == "default/llm cannot be placed: 0 of 4 nodes fit"
    assert "taint nvidia.com/gpu=present:NoSchedule is not tolerated" in result.stdout
    assert "needs 4 nvidia.com/gpu, has none" in result.stdout
    advice = result.stdout.partition("What would help\n")[2]
    assert advice.startswith(
        "  1.  Tolerate taint nvidia.com/gpu=present:NoSchedule -> gpu-1 and gpu-2\n      kubectl patch "
    )


def test_what_brings_the_workload_no_more_pods_is_not_proposed(world: World) -> None:
    """Another port is another for all replicas: still one of them lands on a node."""
    world.node("only")
    made = world.workload("Deployment", "web", replicas=3)
    made["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    assert "Change hostPort" not in world.explain(made).stdout
    for pod in world.answer(made)["pods"][1:]:
        assert pod["advice"][0]["brings"] == 3
        assert all(advice["brings"] for advice in pod["advice"])


def test_json_has_the_shape_of_the_scheduler_and_the_advice(fleet: World) -> None:
    answer = fleet.answer(fleet.pod("llm", resources=requests(gpu=4)))
    assert answer["pod"] == "default/llm"
    assert answer["lands"] is False
    assert answer["message"].startswith("0/4 nodes are available: 2 Insufficient nvidia.com/gpu, 2 node(s) had untol")
    first = answer["nodes"][0]
    assert first["plugin"] == "TaintToleration"
    assert first["reasons"] == ["node(s) had untolerated taint(s)"]
    assert [blocked["nodes"] for blocked in answer["blocked"]] == [["gpu-1", "gpu-2"], ["cpu-1", "cpu-2"]]
    assert {"edits", "command", "nodes"} <= answer["advice"][0].keys()
    assert "causes" not in first


def test_all_nodes_have_their_causes_when_asked_for(fleet: World) -> None:
    result = fleet.explain(fleet.pod("llm", resources=requests(gpu=4)), "-o", "json", "--all-nodes")
    first = json.loads(result.stdout)["nodes"][0]
    assert first["causes"] == [
        {"plugin": "TaintToleration", "text": "taint nvidia.com/gpu=present:NoSchedule is not tolerated"}
    ]


def test_yaml_says_the_same_as_json(fleet: World) -> None:
    from mooring.manifests.loader import load

    pod = fleet.pod("llm", resources=requests(gpu=4))
    assert load(fleet.explain(pod, "-o", "yaml").stdout) == fleet.answer(pod)


def test_no_advice_at_all_can_be_asked_for(fleet: World) -> None:
    assert fleet.explain(fleet.pod("llm", resources=requests(gpu=4)), "--limit", "0", "-o", "json").exit_code == 2


# Held back or refused


def test_a_gated_pod_is_said_to_be_held_back_and_explained_without_its_gates(fleet: World) -> None:
    gates = [{"name": "example.com/quota"}, {"name": "example.com/data"}]
    result = fleet.explain(fleet.pod("web", schedulingGates=gates))
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0] == "default/web is held back: SchedulingGated by example.com/quota, example.com/data"
    assert lines[1].strip() == messages.GATED
    assert lines[3].startswith("Without its gates: default/web would be scheduled on cpu-1")


def test_a_pod_that_the_api_refuses_is_told_so_first(fleet: World) -> None:
    pod = fleet.pod("web", tolerations=[{"key": "a b", "operator": "Maybe"}], nodeSelector={"zone!": "a"})
    result = fleet.explain(pod)
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0] == 'The Pod "web" is invalid:'
    assert lines[1].startswith("* spec.nodeSelector: Invalid value: ")
    assert "If it were accepted: default/web cannot be placed: 0 of 4 nodes fit" in lines
    assert any(line.startswith("spec.nodeSelector") for line in fleet.answer(pod)["invalid"])


def test_leaders_and_workers_with_templates_of_their_own_are_patched_each_in_its_template(fleet: World) -> None:
    lws = leader_worker_set("serve", replicas=1, size=2, pod={"nodeSelector": {"team": "nobody"}})
    spec = {"containers": [{"name": "lead", "image": "registry.example.com/lead:1"}], "nodeSelector": {"team": "none"}}
    lws["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = {"spec": spec}
    dropped = {"leaderTemplate": "Drop nodeSelector team: none", "workerTemplate": "Drop nodeSelector team: nobody"}
    leader, worker = fleet.answer(lws)["pods"]
    for told, own, other in (
        (leader, "leaderTemplate", "workerTemplate"),
        (worker, "workerTemplate", "leaderTemplate"),
    ):
        first = told["advice"][0]
        assert (first["parts"], first["brings"]) == ([dropped[own], dropped[other]], 2)
        assert f"{dropped[own]} in {own}" in first["title"]
        paths = [f"/spec/leaderWorkerTemplate/{each}/spec/nodeSelector/team" for each in (own, other)]
        assert all(f'{{"op":"remove","path":"{path}"}}' in first["command"] for path in paths)


def test_a_template_that_the_api_refuses_is_told_as_the_workloads(fleet: World) -> None:
    result = fleet.explain(fleet.workload("Deployment", "web", pod={"restartPolicy": "Sometimes"}, replicas=2))
    assert result.exit_code == 2
    assert 'The Deployment "web" is invalid: spec.template.spec.restartPolicy: Unsupported value' in result.stdout


def test_a_selector_that_misses_its_own_template_is_refused(fleet: World) -> None:
    deployment = fleet.workload("Deployment", "web")
    deployment["spec"]["selector"] = {"matchLabels": {"app": "wbe"}}
    assert "`selector` does not match template `labels`" in fleet.explain(deployment).stdout


# Several pods


def test_every_replica_is_bound_before_the_next_is_placed(fleet: World) -> None:
    tolerations = [{"operator": "Exists"}]
    result = fleet.explain(
        fleet.workload("Deployment", "llm", requests(gpu=5), replicas=3, pod={"tolerations": tolerations})
    )
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0] == "Deployment default/llm: 2 of 3 pods would be scheduled"
    assert [line.split()[:2] for line in lines[3:6]] == [
        ["default/llm-1", "gpu-1"],
        ["default/llm-2", "gpu-2"],
        ["default/llm-3", "-"],
    ]
    assert "default/llm-3 cannot be placed: 0 of 4 nodes fit" in lines


def test_identical_failures_are_told_once(fleet: World) -> None:
    result = fleet.explain(fleet.workload("Deployment", "llm", requests(gpu=5), replicas=4))
    assert result.stdout.count("nodes fit") == 1
    assert "  default/llm-2  -     as default/llm-1\n" in result.stdout


def test_stateful_pods_keep_their_names_and_spread(fleet: World) -> None:
    answer = fleet.answer(fleet.workload("StatefulSet", "db", replicas=2))
    assert [(pod["pod"], pod["node"]) for pod in answer["pods"]] == [
        ("default/db-0", "cpu-1"),
        ("default/db-1", "cpu-2"),
    ]
    assert "PodTopologySpread" in answer["pods"][1]["nodes"][2]["scores"]


def test_the_running_pods_of_a_deployment_make_room_for_the_new_ones(fleet: World) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "llm-5d4f", "uid": "u", "controller": True}
    fleet.running("llm-5d4f-x7x7x", "gpu-1", resources=requests(gpu=8), tolerations=[{"operator": "Exists"}])
    fleet.objects[-1]["metadata"]["ownerReferences"] = [owner]
    result = fleet.explain(
        fleet.workload("Deployment", "llm", requests(gpu=8), pod={"tolerations": [{"operator": "Exists"}]})
    )
    assert headline(result.stdout).startswith("default/llm-1 would be scheduled on gpu-1")
    assert "Deployment default/llm has 1 pod in the cluster already; explained as if not yet placed" in result.stdout


def test_a_job_places_what_runs_at_a_time(fleet: World) -> None:
    result = fleet.explain(fleet.workload("Job", "batch", parallelism=2, completions=10, completionMode="Indexed"))
    assert headline(result.stdout) == "Job default/batch: all 2 pods would be scheduled"
    assert "the Job runs 2 at a time of 10 pods in all; the first 2 are explained" in result.stdout


def test_several_documents_are_placed_in_order(fleet: World) -> None:
    big = fleet.pod("big", resources=requests(cpu=15), nodeSelector={"kubernetes.io/hostname": "cpu-1"})
    late = fleet.pod("late", resources=requests(cpu=15), nodeSelector={"kubernetes.io/hostname": "cpu-1"})
    result = fleet.explain(big, late)
    assert result.stdout.splitlines()[:2] == [
        "Pod default/big would be scheduled",
        "Pod default/late cannot be scheduled",
    ]


def test_a_failing_pod_of_the_same_workload_is_explained_once_in_a_large_set(fleet: World) -> None:
    result = fleet.explain(
        fleet.workload("StatefulSet", "db", requests(cpu=4), replicas=30, podManagementPolicy="Parallel")
    )
    assert result.exit_code == 2
    assert headline(result.stdout) == "StatefulSet default/db: 8 of 30 pods would be scheduled"
    assert "  cpu-1     4\n" in result.stdout
    assert (
        "without a node: default/db-8, default/db-9, default/db-10, default/db-11, default/db-12 and 17 more"
        in result.stdout
    )
    assert result.stdout.count("cannot be placed") == 1
    assert len(result.stdout.splitlines()) < 40


def test_no_replicas_are_no_failure(fleet: World) -> None:
    result = fleet.explain(fleet.workload("Deployment", "web", replicas=0))
    assert result.exit_code == 0
    assert headline(result.stdout) == "There are no pods to place."


# What surrounds the pods


def test_classes_and_nodes_of_the_manifests_count(fleet: World) -> None:
    klass = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 7}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    fleet.running("old", "cpu-1", resources=requests(cpu=16)).running("older", "cpu-2", resources=requests(cpu=16))
    result = fleet.explain(klass, config, fleet.pod("web", resources=requests(cpu=1), priorityClassName="gold"))
    assert result.exit_code == 0
    assert "after 1 pod of lower priority leaves" in headline(result.stdout)
    assert "Note: left out, as placement does not depend on it: 1 ConfigMap." in result.stdout


def test_a_pod_whose_claim_is_not_known_may_land(fleet: World) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    result = fleet.explain(fleet.pod("web", volumes=volumes))
    assert result.exit_code == 3
    assert headline(result.stdout).startswith("default/web may be scheduled, on cpu-1 as far as is known")
    assert "Not known: claim default/data is not known, as no PersistentVolumeClaim was read." in result.stdout


def test_another_scheduler_and_unknown_fields_are_noted(fleet: World) -> None:
    result = fleet.explain(fleet.pod("web", schedulerName="volcano", nodeSelektor={"a": "b"}))
    assert result.exit_code == 3
    unknown = "what scheduler volcano does with it; this is what default-scheduler would do"
    assert f"Not known: {unknown}." in result.stdout
    assert 'Note: Pod web: unknown field "spec.nodeSelektor"; the API drops it.' in result.stdout


def test_a_large_cluster_is_searched_as_far_as_asked(world: World) -> None:
    for number in range(120):
        world.node(f"n{number:03}")
    everything = world.explain(world.pod("web"))
    assert "120 nodes fit\n" in everything.stdout
    assert "Note: all 120 nodes are scored here; a scheduler at work stops at 100 that fit" in everything.stdout
    sampled = world.explain(world.pod("web"), "--percentage-of-nodes-to-score", "0")
    assert "100 nodes fit\n" in sampled.stdout
    assert "and 95 more nodes (--all-nodes lists them)\n" in sampled.stdout


def test_a_manifest_can_come_from_standard_input(fleet: World) -> None:
    text = json.dumps(fleet.pod("web"))
    result = fleet.explain("-f", "-", stdin=text)
    assert headline(result.stdout).startswith("default/web would be scheduled on cpu-1")


def test_a_namespace_is_given_to_pods_that_name_none(fleet: World) -> None:
    pod = fleet.pod("web")
    del pod["metadata"]["namespace"]
    assert headline(fleet.explain(pod, "-n", "shop").stdout).startswith("shop/web would be scheduled")


# The process


def test_exit_codes_of_the_real_command(fleet: World) -> None:
    assert fleet.run(fleet.pod("web")).returncode == 0
    assert fleet.run(fleet.pod("llm", resources=requests(gpu=4))).returncode == 2


def test_an_interrupt_is_told_by_the_exit_code(fleet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mooring.cli.sources.snapshot_source.load_snapshot", interrupt)
    result = fleet.explain("pod/web")
    assert (result.exit_code, result.output) == (130, "")


def test_a_reader_that_leaves_is_no_crash(fleet: World) -> None:
    command = [sys.executable, "-m", "mooring", "explain", *fleet._arguments((fleet.pod("web"),))]
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    done = subprocess.run(command, stdout=reader.stdin, stderr=subprocess.PIPE, text=True, check=False)
    reader.communicate()
    assert done.returncode in (0, 1)
    assert done.stderr == ""


def on_a_terminal(world: World, *arguments: str | dict[str, Any]) -> str:
    """What the real command writes to a terminal."""
    command = [sys.executable, "-m", "mooring", "explain", *world._arguments(arguments)]
    leader, follower = pty.openpty()
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdout=follower, cwd=world.folder, env=env)
    os.close(follower)
    output = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    os.close(leader)
    process.wait()
    return output.decode().replace("\r\n", "\n")


def test_colour_is_for_terminals_only(fleet: World) -> None:
    pod = fleet.pod("llm", resources=requests(gpu=4))
    assert "\x1b[" in on_a_terminal(fleet, pod)
    assert "\x1b[" not in fleet.run(pod).stdout


def test_a_terminal_without_colour(fleet: World) -> None:
    text = on_a_terminal(fleet, fleet.pod("llm", resources=requests(gpu=4)), "--no-color")
    assert "\x1b[3" not in text
    commands = [line for line in text.splitlines() if line.strip().startswith("kubectl patch")]
    assert commands
    assert all(line.endswith("-o yaml") for line in commands), "a command must not be wrapped"
