"""A real kubelet joins with a bootstrap token, runs containers, and kubectl reaches into them: on both clusters."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, Home, whole
from mooring.testing.http import Api
from mooring.testing.tools import ToolMissing, tool
from tests.external.kubectl import Kubectl
from tests.realnode.images import APP
from tests.realnode.network import local_network
from tests.realnode.node import RealNode, real_node
from tests.realnode.programs import kubelet_or_skip

NODE = "real-a"
TOKEN = "abcdef.0123456789abcdef"
BOOTSTRAPPERS = "system:bootstrappers:real"
PATIENCE = 60.0
# What lets a bootstrap token have a node's certificate approved, and kubelets obey the API server.
BINDINGS = {
    "system:node-bootstrapper": {"kind": "Group", "name": BOOTSTRAPPERS},
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient": {"kind": "Group", "name": BOOTSTRAPPERS},
    "system:kubelet-api-admin": {"kind": "User", "name": "kube-apiserver-kubelet-client"},
}


@pytest.fixture(scope="module", params=HOMES)
def joined(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, RealNode]]:
    """A cluster with one real node, on a wire of its own."""
    kubelet = kubelet_or_skip()
    folder = tmp_path_factory.mktemp(f"{request.param}-kubelet")
    try:
        with (
            local_network(["a"]) as network,
            whole(request.param, folder / "home", host=network.gateway) as home,
            real_node(NODE, folder / "node", network.hosts[0], kubelet) as node,
            home.api() as api,
        ):
            allow(api, home)
            node.join(home, TOKEN)
            yield home, node
    except ToolMissing as error:
        missing(error)


def allow(api: Api, home: Home) -> None:
    identity, secret = TOKEN.split(".")
    data = {
        "token-id": identity,
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": BOOTSTRAPPERS,
    }
    token = {"metadata": {"name": f"bootstrap-token-{identity}"}, "type": "bootstrap.kubernetes.io/token"}
    assert api.post("/api/v1/namespaces/kube-system/secrets", {**token, "stringData": data}).code == 201
    for role, subject in BINDINGS.items():
        if home.name != REAL and subject["kind"] == "User":
            continue
        binding: Object = {
            "metadata": {"name": f"test:{role}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **subject}],
        }
        assert api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding).code == 201


@pytest.fixture
def kubectl(joined: tuple[Home, RealNode], tmp_path: Path) -> Kubectl:
    return Kubectl(tool("kubectl"), joined[0].kubeconfig, tmp_path)


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"There was no {what} after {PATIENCE:g} s."
        time.sleep(0.2)


def is_ready(kubectl: Kubectl) -> bool:
    found = kubectl.run("get", "node", NODE, "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}")
    return found.stdout == "True"


def is_running(kubectl: Kubectl) -> bool:
    return kubectl.run("get", "pod", "app", "-o", "jsonpath={.status.phase}").stdout == "Running"


def pod() -> Object:
    container = {"name": "main", "image": APP, "imagePullPolicy": "Never"}
    spec = {"nodeName": NODE, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": spec}


def test_a_kubelet_joins_and_its_pods_can_be_reached(joined: tuple[Home, RealNode], kubectl: Kubectl) -> None:
    until(lambda: is_ready(kubectl), "Node that is Ready")
    node = kubectl.get("node", NODE)
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.8"
    assert kubectl.get("csinode", NODE)["metadata"]["ownerReferences"][0]["name"] == NODE

    kubectl.apply(pod())
    until(lambda: is_running(kubectl), "pod that runs")
    # Nobody knows yet whether the names in the certificate that the kubelet wants to serve with are its own.
    refused = kubectl.run("logs", "app")
    assert refused.returncode == 1
    assert "tls" in refused.stderr
    serving = [
        each["metadata"]["name"]
        for each in kubectl.get("csr")["items"]
        if each["spec"]["signerName"] == "kubernetes.io/kubelet-serving"
    ]
    kubectl("certificate", "approve", *serving)

    until(lambda: "hello from app" in kubectl.run("logs", "app").stdout, "log")
    assert kubectl("exec", "app", "--", "hostname") == "app\n"
    # Over WebSocket at the first try, though the container engine speaks SPDY.
    assert "fallback" not in kubectl.run("exec", "app", "-v=6", "--", "hostname").stderr
    assert kubectl("exec", "-i", "app", "--", "cat", stdin="to and fro") == "to and fro"
    assert kubectl.run("exec", "app", "--", "sh", "-c", "exit 3").returncode == 3
    by_spdy = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false"}
    assert kubectl("exec", "app", "--", "hostname", environment=by_spdy) == "app\n"
    assert "tick" in attached(kubectl)
    assert forwarded(kubectl) == "page of app\n"
    assert kubectl("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/healthz") == "ok"
    assert kubectl("get", "--raw", "/api/v1/namespaces/default/pods/app:8080/proxy/") == "page of app\n"
    assert kubectl("exec", "app", "--", "cat", "/var/run/secrets/kubernetes.io/serviceaccount/namespace") == "default"

    kubectl("delete", "pod", "app", "--wait")
    until(lambda: kubectl.run("get", "lease", "-n", "kube-node-lease", NODE).returncode == 0, "lease")
    kubectl("delete", "node", NODE)


def attached(kubectl: Kubectl) -> str:
    process = kubectl.start("attach", "app")
    try:
        assert process.stdout is not None
        return process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def forwarded(kubectl: Kubectl) -> str:
    process = kubectl.start("port-forward", "pod/app", ":8080")
    try:
        assert process.stdout is not None
        found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found is not None
        with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/", timeout=10) as answer:
            return str(answer.read().decode())
    finally:
        process.kill()
        process.communicate()
