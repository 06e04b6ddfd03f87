"""What people do to running workloads and nodes with kubectl."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.external.kubectl import Kubectl, manifest
from tests.external.manifests import deployment, job, service, stateful_set


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    """kubectl beside a Deployment whose two pods run."""
    kubectl.apply(deployment("web"))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    return kubectl


@pytest.fixture
def spare(kubectl: Kubectl) -> Iterator[str]:
    """A node of the test's own, so that what is done to it disturbs nobody."""
    name = f"spare-{kubectl.namespace}"
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
                "labels": {"kubernetes.io/hostname": name, "spare": "yes"},
            },
            "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}},
        }
    )
    patch = {"status": {field: {"cpu": "8", "memory": "16Gi", "pods": "110"} for field in ("capacity", "allocatable")}}
    kubectl("patch", "node", name, "--subresource=status", "--type=merge", "--patch", json.dumps(patch))
    kubectl("wait", "node", name, "--for=condition=Ready", "--timeout=30s")
    yield name
    kubectl("delete", "node", name)


def test_a_rollout_is_followed_recorded_and_undone(web: Kubectl) -> None:
    web("set", "image", "deployment/web", "main=registry.example/app:2")
    assert "successfully rolled out" in web("rollout", "status", "deployment/web", "--timeout=60s")
    history = web("rollout", "history", "deployment/web").splitlines()
    assert [line.split()[0] for line in history if line[:1].isdigit()] == ["1", "2"]
    assert "registry.example/app:1" in web("rollout", "history", "deployment/web", "--revision=1")
    assert "rolled back" in web("rollout", "undo", "deployment/web")
    web("rollout", "status", "deployment/web", "--timeout=60s")
    (container,) = web.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/app:1"


def test_a_restart_makes_new_pods(web: Kubectl) -> None:
    before = {pod["metadata"]["uid"] for pod in web.get("pods")["items"]}
    assert "restarted" in web("rollout", "restart", "deployment/web")
    web("rollout", "status", "deployment/web", "--timeout=60s")
    living = [pod for pod in web.get("pods")["items"] if "deletionTimestamp" not in pod["metadata"]]
    assert len(living) == 2
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in living)


def test_a_paused_rollout_waits(web: Kubectl) -> None:
    web("rollout", "pause", "deployment/web")
    web("set", "image", "deployment/web", "main=registry.example/app:2")
    assert web.get("deployment", "web")["spec"]["paused"] is True
    assert len(web.get("replicasets")["items"]) == 1
    web("rollout", "resume", "deployment/web")
    web("rollout", "status", "deployment/web", "--timeout=60s")
    assert len(web.get("replicasets")["items"]) == 2


def test_scaling_follows(web: Kubectl) -> None:
    assert web("scale", "deployment/web", "--replicas=4") == "deployment.apps/web scaled\n"
    web("wait", "deployment/web", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=30s")
    said = web.fails("scale", "deployment/web", "--current-replicas=9", "--replicas=1")
    assert "expected replicas to be 9, was 4" in said.lower()
    web("scale", "deployment/web", "--replicas=0")
    web("wait", "pod", "-l", "app=web", "--for=delete", "--timeout=60s")


def test_a_stateful_set_rolls_out_in_order(kubectl: Kubectl) -> None:
    kubectl.apply(stateful_set("db"), service("db"))
    kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
    assert kubectl("get", "pods", "-o", "name").split() == ["pod/db-0", "pod/db-1"]
    kubectl("rollout", "restart", "statefulset/db")
    kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
    history = kubectl("rollout", "history", "statefulset/db").splitlines()
    assert len([line for line in history if line[:1].isdigit()]) == 2


def test_waiting_ends_when_it_should_and_when_time_is_up(web: Kubectl) -> None:
    assert "condition met" in web("wait", "deployment/web", "--for=condition=Available", "--timeout=10s")
    assert "timed out waiting" in web.fails("wait", "deployment/web", "--for=condition=Nonsense", "--timeout=1s")
    web("delete", "deployment", "web", "--wait=false")
    web("wait", "pod", "-l", "app=web", "--for=delete", "--timeout=60s")


def test_a_pod_runs_and_is_deleted_at_once(kubectl: Kubectl) -> None:
    assert kubectl("run", "one", "--image=registry.example/app:1") == "pod/one created\n"
    kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=30s")
    kubectl("delete", "pod", "one", "--now")
    kubectl("run", "two", "--image=registry.example/app:1", "--labels=a=b")
    kubectl("delete", "pod", "two", "--force", "--grace-period=0")
    assert kubectl.get("pods")["items"] == []


def test_a_workload_is_exposed(web: Kubectl) -> None:
    assert web("expose", "deployment", "web", "--port=80", "--target-port=8080") == "service/web exposed\n"
    spec = web.get("service", "web")["spec"]
    assert spec["selector"] == {"app": "web"}
    assert spec["clusterIP"]


def test_an_autoscaler_is_made(web: Kubectl) -> None:
    assert "autoscaled" in web("autoscale", "deployment", "web", "--min=1", "--max=5")
    assert web.get("hpa", "web")["spec"]["maxReplicas"] == 5


def test_a_cordoned_node_takes_nothing_new(kubectl: Kubectl, spare: str) -> None:
    assert f"node/{spare} cordoned" in kubectl("cordon", spare)
    assert "SchedulingDisabled" in kubectl("get", "node", spare)
    pinned = deployment("pinned", replicas=1)
    pinned["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": spare}
    kubectl.apply(pinned)
    kubectl("wait", "pod", "-l", "app=pinned", "--for=condition=PodScheduled=False", "--timeout=30s")
    assert f"node/{spare} uncordoned" in kubectl("uncordon", spare)
    kubectl("rollout", "status", "deployment/pinned", "--timeout=60s")


def test_a_drain_evicts_and_minds_the_budget(kubectl: Kubectl, spare: str) -> None:
    guarded = deployment("guarded", replicas=1)
    guarded["spec"]["template"]["spec"]["nodeSelector"] = {"spare": "yes"}
    guarded["spec"]["template"]["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [spare]}]}
                ]
            }
        }
    }
    kubectl.apply(guarded)
    kubectl("rollout", "status", "deployment/guarded", "--timeout=30s")
    assert "evicting pod" in kubectl.run("drain", spare, "--ignore-daemonsets", "--timeout=60s").stdout
    assert all(
        pod["spec"].get("nodeName") != spare or "deletionTimestamp" in pod["metadata"]
        for pod in kubectl.get("pods")["items"]
    )


def test_taints_are_set_and_taken_away(kubectl: Kubectl, spare: str) -> None:
    assert f"node/{spare} tainted" in kubectl("taint", "node", spare, "team=red:NoSchedule")
    assert {"key": "team", "value": "red", "effect": "NoSchedule"} in kubectl.get("node", spare)["spec"]["taints"]
    assert "already has" in kubectl.fails("taint", "node", spare, "team=blue:NoSchedule")
    assert f"node/{spare} untainted" in kubectl("taint", "node", spare, "team-")
    assert "taints" not in kubectl.get("node", spare)["spec"]


def test_a_job_runs_to_its_end_or_is_deleted(kubectl: Kubectl) -> None:
    kubectl.apply(job("once"))
    kubectl("wait", "job/once", "--for=jsonpath={.status.active}=1", "--timeout=30s")
    assert kubectl("get", "jobs").splitlines()[0].split() == ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    kubectl("delete", "job", "once")
    kubectl("wait", "pod", "-l", "batch.kubernetes.io/job-name=once", "--for=delete", "--timeout=60s")


def test_a_pod_that_fits_nowhere_says_why(kubectl: Kubectl) -> None:
    huge = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "huge"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1000"}}}]},
    }
    kubectl("create", "-f", "-", stdin=manifest(huge))
    kubectl("wait", "pod/huge", "--for=condition=PodScheduled=False", "--timeout=30s")
    told = kubectl("describe", "pod", "huge")
    assert "FailedScheduling" in told
    assert "Insufficient cpu" in told
