"""metrics.k8s.io: what kubelets measured and what is said of simulated pods, who may see it, and who serves it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates
from tests.apiserver.test_logs import NODES, SECRET, Node, certificates, node, pod, register
from tests.apiserver.world import PODS, START, Api

__all__ = ["certificates", "node"]

METRICS = "/apis/metrics.k8s.io/v1beta1"
SIMULATED = {"kwok.x-k8s.io/node": "fake"}
TIME = "2026-01-01T12:00:00Z"


def stats(cores: int, memory: int) -> Object:
    return {"cpu": {"time": TIME, "usageNanoCores": cores}, "memory": {"time": TIME, "workingSetBytes": memory}}


def summary(*pods: tuple[str, dict[str, Object]]) -> bytes:
    """With containers by name, for each pod."""
    shown = [
        {
            "podRef": {"name": name, "namespace": "default"},
            "containers": [{"name": each, **used} for each, used in containers.items()],
        }
        for name, containers in pods
    ]
    return json.dumps({"node": {"nodeName": "real", **stats(1_500_000_000, 3 << 30)}, "pods": shown}).encode()


def running(api: Api, obj: Object, **metadata: Any) -> None:
    obj["metadata"] |= metadata
    api.made(PODS, obj)
    assert api.merge(f"{PODS}/{obj['metadata']['name']}/status", {"status": {"phase": "Running"}}).code == 200


@pytest.fixture
def api(make_api: Callable[..., Api], node: Node, certificates: Certificates) -> Api:
    """A server with a node that measures, and a simulated one."""
    found = make_api(nodes=NodeAccess(certificates, SECRET))
    register(found, "real", node.port)
    found.made(NODES, {"metadata": {"name": "sim", "annotations": SIMULATED}})
    return found


def usages(answer: Object) -> dict[str, Object]:
    """By pod and container."""
    return {
        f"{item['metadata']['name']}/{container['name']}": container["usage"]
        for item in answer["items"]
        for container in item["containers"]
    }


def test_a_kubelet_is_asked_once_for_all_its_pods(api: Api, node: Node) -> None:
    running(api, pod("web", "real", "main"), labels={"app": "web"})
    running(api, pod("half", "real", "a", "b"))
    running(api, pod("new", "real", "main"))
    measured = stats(250_000_000, 64 << 20)
    node.answer = (200, [summary(("web", {"main": measured}), ("half", {"a": measured}), ("gone", {"x": measured}))])
    answer = api.get(f"{METRICS}/pods").body
    assert answer["kind"] == "PodMetricsList"
    # Of the second pod only one container was measured, and the third not at all.
    assert usages(answer) == {"web/main": {"cpu": "250m", "memory": "64Mi"}}
    one = api.get(f"{METRICS}/namespaces/default/pods/web").body
    assert (one["kind"], one["timestamp"], one["window"]) == ("PodMetrics", TIME, "15s")
    assert one["metadata"]["labels"] == {"app": "web"}
    assert api.get(f"{METRICS}/nodes/real").body["usage"] == {"cpu": "1500m", "memory": "3Gi"}
    assert node.asked == ["/stats/summary?only_cpu_and_memory=true"]
    assert node.tokens == [f"Bearer {SECRET}"]


def test_a_node_that_does_not_answer_has_no_metrics(api: Api, node: Node) -> None:
    running(api, pod("web", "real", "main"))
    node.answer = (500, [b"broken"])
    assert api.get(f"{METRICS}/pods").body["items"] == []
    gone = api.get(f"{METRICS}/namespaces/default/pods/web")
    assert (gone.code, gone.body["message"]) == (404, 'podmetrics.metrics.k8s.io "default/web" not found')
    assert api.get(f"{METRICS}/nodes/real").body["message"] == 'nodemetrics.metrics.k8s.io "real" not found'


def test_a_simulated_pod_uses_what_its_annotation_says(api: Api, node: Node) -> None:
    said = {"mooring.dev/usage": "cpu=250m,memory=64Mi,sidecar/cpu=10m"}
    running(api, pod("web", "sim", "main", "sidecar"), annotations=said, labels={"app": "web"})
    running(api, pod("silent", "sim", "main"), labels={"app": "web"})
    answer = api.get(f"{METRICS}/namespaces/default/pods?labelSelector=app%3Dweb").body
    assert usages(answer) == {
        "web/main": {"cpu": "250m", "memory": "64Mi"},
        "web/sidecar": {"cpu": "10m", "memory": "0"},
    }
    assert api.get(f"{METRICS}/namespaces/default/pods?labelSelector=app%3Dother").body["items"] == []
    assert api.get(f"{METRICS}/nodes/sim").body["usage"] == {"cpu": "260m", "memory": "64Mi"}
    assert node.asked == []


def test_a_simulated_node_uses_what_its_own_annotation_says(api: Api) -> None:
    assert api.get(f"{METRICS}/nodes/sim").code == 404
    own = {"metadata": {"annotations": {"mooring.dev/usage": "cpu=3"}}}
    assert api.merge(f"{NODES}/sim", own).code == 200
    assert api.get(f"{METRICS}/nodes/sim").body["usage"] == {"cpu": "3", "memory": "0"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cpu=lots", "'lots' is no quantity, such as 250m or 64Mi"),
        ("cpu", "'cpu' is not cpu=QUANTITY or memory=QUANTITY"),
        ("gpu=1", "'gpu=1' is not cpu=QUANTITY or memory=QUANTITY"),
        ("cpu=-1", "'-1' is less than nothing"),
        ("cpu=1,cpu=2", "'cpu' is said twice"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_warned_of(api: Api, text: str, problem: str) -> None:
    annotations = {"mooring.dev/usage": text}
    made = pod("web", "sim", "main")
    made["metadata"]["annotations"] = annotations
    warning = f"[mooring.dev/usage]: {problem}; nothing is reported of it"
    assert f"metadata.annotations{warning}" in api.post(PODS, made).headers["warning"]
    assert api.get(f"{METRICS}/pods").body["items"] == []
    template = {"metadata": {"labels": {"a": "b"}, "annotations": annotations}, "spec": made["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    answer = api.post("/apis/apps/v1/namespaces/default/replicasets", {"metadata": {"name": "set"}, "spec": spec})
    assert f"spec.template.metadata.annotations{warning}" in answer.headers["warning"]


def test_discovery_names_what_can_be_read(api: Api) -> None:
    found = api.get(METRICS).body["resources"]
    assert [(each["name"], each["kind"], each["verbs"]) for each in found] == [
        ("nodes", "NodeMetrics", ["get", "list"]),
        ("pods", "PodMetrics", ["get", "list"]),
    ]
    assert "metrics.k8s.io" in [each["name"] for each in api.get("/apis").body["groups"]]
    assert api.get("/apis/metrics.k8s.io").body["preferredVersion"]["version"] == "v1beta1"


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", f"{METRICS}/pods?watch=1", 405),
        ("POST", f"{METRICS}/namespaces/default/pods", 405),
        ("DELETE", f"{METRICS}/nodes/sim", 405),
        ("GET", f"{METRICS}/others", 404),
        ("GET", f"{METRICS}/pods/web", 404),
        ("GET", "/apis/metrics.k8s.io/v1/pods", 404),
    ],
)
def test_nothing_else_can_be_done_to_it(api: Api, method: str, path: str, code: int) -> None:
    assert api.send(method, path).code == code


def test_kubectl_get_shows_a_table(api: Api) -> None:
    running(api, pod("web", "sim", "a", "b"), annotations={"mooring.dev/usage": "cpu=1,b/cpu=500m,memory=1Mi"})
    answer = api.get(f"{METRICS}/pods", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert [each["name"] for each in answer.body["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert answer.body["rows"][0]["cells"] == ["web", "1500m", "1Mi", "0s"]


def test_whoever_may_view_pods_may_view_what_they_use(api: Api) -> None:
    api.bootstrap_rbac()
    (role,) = [
        each
        for each in api.registry.all("rbac.authorization.k8s.io/v1", "ClusterRole")
        if each["metadata"]["name"] == "system:aggregated-metrics-reader"
    ]
    assert role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    assert role["rules"][0]["resources"] == ["pods", "nodes"]
    stranger = api.user("stranger")
    assert api.get(f"{METRICS}/pods", **stranger).code == 403
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]}
    subject = {"kind": "User", "name": "stranger", "apiGroup": "rbac.authorization.k8s.io"}
    api.made(roles, {"metadata": {"name": "see"}, "roleRef": reference, "subjects": [subject]})
    assert api.get(f"{METRICS}/pods", **stranger).code == 200


def test_a_metrics_server_that_is_installed_takes_over(api: Api) -> None:
    service = {"group": "metrics.k8s.io", "version": "v1beta1", "insecureSkipTLSVerify": True}
    reference = {"name": "metrics-server", "namespace": "kube-system"}
    priorities = {"groupPriorityMinimum": 100, "versionPriority": 100}
    spec = {**service, **priorities, "service": reference}
    path = "/apis/apiregistration.k8s.io/v1/apiservices"
    api.made(path, {"metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": spec})
    # It is not there yet, so nobody answers: two opinions would be worse.
    assert api.get(f"{METRICS}/pods").code == 503
    assert api.delete(f"{path}/v1beta1.metrics.k8s.io").code == 200
    assert api.get(f"{METRICS}/pods").code == 200


def test_the_time_of_what_is_said_is_now(api: Api) -> None:
    running(api, pod("web", "sim", "main"), annotations={"mooring.dev/usage": "cpu=1"})
    (found,) = api.get(f"{METRICS}/pods").body["items"]
    assert (found["timestamp"], found["window"]) == (START.strftime("%Y-%m-%dT%H:%M:%SZ"), "0s")
