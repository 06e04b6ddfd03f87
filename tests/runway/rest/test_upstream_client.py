"""A client that was written for upstream's API: its requests word for word, and the fields that it reads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runway.rest.serving import Rest, RestClient

# The form of upstream's page, as it sends it.
DEPLOYMENT = {
    "name": "phi-4-mini-x7k2",
    "namespace": "default",
    "modelId": "microsoft/Phi-4-mini-instruct",
    "engine": "vllm",
    "mode": "aggregated",
    "provider": "kaito",
    "routerMode": "none",
    "replicas": 1,
    "hfTokenSecret": "",
    "enforceEager": True,
    "enablePrefixCaching": False,
    "trustRemoteCode": False,
    "modelSource": "vllm",
    "computeType": "gpu",
    "resources": {"gpu": 1},
    "labelSelector": {"nvidia.com/gpu.present": "true"},
    "preferredNodes": ["gpu-1"],
}


@pytest.fixture(scope="module")
def client(embedded: Rest) -> RestClient:
    return embedded.admin


def fields(value: Any) -> set[str]:
    return set(value)


def test_health_and_version(client: RestClient) -> None:
    assert client.get("/api/health").keys() == {"status", "timestamp"}
    assert client.get("/api/health/version").keys() == {"version", "buildTime", "gitCommit"}


def test_settings_and_providers(client: RestClient) -> None:
    settings = client.get("/api/settings")
    assert settings.keys() == {"config", "providers", "auth"}
    assert settings["auth"] == {"enabled": True}
    provider = client.get("/api/settings/providers/kaito")
    assert provider.keys() >= {"id", "name", "description", "defaultNamespace"}
    assert provider["crdConfig"] == {
        "apiGroup": "kaito.sh",
        "apiVersion": "v1beta1",
        "plural": "workspaces",
        "kind": "Workspace",
    }
    assert [step["title"] for step in provider["installationSteps"]] == [
        "Add KAITO Helm Repository",
        "Update Helm Repositories",
        "Install KAITO Workspace Operator",
    ]
    assert provider["helmCharts"][0]["version"] == "0.8.0"
    assert client.ask("GET", "/api/settings/providers/nobody")[0] == 404


def test_the_state_of_a_provider(client: RestClient) -> None:
    status = client.get("/api/installation/providers/kaito/status")
    assert status.keys() >= {"providerId", "providerName", "installed", "installationSteps", "helmCommands", "message"}
    assert client.get("/api/installation/helm/status")["available"] is True
    assert client.get("/api/runtimes/status")["runtimes"][0].keys() >= {"id", "name", "installed", "healthy"}
    capacity = client.get("/api/installation/gpu-capacity")
    assert capacity.keys() >= {"totalGpus", "availableGpus", "maxContiguousAvailable", "gpuNodeCount", "nodes"}


def test_a_deployment_from_preview_to_deletion(client: RestClient) -> None:
    preview = client.post("/api/deployments/preview", DEPLOYMENT)
    assert preview["resources"][0]["manifest"]["resource"]["labelSelector"]["matchLabels"] == {
        "nvidia.com/gpu.present": "true"
    }
    created = client.post("/api/deployments", DEPLOYMENT)
    assert (created["name"], created["namespace"], created["provider"]) == (DEPLOYMENT["name"], "default", "kaito")
    assert "preferredNodes" in created["warnings"][0]
    listed = client.get("/api/deployments?namespace=default&limit=20&offset=0")
    assert listed["pagination"] == {"total": 1, "limit": 20, "offset": 0, "hasMore": False}
    found = client.get(f"/api/deployments/{DEPLOYMENT['name']}?namespace=default")
    assert found.keys() >= {"name", "namespace", "modelId", "engine", "mode", "phase", "provider", "replicas", "pods"}
    assert found["phase"] in ("Pending", "Deploying")
    status, gone = client.ask("DELETE", f"/api/deployments/{DEPLOYMENT['name']}?namespace=default")
    assert (status, fields(gone)) == (200, {"message"})


def test_mistakes_have_a_status_of_their_own(client: RestClient) -> None:
    """Upstream answered some of these with 500."""
    assert client.ask("POST", "/api/deployments", {**DEPLOYMENT, "provider": "nobody"})[0] == 400
    assert client.ask("POST", "/api/deployments", {**DEPLOYMENT, "replicas": 0})[0] == 400
    assert client.ask("GET", "/api/deployments/nobody?namespace=default")[0] == 404
    status, answer = client.ask("GET", "/api/nothing")
    assert (status, answer["error"]["message"]) == (404, "Route not found: GET /api/nothing")
