"""Plans of Workspaces, as a user sees them.

`MOORING_UPDATE_GOLDEN=1 pytest tests/plan/test_workspaces.py` writes the page anew; look at the difference before
keeping it.
"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.manifests.emit import to_yaml
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.settings import Configuration
from mooring.testing.workspaces import A100, gpu_node, workspace

GOLDEN = Path(__file__).parent / "golden"
HOUR = timedelta(hours=1)
LLAMA = "llama-3.3-70b-instruct"
PROVISIONS = Configuration(settings={"node-provisioner": "karpenter"})
PENDING = Configuration(settings={"not-ready-nodes": "pending"})


def lost(name: str) -> Object:
    made = gpu_node(name)
    made["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    return made


def planned(obj: Object, *nodes: Object, configuration: Configuration | None = None) -> Plan:
    cluster = SimulatedCluster(nodes, configuration=configuration or Configuration())
    return make_plan(cluster, [PlannedWorkload(obj, "work.yaml")], "default", HOUR)


def ran(folder: Path, obj: Object, *nodes: Object, flags: tuple[str, ...] = ()) -> Result:
    (folder / "work.yaml").write_text(to_yaml(obj), encoding="utf-8")
    (folder / "cluster.yaml").write_text("---\n".join(map(to_yaml, nodes)), encoding="utf-8")
    files = ["-f", str(folder / "work.yaml"), "--snapshot", str(folder / "cluster.yaml")]
    return CliRunner().invoke(cli, ["plan", *files, *flags])


def test_the_page_of_a_workspace_that_asks_for_the_nodes_it_lacks(tmp_path: Path) -> None:
    nodes = gpu_node("mine", instance_type=A100), gpu_node("other", instance_type="Standard_NV36ads_A10_v5", cpu="1")
    obj = workspace("llama", preset=LLAMA, instance_type=A100, preferredNodes=["other"])
    flags = ("--node-provisioner", "karpenter", "--node-claim-delay", "3m")
    done = ran(tmp_path, obj, *nodes, flags=flags)
    assert done.exit_code == 0, done.stderr
    page = GOLDEN / "workspaces.txt"
    # Names of claims follow from the uid of the Workspace, which a plan draws from its seed.
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        page.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == page.read_text(encoding="utf-8")

    told = json.loads(ran(tmp_path, obj, *nodes, flags=(*flags, "-o", "json")).stdout)
    assert [(node["type"], node["cameAfterSeconds"]) for node in told["nodes"]] == [(A100, 180.0)] * 2
    (found,) = told["workloads"]
    assert found["nodes"]["claims"] == {"count": 2, "type": A100}
    assert len(found["nodes"]["ready"]) == 3


def test_a_workspace_on_brought_nodes_runs_and_brings_no_node() -> None:
    plan = planned(workspace(preset=LLAMA), *(gpu_node(f"gpu-{i}") for i in range(4)))
    assert {pod.phase for pod in plan.pods} == {"Running"}
    assert (len(plan.pods), plan.nodes, plan.waiting) == (3, [], [])


def test_a_workspace_without_enough_nodes_is_refused_in_the_words_of_admission() -> None:
    with pytest.raises(ApiError, match=r"2 nodes match the label selector, 3 are required \(count is 1 and the model"):
        planned(workspace(preset=LLAMA), gpu_node("gpu-1"), gpu_node("gpu-2"))


def test_a_workspace_that_is_left_waiting_for_its_nodes_never_makes_pods(tmp_path: Path) -> None:
    plan = planned(workspace(count=2), gpu_node("a"), lost("b"), configuration=PENDING)
    (said,) = plan.waiting
    assert said.startswith("Workspace default/llm: Not enough Nodes are ready: 1 of 2 matching nodes")
    done = ran(tmp_path, workspace(count=2), gpu_node("a"), lost("b"), flags=("--not-ready-nodes", "pending"))
    assert done.exit_code == 2
    assert said in done.stdout


def test_claims_that_nobody_can_fill_are_told_with_their_reason() -> None:
    plan = planned(workspace(instance_type="Standard_X1"), gpu_node("other"), configuration=PROVISIONS)
    (said,) = plan.waiting
    assert "Standard_X1" in said
    assert (plan.pods, plan.nodes) == ([], [])


def test_a_workspace_in_the_snapshot_goes_on() -> None:
    cluster = SimulatedCluster([gpu_node("a"), workspace(preset="phi-4")])
    assert [pod.key for pod in make_plan(cluster, [], "default", HOUR).pods] == ["default/llm-0"]


def test_what_admission_warns_of_stands_in_the_notes() -> None:
    plan = planned(workspace(preset="phi-4", preferredNodes=["a"]), gpu_node("a"))
    (warning,) = plan.cluster.warnings
    assert warning.startswith("resource.preferredNodes is deprecated")


def test_a_node_that_is_applied_is_not_one_that_comes() -> None:
    cluster = SimulatedCluster([gpu_node("a")])
    plan = make_plan(cluster, [PlannedWorkload(gpu_node("b"), "work.yaml")], "default", HOUR)
    assert plan.nodes == []
    (node,) = [each for each in cluster.objects("v1", "Node") if each["metadata"]["name"] == "b"]
    assert {"Ready": "True"}.items() <= {each["type"]: each["status"] for each in node["status"]["conditions"]}.items()
    assert not node["spec"].get("taints")
