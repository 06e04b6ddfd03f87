"""Every route, over a socket, on both API servers: what it says of the cluster, and what it says of mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.client.http import HttpTransport
from mooring.runway.rest.route_table import ROUTES
from mooring.testing.http import Api
from tests.runway.rest.serving import SESSION, Rest, RestClient, eventually

NODE = {
    "metadata": {
        "name": "gpu-1",
        "labels": {
            "node.kubernetes.io/pool": "gpu",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": "H100",
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.memory": "81920",
        },
    },
}
CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
STATUS = {
    "capacity": CAPACITY,
    "allocatable": CAPACITY,
    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}],
}
CONFIG = {
    "name": "phi",
    "namespace": "default",
    "provider": "kaito",
    "modelSource": "vllm",
    "modelId": "microsoft/Phi-4-mini-instruct",
    "computeType": "gpu",
    "labelSelector": {"nvidia.com/gpu.present": "true"},
    "replicas": 1,
}


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
INSTALLATIONS = "/apis/runway.mooring.dev/v1alpha1/installations"


def definition(group: str, kind: str, plural: str, scope: str = "Namespaced") -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = "v1beta1" if group == "kaito.sh" else "v1"
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": scope,
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}],
        },
    }


def pod(name: str, gpus: int, node: str = "") -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "x:1", "resources": {"limits": limits}}]}
    return {"metadata": {"name": name}, "spec": {**spec, **({"nodeName": node} if node else {})}}


@pytest.fixture(scope="module")
def filled(either: Rest) -> Rest:
    """One node with eight GPUs, of which a pod holds two; another pod finds no place."""
    with either.home.api() as api:
        _fill(api)
    return either


def _fill(api: Api) -> None:
    assert api.post("/api/v1/nodes", NODE).code == 201
    assert api.patch("/api/v1/nodes/gpu-1/status", "merge", {"status": STATUS}).code == 200
    # No controller takes the taint of a new node away.
    assert api.patch("/api/v1/nodes/gpu-1", "merge", {"spec": {"taints": None}}).code == 200
    account = "/api/v1/namespaces/default/serviceaccounts"
    assert api.post(account, {"metadata": {"name": "default"}}).code in (201, 409)
    pods = "/api/v1/namespaces/default/pods"
    assert api.post(pods, pod("trainer", 2, "gpu-1")).code == 201
    assert api.post(pods, pod("giant", 16)).code == 201


@pytest.fixture
def admin(filled: Rest) -> RestClient:
    return filled.admin


def test_nodes_tell_who_holds_their_gpus(admin: RestClient) -> None:
    (node,) = eventually(lambda: admin.get("/api/nodes")["nodes"], "the node is there")
    assert (node["name"], node["ready"], node["pool"], node["pods"]) == ("gpu-1", True, "gpu", 1)
    gpu = node["gpu"]
    assert (gpu["kind"], gpu["product"], gpu["memoryMiB"], gpu["total"], gpu["free"]) == (
        "nvidia.com/gpu",
        "H100",
        81920,
        8,
        6,
    )
    assert [slot.get("pod") for slot in gpu["slots"]] == ["trainer", "trainer", *[None] * 6]
    assert gpu["slots"][0]["workload"] == {"kind": "Pod", "namespace": "default", "name": "trainer"}


def test_workloads_have_a_detail_with_pods_and_manifest(admin: RestClient) -> None:
    found = {each["name"]: each for each in admin.get("/api/workloads")["workloads"]}
    assert (found["giant"]["state"], found["giant"]["gpus"]) == ("Pending", 16)
    detail = admin.get("/api/workloads/Pod/default/trainer")
    assert detail["workload"]["nodes"] == ["gpu-1"]
    assert [each["name"] for each in detail["pods"]] == ["trainer"]
    assert detail["manifest"]["spec"]["nodeName"] == "gpu-1"
    assert admin.ask("GET", "/api/workloads/Pod/default/nobody")[0] == 404
    assert admin.ask("GET", "/api/workloads/Secret/default/nobody")[0] == 404


def test_a_log_is_asked_of_the_cluster_as_it_was_asked_here(admin: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, dict[str, str]]] = []

    async def log(self: HttpTransport, namespace: str, pod: str, query: dict[str, str]) -> str:
        asked.append((namespace, pod, query))
        return "loss 0.1"

    # No kubelet runs here.
    monkeypatch.setattr(HttpTransport, "log", log)
    logs = "/api/workloads/Pod/default/trainer/logs"
    eventually(lambda: admin.ask("GET", "/api/workloads/Pod/default/trainer")[0] == 200, "the pod is there")
    assert admin.get(logs) == {"logs": "loss 0.1", "podName": "trainer"}
    assert admin.get(f"{logs}?container=main&tailLines=7&timestamps=true")["container"] == "main"
    at_most = {"limitBytes": "2097152"}
    assert asked == [
        ("default", "trainer", {"tailLines": "100", **at_most}),
        ("default", "trainer", {"tailLines": "7", **at_most, "container": "main", "timestamps": "true"}),
    ]
    code, told = admin.ask("GET", f"{logs}?pod=giant")
    assert (code, told["error"]["message"]) == (400, 'pod: "giant" is no pod of Pod trainer')


def test_capacity_is_told_by_node_pool_and_kind(admin: RestClient) -> None:
    found = admin.get("/api/capacity")
    assert found["gpus"] == {"total": 8, "free": 6, "allocated": 2, "largestFreeBlock": 6}
    assert found["largestPod"]["node"] == "gpu-1"
    assert admin.get("/api/installation/gpu-capacity")["maxContiguousAvailable"] == 6
    assert admin.get("/api/preflight")["withGPUs"] == ["gpu-1"]


def test_a_pod_that_finds_no_place_is_explained_with_proposals(admin: RestClient) -> None:
    found = admin.post("/api/explain", {"kind": "Pod", "namespace": "default", "name": "giant"})
    assert found["lands"] is False
    assert all("text" in each for each in found["proposals"])
    manifest = {"apiVersion": "v1", "kind": "Pod", **pod("small", 1)}
    assert admin.post("/api/explain", {"manifest": manifest})["node"] == "gpu-1"
    status, refused = admin.ask("POST", "/api/explain", {"kind": "Pod", "namespace": "default", "name": "gaint"})
    assert status == 404
    assert "did you mean giant" in refused["error"]["message"]


def test_a_plan_says_where_manifests_land(admin: RestClient) -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", **pod("small", 1)}
    plan = admin.post("/api/plan", {"manifests": [manifest]})
    assert {each["pod"]: each["node"] for each in plan["pods"]}["default/small"] == "gpu-1"
    status, refused = admin.ask("POST", "/api/plan", {"manifests": [{"kind": "Pod"}]})
    assert (status, refused["error"]["details"][0]["field"]) == (422, "manifests[0].apiVersion")


def test_a_deployment_is_previewed_fitted_created_listed_and_deleted(admin: RestClient) -> None:
    preview = admin.post("/api/deployments/preview", CONFIG)
    assert preview["primaryResource"] == {"kind": "Workspace", "apiVersion": "kaito.sh/v1beta1"}
    assert admin.post("/api/deployments/fit", CONFIG)["verdict"] == "lands"
    status, created = admin.ask("POST", "/api/deployments", CONFIG)
    assert (status, created["name"], created["provider"]) == (201, "phi", "kaito")
    assert admin.ask("POST", "/api/deployments", CONFIG)[0] == 409
    assert [each["name"] for each in admin.get("/api/deployments")["deployments"]] == ["phi"]
    assert admin.get("/api/deployments/phi")["modelId"] == CONFIG["modelId"]
    assert admin.get("/api/deployments/phi/manifest")["resources"][0]["kind"] == "Workspace"
    assert admin.get("/api/deployments/phi/pods") == {"pods": []}
    assert admin.get("/api/deployments/phi/pending-reasons") == {"reasons": []}
    assert admin.ask("GET", "/api/deployments/phi/logs")[0] == 422
    assert admin.ask("DELETE", "/api/deployments/phi?namespace=default")[0] == 200
    assert admin.ask("GET", "/api/deployments/phi")[0] == 404


def test_what_happened_in_a_pool_is_told_from_its_events(filled: Rest, admin: RestClient) -> None:
    event = {
        "metadata": {"name": "gpu-pool.scaled"},
        "involvedObject": {"kind": "MachineDeployment", "namespace": "default", "name": "gpu-pool"},
        "reason": "SuccessfulScale",
        "message": "Scaled up MachineSet gpu-pool-1 from 0 to 2",
        "type": "Normal",
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    with filled.home.api() as api:
        assert api.post("/api/v1/namespaces/default/events", event).code == 201
    (found,) = eventually(lambda: admin.get("/api/timeline")["moments"], "the event is told")
    assert (found["pool"], found["kind"], found["text"]) == ("gpu-pool", "grown", "It was scaled from 0 to 2")
    assert admin.get("/api/timeline")["notes"] == []
    assert filled.nobody.ask("GET", "/api/timeline")[0] == 403


def test_a_provider_is_asked_for_and_followed(admin: RestClient) -> None:
    status = admin.get("/api/installation/providers/kaito/status")
    assert (status["providerId"], status["installed"]) == ("kaito", False)
    commands = admin.get("/api/installation/providers/kaito/commands")
    assert commands["commands"][2].startswith("helm upgrade --install kaito-workspace kaito/workspace --version 0.8.0")
    code, answer = admin.ask("POST", "/api/installation/providers/kaito/install")
    assert (code, answer["success"], answer["installing"]) == (202, True, True)
    (found,) = eventually(lambda: admin.get("/api/installation")["installation"], "the installation is told")
    assert (found["name"], found["version"]) == ("kaito", "0.8.0")
    assert admin.ask("POST", "/api/installation/providers/kaito/cancel")[0] == 202
    assert admin.ask("POST", "/api/installation/providers/kaito/uninstall")[0] == 202
    assert admin.ask("POST", "/api/installation/providers/nobody/install")[0] == 404
    assert admin.post("/api/installation/providers/mooring/install")["alreadyInstalled"] is True


def test_a_node_tells_what_fits_and_why_a_pod_does_not_go_there(admin: RestClient) -> None:
    node = admin.get("/api/nodes/gpu-1")
    assert (node["node"], node["ready"], node["cordoned"]) == ("gpu-1", True, False)
    assert (node["largestPod"]["nvidia.com/gpu"], node["lands"], node["fits"]) == ("6", [], [])
    (blocked,) = node["blocked"]
    assert blocked["pods"] == ["default/giant"]
    assert blocked["causes"][0]["text"] == "needs 16 nvidia.com/gpu, has only 8"
    code, answer = admin.ask("GET", "/api/nodes/gpu-11")
    assert (code, "did you mean gpu-1?" in answer["error"]["message"]) == (404, True)


def test_a_node_is_cordoned_by_the_writes_that_it_tells_and_back(admin: RestClient, filled: Rest) -> None:
    change = admin.get("/api/nodes/gpu-1")["cordon"]
    assert (change["command"], change["text"].split(":")[0]) == ("kubectl cordon gpu-1", "Cordon node gpu-1")
    assert filled.reader.ask("POST", "/api/apply", {"writes": change["writes"]})[0] == 403
    assert admin.post("/api/apply", {"writes": change["writes"]})["done"] == ["Node gpu-1 patched"]
    node = admin.get("/api/nodes/gpu-1")
    assert node["cordoned"] is True
    assert "it is cordoned (spec.unschedulable)" in [each["text"] for each in node["keepsOff"]]
    back = node["cordon"]
    assert back["command"] == "kubectl uncordon gpu-1"
    assert admin.post("/api/apply", {"writes": back["writes"]})["done"] == ["Node gpu-1 patched"]
    # Somebody else was faster.
    assert admin.ask("POST", "/api/apply", {"writes": back["writes"]})[0] == 422
    assert admin.get("/api/nodes/gpu-1")["cordoned"] is False


def test_the_gpu_operator_is_installed_as_providers_are(admin: RestClient) -> None:
    under = "/api/installation/gpu-operator"
    status = admin.get(f"{under}/status")
    assert (status["installed"], status.get("installation")) == (False, None)
    assert status["helmCommands"][2].startswith(
        "helm upgrade --install gpu-operator nvidia/gpu-operator --version v25.10.1 -n gpu-operator --create-namespace"
    )
    code, answer = admin.ask("POST", f"{under}/install")
    assert (code, answer["success"], answer["installing"]) == (202, True, True)
    assert admin.get(f"{under}/status")["installation"]["version"] == "v25.10.1"
    assert admin.ask("POST", f"{under}/install")[1]["message"] == "GPU Operator is being installed"
    assert admin.ask("POST", f"{under}/cancel")[0] == 202
    assert admin.ask("POST", f"{under}/uninstall")[0] == 202


def test_a_gpu_operator_that_somebody_else_installed_is_left_alone(admin: RestClient, filled: Rest) -> None:
    policy = definition("nvidia.com", "ClusterPolicy", "clusterpolicies", scope="Cluster")
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    with filled.home.api() as api:
        assert api.post(DEFINITIONS, policy).code == 201
        assert api.post("/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}}).code == 201
        account = "/api/v1/namespaces/gpu-operator/serviceaccounts"
        assert api.post(account, {"metadata": {"name": "default"}}).code in (201, 409)
        operator = pod("gpu-operator-x", 0, "gpu-1")
        operator["metadata"]["labels"] = {"app": "gpu-operator"}
        pods = "/api/v1/namespaces/gpu-operator/pods"
        assert api.post(pods, operator).code == 201
        assert api.patch(f"{pods}/gpu-operator-x/status", "merge", {"status": running}).code == 200
        eventually(lambda: admin.get("/api/installation/gpu-operator/status")["installed"], "it is seen to run")
        answer = admin.post("/api/installation/gpu-operator/install")
        assert (answer["alreadyInstalled"], answer["installing"]) == (True, False)
        assert api.get("/apis/runway.mooring.dev/v1alpha1/installations/gpu-operator").code == 404
        assert api.delete(f"{pods}/gpu-operator-x", {"gracePeriodSeconds": 0}).code == 200
        assert api.delete(f"{DEFINITIONS}/clusterpolicies.nvidia.com").code == 200


def test_definitions_are_deleted_once_no_object_of_them_is_left(admin: RestClient, filled: Rest) -> None:
    path = "/api/installation/providers/kaito/uninstall-crds"
    engines = "/apis/kaito.sh/v1beta1/namespaces/default/ragengines"
    with filled.home.api() as api:
        eventually(lambda: api.get(f"{INSTALLATIONS}/kaito").code == 404, "KAITO is uninstalled")
        assert api.post(DEFINITIONS, definition("kaito.sh", "RAGEngine", "ragengines")).code == 201
        eventually(lambda: api.get(engines).code == 200, "the kind is served")
        kind = {"apiVersion": "kaito.sh/v1beta1", "kind": "RAGEngine"}
        assert api.post(engines, {**kind, "metadata": {"name": "library"}}).code == 201

        code, answer = admin.ask("POST", path)
        assert (code, answer["error"]["message"]) == (
            409,
            "the definitions of KAITO would take their objects along; delete those first: RAGEngine default/library",
        )
        assert api.get(f"{DEFINITIONS}/ragengines.kaito.sh").code == 200

        assert api.delete(f"{engines}/library").code == 200
        answer = admin.post(path)
        # Workspaces are Mooring's own on this cluster.
        assert (answer["deleted"], answer["kept"]) == (["ragengines.kaito.sh"], ["workspaces.kaito.sh"])
        eventually(lambda: api.get(f"{DEFINITIONS}/ragengines.kaito.sh").code == 404, "the definition is gone")
        assert api.get(f"{DEFINITIONS}/workspaces.kaito.sh").code == 200
    assert admin.ask("POST", path.replace("kaito", "mooring"))[0] == 422


def test_definitions_of_a_provider_that_is_installed_stay(admin: RestClient, filled: Rest) -> None:
    assert admin.ask("POST", "/api/installation/providers/kaito/install")[0] == 202
    code, answer = admin.ask("POST", "/api/installation/providers/kaito/uninstall-crds")
    assert (code, "uninstall it first" in answer["error"]["message"]) == (409, True)
    assert admin.ask("POST", "/api/installation/providers/kaito/uninstall")[0] == 202


def test_the_session_tells_who_asks_and_which_server(filled: Rest) -> None:
    assert filled.reader.get("/api/session")["username"] == "reader"
    session = filled.client(SESSION).get("/api/session")
    assert (session["server"], session["provider"], session["embedded"]) == (filled.home.url, "mooring", True)
    assert "system:masters" in session["groups"]


def test_every_other_list_answers(admin: RestClient) -> None:
    paths = [each.path for each in ROUTES if each.method == "GET" and "{" not in each.path and each.response]
    assert len(paths) > 15
    for path in paths:
        assert isinstance(admin.get(path), dict), path


def test_settings_are_kept_in_the_cluster(admin: RestClient) -> None:
    assert admin.ask("PUT", "/api/settings", {"defaultNamespace": "models"})[1]["message"] == "Settings saved"
    assert admin.get("/api/settings")["config"]["defaultNamespace"] == "models"
    status, refused = admin.ask("PUT", "/api/settings", {"defaultNamespace": "No!"})
    assert (status, refused["error"]["details"][0]["field"]) == (422, "defaultNamespace")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("POST", "/api/deployments", {"name": "X!"}, 400, "name"),
        ("POST", "/api/deployments", {**CONFIG, "replicas": "two"}, 400, "replicas"),
        ("POST", "/api/deployments/preview", {**CONFIG, "provider": "nobody"}, 400, "provider"),
        ("POST", "/api/apply", {"kind": "Node"}, 400, ""),
        ("POST", "/api/apply", {"writes": []}, 422, "writes"),
        ("GET", "/api/stream?topics=nonsense", None, 400, "topics"),
        ("GET", "/api/deployments?limit=1000", None, 400, "limit"),
        ("GET", "/api/workloads/Pod/default/No!", None, 400, "name"),
        ("GET", "/api/models/nothing-like-it", None, 404, ""),
        ("GET", "/api/nope", None, 404, ""),
        ("DELETE", "/api/nodes", None, 405, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_mistakes_are_answered_in_one_shape(
    admin: RestClient, method: str, path: str, body: Any, status: int, field: str
) -> None:
    found, answer = admin.ask(method, path, body)
    assert found == status, answer
    assert answer["error"]["statusCode"] == status
    assert answer["error"]["message"]
    if field:
        assert field in [each["field"] for each in answer["error"]["details"]]


def test_the_same_installation_is_asked_for_once_and_found_when_it_is_there(filled: Rest) -> None:
    path = "/apis/runway.mooring.dev/v1alpha1/installations/kaito"
    install = "/api/installation/providers/kaito/install"
    with filled.home.api() as api:
        api.delete(path)
        assert filled.admin.ask("POST", install)[0] == 202
        asked = api.get(path).body["metadata"]["resourceVersion"]
        code, again = filled.admin.ask("POST", install)
        assert (code, again["installing"]) == (202, True)
        assert api.get(path).body["metadata"]["resourceVersion"] == asked, "Nothing is written a second time."
        assert api.patch(f"{path}/status", "merge", {"status": {"phase": "Installed"}}).code == 200
        code, found = filled.admin.ask("POST", install)
        assert (code, found["alreadyInstalled"]) == (200, True)
        api.delete(path)
