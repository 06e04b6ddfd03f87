"""Workspaces as `explain` shows them: the nodes they chose, and what admission would refuse.

`MOORING_UPDATE_GOLDEN=1 pytest tests/cli/test_workspaces.py` writes the pages anew; look at the difference before
keeping it.
"""

from __future__ import annotations

import json

from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.cli.live import Live
from tests.cli.test_pages import check
from tests.cli.world import World
from tests.features.workspaces.town import WorkspaceTown

LLAMA = "llama-3.3-70b-instruct"
SAVED = ("Node", "Pod", "Service", "StatefulSet", "Workspace")


def lost(name: str) -> Object:
    made = gpu_node(name, taints=["node.kubernetes.io/not-ready:NoSchedule"])
    made["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    return made


def test_a_workspace_that_lands_and_the_node_that_it_leaves_out(world: World) -> None:
    world.add(*(gpu_node(f"gpu-{i}") for i in range(1, 5)), lost("gpu-5"))
    done = world.explain(workspace("llama", preset=LLAMA))
    check("workspace-lands", done.stdout)
    assert done.exit_code == 0


def test_a_workspace_with_too_few_nodes_is_told_in_the_words_of_admission(world: World) -> None:
    world.add(gpu_node("gpu-1"), lost("gpu-2"), gpu_node("gpu-3", labels={"apps": "llms"}))
    done = world.explain(workspace("llama", preset=LLAMA))
    check("workspace-too-few", done.stdout)
    assert done.exit_code == 2


def test_a_workspace_without_a_node_that_matches(world: World) -> None:
    world.add(gpu_node("gpu-1", labels={"apps": "llms"}))
    done = world.explain(workspace("llama", preset=LLAMA))
    check("workspace-no-nodes", done.stdout)
    assert done.exit_code == 2
    (told,) = world.answer(workspace("llama", preset=LLAMA))["workloads"]
    assert told["invalid"] == [done.stdout.splitlines()[0].partition("is invalid: ")[2]]


def test_claims_for_the_nodes_that_are_missing(world: World) -> None:
    world.add(gpu_node("mine", instance_type=A100), gpu_node("other", instance_type="Standard_NV36ads_A10_v5"))
    obj = workspace("llama", preset=LLAMA, instance_type=A100)
    done = world.explain(obj, "--node-provisioner", "karpenter")
    check("workspace-claims", done.stdout)
    assert done.exit_code == 0
    answer = world.answer(obj, "--feature-gates", "disableNodeAutoProvisioning=false")
    (told,) = answer["workloads"]
    assert told["nodes"]["claims"] == {"count": 2, "type": A100}
    assert {pod["node"] for pod in answer["pods"]} == {"llama-new-1", "llama-new-2", "mine"}


def test_a_workspace_that_is_let_in_although_its_nodes_are_not_ready_waits(world: World) -> None:
    world.add(gpu_node("gpu-1"), lost("gpu-2"))
    done = world.explain(workspace(count=2), "--not-ready-nodes", "pending")
    assert done.stdout.startswith(
        "Workspace default/llm waits: 1 of 2 required nodes are ready\n\nWorkspace default/llm: "
    )
    assert done.exit_code == 2


def test_a_workspace_that_lost_all_its_nodes_and_one_of_a_type_nobody_knows_make_no_pods(world: World) -> None:
    obj = workspace(preset="phi-4")
    world.add(gpu_node("gpu-1", labels={"apps": "other"}), {**obj, "status": {"targetNodeCount": 1}})
    done = world.explain("workspace/llm")
    assert done.exit_code == 2
    assert done.stdout.startswith("Workspace default/llm waits: ")
    unknown = workspace("new", preset="phi-4", instance_type="Standard_X1")
    (told,) = world.answer(unknown, "--node-provisioner", "karpenter")["workloads"]
    assert "Standard_X1" in told["waits"]


def test_advice_about_a_preset_leaves_its_pods_alone(world: World) -> None:
    world.add(gpu_node("gpu-1", taints=["dedicated=training:NoSchedule"]))
    answer = world.answer(workspace(preset="phi-4"))
    edits = [edit for advice in answer["pods"][0]["advice"] for edit in advice["edits"]]
    assert edits
    assert "pod" not in {edit["target"] for edit in edits}
    (first, *_) = world.answer(workspace(gpu=1))["pods"][0]["advice"]
    assert first["edits"][0]["target"] == "pod"
    assert "/inference/template/spec/tolerations" in first["command"]
    # A change of the template does nothing to a Workspace that is there.
    world.add(workspace(gpu=1))
    (first, *_) = world.answer("workspace/llm")["pods"][0]["advice"]
    assert not first.get("command")


def test_a_snapshot_holds_workspaces_and_a_plan_leaves_their_pods_alone(live: Live) -> None:
    town = WorkspaceTown(gpu_node("gpu-1"), gpu_node("gpu-2"), workspace(preset="phi-4"), nodes=0)
    live.cluster.serve_features()
    for kind in SAVED:
        live.cluster.add(*town.all(kind).values())
    assert live.run("snapshot", "-o", "cluster.yaml").stderr == ""
    alive = live.run("explain", "workspace/llm", "-o", "json")
    saved = CliRunner().invoke(cli, ["explain", "wk/llm", "-o", "json", "--snapshot", "cluster.yaml"])
    assert (saved.exit_code, json.loads(saved.stdout)) == (0, json.loads(alive.stdout))

    (live.world.folder / "more.yaml").write_text(json.dumps(workspace("more", preset="phi-4")))
    plan = CliRunner().invoke(cli, ["plan", "-f", "more.yaml", "-o", "json", "--snapshot", "cluster.yaml"])
    found = json.loads(plan.stdout)
    assert [(pod["pod"], pod["phase"]) for pod in found["pods"]] == [("default/more-0", "Running")]
    assert found["evicted"] == []
