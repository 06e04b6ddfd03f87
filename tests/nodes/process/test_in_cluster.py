"""Programs in pods of this machine use the API as anywhere: with their own account, and nothing told to them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.workloads import claim_template, stateful_set
from tests.cli.embedded import eventually, up
from tests.external.conftest import required
from tests.external.kubectl import Kubectl
from tests.nodes.process.home import needs_sandbox
from tests.nodes.process.test_kubectl import kubectl_of, pod

pytestmark = [pytest.mark.slow, needs_sandbox]

OPERATOR = """
import json, os, ssl, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount"
token = open(f"{folder}/token").read()
url = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
asked = urllib.request.Request(
    f"{url}/apis/authentication.k8s.io/v1/selfsubjectreviews", json.dumps(body).encode(), headers
)
tls = ssl.create_default_context(cafile=f"{folder}/ca.crt")
print(json.dumps(json.load(urllib.request.urlopen(asked, context=tls))["status"]["userInfo"]))
"""

GRANTED = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: operator, namespace: default}]
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("in-cluster")
    with up(folder, "--ephemeral") as running:
        kubectl = kubectl_of(running, folder)
        kubectl("apply", "-f", "-", stdin=GRANTED)
        yield kubectl
        assert running.stop() == 0


def output(kubectl: Kubectl, name: str) -> str:
    def ended() -> bool:
        status = json.loads(kubectl("get", "pod", name, "-o", "json"))["status"]
        return status.get("phase") in ("Succeeded", "Failed")

    eventually(ended, f"pod {name} has ended")
    return kubectl("logs", name)


def run(kubectl: Kubectl, name: str, *command: str) -> str:
    container = {"name": "main", "image": "any", "command": list(command)}
    made = pod(name, container, serviceAccountName="operator", restartPolicy="Never")
    kubectl("apply", "-f", "-", stdin=json.dumps(made))
    return output(kubectl, name)


def test_kubectl_in_a_pod_finds_the_cluster_it_runs_in(cluster: Kubectl) -> None:
    program = str(required("kubectl"))
    cluster("create", "configmap", "seen", "--from-literal=by=kubectl")
    # Without HOME there is no kubeconfig that it could use instead.
    said = run(cluster, "inside", "env", "-u", "HOME", "-u", "KUBECONFIG", program, "get", "configmaps", "-o", "name")
    assert said.splitlines() == ["configmap/kube-root-ca.crt", "configmap/seen"]


def test_a_program_in_a_pod_is_its_account(cluster: Kubectl) -> None:
    info = json.loads(run(cluster, "whoami", sys.executable, "-c", OPERATOR))
    assert info["username"] == "system:serviceaccount:default:operator"
    assert info["extra"]["authentication.kubernetes.io/pod-name"] == ["whoami"]
    assert info["extra"]["authentication.kubernetes.io/node-name"]


def test_a_token_made_by_kubectl_counts_until_its_pod_is_gone(cluster: Kubectl) -> None:
    container = {"name": "main", "image": "any", "command": ["sleep", "100"]}
    made = pod("bound", container, serviceAccountName="operator", terminationGracePeriodSeconds=0)
    cluster("apply", "-f", "-", stdin=json.dumps(made))
    bound = ("--bound-object-kind", "Pod", "--bound-object-name", "bound", "--duration", "20m")
    token = cluster("create", "token", "operator", *bound).strip()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    asking = ("create", "-f", "-", "-o", "json")
    assert json.loads(cluster(*asking, stdin=json.dumps(review)))["status"]["authenticated"] is True
    cluster("delete", "pod", "bound", "--force", "--grace-period=0")
    status = json.loads(cluster(*asking, stdin=json.dumps(review)))["status"]
    assert "authenticated" not in status


def test_what_a_set_writes_outlives_its_pods_and_goes_with_its_claim(cluster: Kubectl) -> None:
    script = "echo run >> /data/runs; cat /data/runs; sleep 1000"
    mounts = [{"name": "data", "mountPath": "/data"}]
    made = pod("db", {"name": "main", "image": "any", "command": ["sh", "-c", script], "volumeMounts": mounts})
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {**made["spec"], "terminationGracePeriodSeconds": 1}}
    made = stateful_set("db", 1, pods=template, volumeClaimTemplates=[claim_template("data")])
    cluster("apply", "-f", "-", stdin=json.dumps(made))
    eventually(lambda: said(cluster, "db-0") == ["run"], "the first pod has written")
    (volume,) = json.loads(cluster("get", "pv", "-o", "json"))["items"]
    folder = Path(volume["spec"]["local"]["path"])
    assert (folder / "runs").read_text() == "run\n"
    cluster("delete", "pod", "db-0")
    eventually(lambda: said(cluster, "db-0") == ["run", "run"], "the next pod has found what the first wrote")
    cluster("delete", "statefulset", "db")
    cluster("delete", "pvc", "data-db-0")
    eventually(lambda: not json.loads(cluster("get", "pv", "-o", "json"))["items"], "the volume is gone")
    assert not folder.exists()


def said(kubectl: Kubectl, name: str) -> list[str]:
    """What a pod has logged, nothing where it has not come so far."""
    return kubectl.run("logs", name).stdout.split()
