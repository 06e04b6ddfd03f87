"""How far a deployment is, by the statuses of KAITO 0.6, 0.8 and 0.10, of our own controller, and of groups."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.kube.objects import Object
from mooring.runway.deployments.deployed_model import DeployedModel, ReplicaCounts
from mooring.runway.providers.deployment_kinds import deployment
from mooring.runway.providers.registry import deployment_manifests, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS
from mooring.testing.builders import pod


def made(**fields: Any) -> Object:
    config = read_deployment({"name": "phi", "modelId": "phi-4", **fields}, embedded=True).config
    return deployment_manifests(config, DEFAULT_SETTINGS)[0]


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def shown(status: Object, *pods: Object, **fields: Any) -> DeployedModel:
    return deployment({**made(**fields), "status": status}, pods, "kaito")


NODES = condition("ResourceReady")
SERVES = condition("InferenceReady")
DONE = condition("WorkspaceSucceeded")


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ({}, "Pending"),
        ({"phase": "running"}, "Running"),
        ({"phase": "Ready"}, "Running"),
        ({"phase": "creating"}, "Pending"),
        ({"phase": "provisioning"}, "Deploying"),
        ({"phase": "Deploying"}, "Deploying"),
        ({"phase": "error"}, "Failed"),
        ({"phase": "Failed"}, "Failed"),
        ({"phase": "deleting"}, "Terminating"),
        ({"phase": "Terminating"}, "Terminating"),
        ({"phase": "something else"}, "Pending"),
        ({"phase": "pending", "conditions": [DONE, SERVES]}, "Running"),
        ({"conditions": [condition("ResourceReady", "False")]}, "Pending"),
        ({"conditions": [NODES]}, "Deploying"),
        ({"conditions": [NODES, condition("InferenceReady", "False")]}, "Deploying"),
        ({"conditions": [NODES, SERVES]}, "Pending"),
        ({"conditions": [NODES, SERVES, DONE]}, "Running"),
        ({"conditions": [condition("WorkspaceSucceeded", "False", "workspaceFailed")]}, "Failed"),
        ({"conditions": [NODES, condition("WorkspaceSucceeded", "False", "workspacePending")]}, "Deploying"),
        ({"state": "Ready"}, "Running"),
        ({"state": "Succeeded"}, "Running"),
        ({"state": "Failed"}, "Failed"),
        ({"state": "NotReady", "conditions": [DONE]}, "Deploying"),
        ({"state": "Pending"}, "Pending"),
        ({"state": "Pending", "conditions": [NODES]}, "Deploying"),
    ],
)
def test_the_phase_follows_from_whatever_is_there(status: Object, phase: str) -> None:
    assert shown(status).phase == phase


def test_what_is_being_deleted_is_terminating() -> None:
    obj = made()
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert deployment({**obj, "status": {"state": "Ready"}}, (), "kaito").phase == "Terminating"


def test_replicas_are_ready_while_it_runs() -> None:
    assert shown({"state": "Ready", "workerNodes": ["a", "b"]}, replicas=3).replicas == ReplicaCounts(3, 2, 2)
    assert shown({"state": "Ready"}, replicas=3).replicas == ReplicaCounts(3, 3, 3)
    assert shown({"state": "Pending", "workerNodes": ["a", "b"]}, replicas=3).replicas == ReplicaCounts(3, 0, 0)


def test_pods_are_counted_where_they_are_known() -> None:
    ready = pod("phi-0", node="h-1")
    ready["status"]["conditions"] = [condition("Ready")]
    found = shown({"state": "Ready"}, ready, pod("phi-1"), replicas=2)
    assert found.replicas == ReplicaCounts(2, 1, 1)
    assert [(each.name, each.node, each.ready) for each in found.pods] == [("phi-0", "h-1", True), ("phi-1", "", False)]


def test_the_message_says_what_is_waited_for() -> None:
    waiting = condition("ResourceReady", "False", message="0 of 1 nodes are ready")
    assert shown({"conditions": [waiting]}).message == "0 of 1 nodes are ready"
    failed = condition("WorkspaceSucceeded", "False", "workspaceFailed", "it broke")
    assert shown({"conditions": [failed]}).message == "it broke"
    stuck = pod("phi-0")
    stuck["status"]["conditions"] = [condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")]
    assert shown({"conditions": [NODES]}, stuck).message == "pod phi-0: Unschedulable: 0/1 nodes are available"
    pulling = pod("phi-0", node="h-1")
    pulling["status"]["containerStatuses"] = [
        {"restartCount": 2, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    ]
    found = shown({"conditions": [NODES]}, pulling)
    assert (found.message, found.pods[0].restarts) == ("pod phi-0: ImagePullBackOff: no such image", 2)


@pytest.mark.parametrize(
    ("fields", "model", "engine", "service"),
    [
        ({}, "microsoft/phi-4", "vllm", "phi-vllm:8000"),
        ({"modelSource": "preset"}, "microsoft/phi-4", "vllm", "phi:80"),
        ({"modelId": "llama3.2:1b"}, "llama3.2:1b", "llamacpp", "phi:80"),
        ({"modelId": "org/m", "ggufFile": "m.Q4_0.gguf"}, "org/m", "llamacpp", "phi:80"),
    ],
)
def test_model_engine_and_service_are_told_with_and_without_our_labels(
    fields: Any, model: str, engine: str, service: str
) -> None:
    bare = made(**fields)
    bare["metadata"] = {"name": "phi", "namespace": "default"}
    for obj in (made(**fields), bare):
        found = deployment(obj, (), "kaito")
        assert (found.model_id, found.engine, found.frontend_service) == (model, engine, service)


def test_an_object_without_our_label_is_of_the_provider_that_is_there() -> None:
    bare = made()
    del bare["metadata"]["labels"]
    assert deployment(bare, (), "kaito").provider == "kaito"
    assert deployment(made(), (), "kaito").provider == "mooring"


def groups(ready: int, *pods: Object) -> DeployedModel:
    obj = made(modelId="deepseek-r1-0528", nodes=2, resources={"gpu": 8}, servedModelName="r1")
    return deployment({**obj, "status": {"readyReplicas": ready}}, pods, "mooring")


def test_groups_run_when_all_are_ready() -> None:
    assert groups(1).phase == "Running"
    assert groups(0).phase == "Pending"
    assert groups(0, pod("phi-0", node="h-1"), pod("phi-0-1", node="h-2")).phase == "Deploying"
    assert groups(0, pod("phi-0", node="h-1"), pod("phi-0-1")).phase == "Pending"
    found = groups(1)
    assert (found.model_id, found.served_model_name) == ("deepseek-ai/DeepSeek-R1-0528", "r1")
    assert found.frontend_service == "phi-vllm:8000"


def test_it_is_written_with_upstreams_names() -> None:
    written = msgspec.to_builtins(shown({"state": "Ready"}))
    assert {"modelId", "servedModelName", "engine", "mode", "phase", "frontendService", "createdAt"} < written.keys()
    assert written["replicas"] == {"desired": 1, "ready": 1, "available": 1}
