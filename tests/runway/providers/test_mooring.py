"""Plain Mooring as a provider: Workspaces, and groups of pods for a model that no node holds."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.validation.pods import validate_pod
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import NOTHING_KNOWN
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.provider import ProviderFacts
from mooring.runway.providers.registry import default_provider, deployment_manifests, find_provider, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS

MOORING = find_provider("mooring")
DEEPSEEK = {"name": "deepseek", "modelId": "deepseek-r1-0528", "nodes": 2, "resources": {"gpu": 8}}


def manifests(fields: Any) -> list[Object]:
    return deployment_manifests(read_deployment(fields, embedded=True).config, DEFAULT_SETTINGS)


def test_it_is_the_default_on_the_embedded_cluster_and_kaito_elsewhere() -> None:
    assert default_provider(embedded=True).id == "mooring"
    assert default_provider(embedded=False).id == "kaito"


def test_there_is_nothing_to_install() -> None:
    assert MOORING.installation(DEFAULT_SETTINGS) is None
    assert MOORING.installation_steps(DEFAULT_SETTINGS) == ()
    assert MOORING.helm_charts(DEFAULT_SETTINGS) == ()
    assert MOORING.helm_repositories(DEFAULT_SETTINGS) == ()
    assert MOORING.status(ProviderFacts(True), DEFAULT_SETTINGS).installed
    assert not MOORING.status(ProviderFacts(False), DEFAULT_SETTINGS).installed


def test_a_model_that_one_node_holds_is_a_workspace() -> None:
    made = manifests({"name": "phi", "modelId": "phi-4"})
    assert [each["kind"] for each in made] == ["Workspace", "Service"]
    assert made[0]["metadata"]["labels"]["runway.mooring.dev/provider"] == "mooring"
    assert made[0]["metadata"]["namespace"] == "default"


def test_a_model_that_takes_several_nodes_is_a_group_of_pods_for_each_replica() -> None:
    groups, service = manifests({**DEEPSEEK, "replicas": 3, "labelSelector": {"pool": "h100"}})
    assert (groups["kind"], groups["spec"]["replicas"]) == ("LeaderWorkerSet", 3)
    template = groups["spec"]["leaderWorkerTemplate"]
    assert template["size"] == 2
    assert template["leaderTemplate"]["spec"]["nodeSelector"] == {"pool": "h100"}
    assert "--headless" not in template["leaderTemplate"]["spec"]["containers"][0]["args"]
    worker = template["workerTemplate"]["spec"]["containers"][0]
    assert worker["args"][-1] == "--headless"
    assert "readinessProbe" not in worker
    assert service["spec"]["selector"] == {
        "leaderworkerset.sigs.k8s.io/name": "deepseek",
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    }


@pytest.mark.parametrize(
    "fields",
    [
        DEEPSEEK,
        {"name": "llama", "modelId": "llama3.2:1b", "namespace": "default"},
    ],
    ids=["groups", "workspace"],
)
def test_the_api_takes_the_pods_that_come_of_it(fields: Any) -> None:
    made = manifests(fields)[0]
    pods = CATALOG.workloads()[made["kind"]].expand(made, "default", NOTHING_KNOWN).pods
    assert pods
    assert [error for pod in pods for error in validate_pod(default_pod(pod))] == []


def test_a_preset_on_several_nodes_is_a_workspace() -> None:
    (made,) = manifests({"name": "r1", "modelId": "deepseek-r1-0528", "modelSource": "preset", "nodes": 2})
    assert (made["kind"], made["resource"]["count"]) == ("Workspace", 2)


def test_llama_cpp_does_not_spread_a_replica() -> None:
    with pytest.raises(DeploymentError, match="nodes: only vllm and presets spread a replica over 2 pods"):
        manifests({"name": "a", "modelId": "llama3.2:1b", "nodes": 2})
