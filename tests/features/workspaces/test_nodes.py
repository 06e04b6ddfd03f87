"""Workspaces on nodes that were brought: what becomes of them when nodes come, go, or do not count."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from mooring.api.core.views import Node, NodeMeta, NodeStatus
from mooring.api.meta import Condition
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.node_claims import uncounted_nodes, usable_nodes
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.testing.builders import taint
from mooring.testing.workloads import service, stateful_set
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.workspaces.town import WorkspaceTown


def since(obj: Object, kind: str) -> str:
    """When a condition got its status."""
    (found,) = (each["lastTransitionTime"] for each in obj["status"]["conditions"] if each["type"] == kind)
    return str(found)


def test_a_workspace_is_served_by_the_nodes_that_match() -> None:
    town = WorkspaceTown(gpu_node("a"), gpu_node("b"), gpu_node("other", labels={}), workspace(gpu=1, count=2))
    assert set(town.placed().values()) == {"a", "b"}
    status = town.get("Workspace", "llm")["status"]
    assert (status["workerNodes"], status["targetNodeCount"], status["state"]) == (["a", "b"], 2, "Ready")
    assert town.condition("Placeable") == ("True", "Fits", "2 of 2 pods can be scheduled")


def test_surplus_nodes_are_candidates_like_the_others() -> None:
    town = WorkspaceTown(*map(gpu_node, ("a", "b", "c")), workspace(gpu=1, count=2))
    assert len(town.placed()) == 2
    assert town.get("Workspace", "llm")["status"]["workerNodes"] == ["a", "b", "c"]


def test_a_node_that_is_lost_is_told_within_a_second() -> None:
    town = WorkspaceTown(gpu_node("a"), gpu_node("b"), workspace(gpu=1, count=2))
    town.lose("b")
    town.run(120)
    found = town.get("Workspace", "llm")
    late = moment(since(found, "NodesReady")) - moment(since(town.get("Node", "b"), "Ready"))
    assert 0 <= late.total_seconds() <= 1
    assert town.condition("ResourceReady")[:2] == ("False", "workspaceResourceStatusNotReady")
    text = (
        "Not enough Nodes are ready: 1 of 2 matching nodes are ready, 2 are required; "
        "not counted: b is not ready (NodeStatusUnknown)"
    )
    assert town.condition("NodesReady") == ("False", "NodeNotReady", text)
    assert town.told("NodeNotReady") == [text]
    assert found["status"]["state"] == "NotReady"


def test_a_surplus_node_that_is_lost_is_told_too() -> None:
    town = WorkspaceTown(gpu_node("a"), gpu_node("b"), workspace(gpu=1))
    town.lose("b")
    town.run(120)
    text = (
        "Enough Nodes are ready: 1 of 2 matching nodes are ready, 1 are required; "
        "not counted: b is not ready (NodeStatusUnknown)"
    )
    assert town.told("NodesNotCounted") == [text]
    assert town.condition("NodesReady") == ("True", "NodesReady", text)


def test_a_node_that_is_relabelled_is_told() -> None:
    town = WorkspaceTown(gpu_node("a"), gpu_node("b"), workspace(gpu=1, count=2))
    before = town.simulation.now
    town.relabel("b", apps="web")
    town.run(2)
    assert (moment(since(town.get("Workspace", "llm"), "NodesReady")) - before).total_seconds() <= 1
    assert town.told("NodeRelabeled") == ["Node b does not match labelSelector any more: apps is web"]
    town.relabel("b", apps="llm")
    town.run(2)
    assert town.condition("NodesReady")[0] == "True"
    assert town.told("NodesReady")[-1] == "Enough Nodes are ready: 2 of 2 matching nodes are ready, 2 are required"


def test_what_a_pod_that_serves_has_got_over_is_not_what_the_workspace_waits_for() -> None:
    town = WorkspaceTown(gpu_node("a"), workspace(gpu=1))
    before = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    (serving,) = town.get("Pod", "llm-0")["status"]["containerStatuses"]
    status = {"containerStatuses": [{**serving, "lastState": before}]}
    town.patch("Pod", "llm-0", {"status": status}, "status")
    town.relabel("a", apps="web")
    town.run()
    assert town.get("StatefulSet", "llm")["status"]["readyReplicas"] == 1
    assert town.condition("InferenceReady")[:2] == ("False", "WorkspaceInferenceStatusPending")


def test_a_node_that_is_deleted_is_told() -> None:
    town = WorkspaceTown(gpu_node("a"), gpu_node("b"), workspace(gpu=1, count=2))
    town.delete("Node", "b")
    town.run(60)
    assert town.told("NodeDeleted") == ["Node b is gone"]
    assert town.condition("NodesReady")[0] == "False"


def test_what_would_help_a_preset_is_never_a_change_of_its_pods() -> None:
    tainted = gpu_node("a", taints=["maintenance=yes:NoSchedule"])
    _, _, of_preset = WorkspaceTown(tainted, workspace(preset="phi-4")).condition("Placeable")
    _, _, of_template = WorkspaceTown(tainted, workspace(gpu=1)).condition("Placeable")
    assert "what would help: Tolerate taint maintenance=yes:NoSchedule" in of_template
    assert "what would help: Remove taint maintenance=yes:NoSchedule from node a" in of_preset


def test_a_pod_that_cannot_be_scheduled_has_the_reason_and_the_smallest_change() -> None:
    town = WorkspaceTown(gpu_node("a", taints=["maintenance=yes:NoSchedule"]), workspace(gpu=1))
    status, reason, message = town.condition("Placeable")
    assert (status, reason) == ("False", "Unschedulable")
    assert message.startswith("0 of 1 pod can be scheduled; llm-0 cannot: 0/1 nodes are available")
    assert "what would help: " in message
    assert town.condition("InferenceReady")[1] == "Unschedulable"
    town.patch("Node", "a", {"spec": {"taints": [taint("maintenance=yes:PreferNoSchedule")]}})
    town.run()
    assert town.condition("Placeable")[:2] == ("True", "Fits")


def test_a_stateful_set_of_somebody_else_is_left_alone() -> None:
    theirs = stateful_set("llm", 1)
    town = WorkspaceTown(theirs, gpu_node("a"), workspace(gpu=1))
    status, reason, message = town.condition("InferenceReady")
    assert (status, reason) == ("False", "NameTaken")
    assert message == (
        "StatefulSet llm in namespace default exists and was not made for this Workspace; "
        "delete it, or give the Workspace another name"
    )
    assert town.get("StatefulSet", "llm")["spec"]["template"]["spec"]["containers"][0]["name"] == "main"
    assert not town.all("Service").keys() & {"llm", "llm-headless"}
    town.delete("StatefulSet", "llm")
    town.run()
    assert town.condition("InferenceReady")[0] == "True"


def test_a_service_of_somebody_else_is_left_alone() -> None:
    town = WorkspaceTown(service("llm", "web"), gpu_node("a"), workspace(gpu=1))
    assert town.condition("InferenceReady")[1] == "NameTaken"
    assert town.get("Service", "llm")["spec"]["selector"] == {"app": "web"}
    assert "llm" not in town.all("StatefulSet")


def test_what_upstreams_operator_left_without_an_owner_is_adopted_without_a_restart() -> None:
    town = WorkspaceTown(gpu_node("a"), workspace(gpu=1))
    before = town.uids()
    town.patch("StatefulSet", "llm", {"metadata": {"ownerReferences": None}})
    town.run()
    (owner,) = town.get("StatefulSet", "llm")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"]) == ("Workspace", True)
    assert town.uids() == before


NODES = st.builds(
    lambda name, ready, instance_type, owner: Node(
        NodeMeta(name=name, labels={**instance_type, **owner}),
        status=NodeStatus(conditions=(Condition("Ready", ready),)),
    ),
    st.text("abc", min_size=1, max_size=3),
    st.sampled_from(["True", "False", "Unknown"]),
    st.sampled_from([{}, {"node.kubernetes.io/instance-type": A100}, {"node.kubernetes.io/instance-type": "other"}]),
    st.sampled_from([{}, {"kaito.sh/workspace": "llm"}, {"kaito.sh/workspace": "chat"}]),
)


@given(st.lists(NODES, max_size=8, unique_by=lambda each: each.metadata.name))
def test_every_matching_node_counts_or_is_named_with_the_reason(nodes: list[Node]) -> None:
    asking = msgspec.convert(workspace(instance_type=A100), Workspace)
    counted = [node.metadata.name for node in usable_nodes(asking, nodes)]
    named = [text.partition(" ")[0] for text in uncounted_nodes(asking, nodes)]
    assert sorted(counted + named) == sorted(node.metadata.name for node in nodes)
    ready = {node.metadata.name for node in nodes if node.ready}
    assert set(counted) <= ready
