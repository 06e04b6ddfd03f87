"""What every builder makes: of as little as it takes, and of everything that it takes.

Users' tests compare with what they wrote themselves, so nobody else would see that a builder left something out, or
put something in that nobody named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from mooring.kube.objects import Object
from mooring.testing import (
    builders,
    devices,
    groups,
    hosts,
    installations,
    machines,
    notebooks,
    replica_pools,
    workloads,
)
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workspaces import gpu_node, node_claim, workspace
from tests.support.golden import same_as_recorded

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LABELS = {"team": "ml"}
NOTES = {"example.com/note": "yes"}
TAINT = "dedicated=ml:NoSchedule"


def of_pods_and_nodes() -> Iterator[tuple[str, Any]]:
    yield "taint with a value", builders.taint(TAINT)
    yield "taint without one", builders.taint("a.example.com/b:NoExecute")
    yield "toleration with a value", builders.toleration(TAINT)
    yield "toleration without one", builders.toleration("a.example.com/b:NoExecute")
    yield "node", builders.node("n")
    yield (
        "node of everything",
        builders.node(
            "n", cpu="4", memory="8Gi", gpu=2, pods=9, labels=LABELS, taints=[TAINT], zone="eu-1", unschedulable=True
        ),
    )
    yield "node without a hostname", builders.node("n", hostname=False)
    yield "pod", builders.pod("p")
    yield (
        "pod of everything",
        builders.pod(
            "p",
            cpu="1",
            memory="2Gi",
            gpu=3,
            node="n",
            namespace="ml",
            labels=LABELS,
            priority=0,
            owner="StatefulSet/web",
            host_port=80,
            tolerations=[TAINT],
            hostNetwork=True,
        ),
    )
    yield "deployment of a pod", builders.deployment("web", builders.pod("p", namespace="ml"))
    yield "deployment of a labelled pod", builders.deployment("web", builders.pod("p", labels=LABELS), replicas=3)


def of_workloads() -> Iterator[tuple[str, Any]]:
    template = workloads.template("a", version=2, duration="5s", exit_code=0, grace=7, hostNetwork=True)
    yield "template", workloads.template("a")
    yield "template that says how it ends", template
    with_replicas = (
        workloads.deployment,
        workloads.replica_set,
        workloads.replication_controller,
        workloads.stateful_set,
    )
    for make in with_replicas:
        yield make.__name__, make("w")
        yield f"{make.__name__} of everything", make("w", 3, pods=template, minReadySeconds=5)
    yield "StatefulSet of another service", workloads.stateful_set("w", serviceName="other")
    yield "daemon_set", workloads.daemon_set("w")
    yield "daemon_set of everything", workloads.daemon_set("w", pods=template, minReadySeconds=5)
    yield "job", workloads.job("w")
    yield "job of everything", workloads.job("w", pods=template, completions=3)
    yield "job that starts again", workloads.job("w", pods=workloads.template("w", restartPolicy="OnFailure"))
    yield "cron_job", workloads.cron_job("w", "* * * * *")
    yield (
        "cron_job of everything",
        workloads.cron_job("w", "@daily", pods=template, job_spec={"completions": 2}, suspend=True),
    )
    yield "budget", workloads.budget("b", "web")
    yield "budget of everything", workloads.budget("b", "web", minAvailable=1)
    yield "service", workloads.service("s", "web")
    yield "service of everything", workloads.service("s", "web", 443, clusterIP="None")
    yield "claim_template", workloads.claim_template("data")
    yield "claim_template of everything", workloads.claim_template("data", size="5Gi", storage_class="")
    yield "volume", workloads.volume("v", storage_class="fast")
    yield "volume of another size", workloads.volume("v", size="5Gi", storage_class="")


def of_devices() -> Iterator[tuple[str, Any]]:
    yield "device_class", devices.device_class()
    yield "device_class of everything", devices.device_class("small", "true")
    yield "resource_slice", devices.resource_slice("n")
    yield "resource_slice of everything", devices.resource_slice("n", "a", "b", name="s", driver="d.example.com")
    yield "resource_claim_template", devices.resource_claim_template()
    yield "resource_claim_template of everything", devices.resource_claim_template("t", {"devices": {}})
    yield "resource_claim", devices.resource_claim("c")
    yield "resource_claim of everything", devices.resource_claim("c", {"devices": {}})
    yield "claiming_pod", devices.claiming_pod("p")
    yield "claiming_pod of another template", devices.claiming_pod("p", template="two", cpu="1")
    yield "claiming_pod of a claim", devices.claiming_pod("p", claim="c")


def of_groups() -> Iterator[tuple[str, Any]]:
    yield "leader_worker_set", groups.leader_worker_set()
    yield (
        "leader_worker_set of everything",
        groups.leader_worker_set(
            "s",
            replicas=0,
            size=4,
            namespace="ml",
            image="i",
            cpu="1",
            unique="example.com/rack",
            annotations=NOTES,
            rolling={"maxSurge": 1},
            template={"restartPolicy": "None"},
            pod={"hostNetwork": True},
            startupPolicy="LeaderReady",
        ),
    )
    yield "leader_worker_set without numbers", groups.leader_worker_set(replicas=None, size=None, rolling={})
    parts: Object = {"labels": LABELS, "annotations": NOTES, "spec": {"hostNetwork": True}}
    yield "leader_pod", groups.leader_pod()
    yield "leader_pod of everything", groups.leader_pod("a-b-3", size=5, namespace="ml", **parts)
    yield "worker_pod", groups.worker_pod()
    yield "worker_pod of everything", groups.worker_pod("a-b-3-2", size=5, namespace="ml", **parts)


def of_hosts() -> Iterator[tuple[str, Any]]:
    yield "byo_host", hosts.byo_host("h")
    yield (
        "byo_host of everything",
        hosts.byo_host(
            "h", namespace="ml", labels=LABELS, annotations=NOTES, cpu="4", memory="8Gi", gpu=2, unschedulable=True
        ),
    )
    yield "byo_cluster", hosts.byo_cluster()
    yield "byo_cluster of everything", hosts.byo_cluster("c", namespace="ml", bundleLookupTag="v1")
    yield "machine_cluster", hosts.machine_cluster()
    yield "machine_cluster of everything", hosts.machine_cluster("c", namespace="ml", paused=True)
    yield "byo_machine_template", hosts.byo_machine_template("t")
    yield "byo_machine_template of everything", hosts.byo_machine_template("t", {}, joinMode="secret")
    yield "installer_template", hosts.installer_template()
    yield "installer_template of everything", hosts.installer_template("i", repo="r")
    yield "bootstrap_kubeconfig", hosts.bootstrap_kubeconfig("b")
    yield "bootstrap_kubeconfig of everything", hosts.bootstrap_kubeconfig("b", apiserver="https://a", caData="x")
    yield "serving_host", replica_pools.serving_host("h")
    yield "serving_host of everything", replica_pools.serving_host("h", gpu=2, labels=LABELS, cpu="4")


def of_pools() -> Iterator[tuple[str, Any]]:
    template = machines.machine_template(
        "t", version="v1.35.0", bootstrap="b", labels=LABELS, annotations=NOTES, failureDomain="eu-1"
    )
    yield "machine_template", machines.machine_template("t")
    yield "machine_template of everything", template
    yield "machine_deployment", machines.machine_deployment()
    yield (
        "machine_deployment of everything",
        machines.machine_deployment(
            "d", 0, template=template, surge=0, unavailable="50%", annotations=NOTES, paused=True
        ),
    )
    yield "machine_deployment without replicas", machines.machine_deployment(replicas=None, surge=1)
    yield "machine_set", machines.machine_set()
    yield "machine_set of everything", machines.machine_set("s", 0, template=template, paused=True)
    yield "machine", machines.machine("m")
    yield "machine of everything", machines.machine("m", labels=LABELS, version="v1.35.0")
    yield "scaled_pool", scaled_pool()
    yield "scaled_pool of everything", scaled_pool("gpu", 2, least=1, most="9", annotations=NOTES, version="v1.35.0")
    yield "replica_policy", replica_pools.replica_policy()
    yield "replica_policy of everything", replica_pools.replica_policy(maxPools=None, maxHosts="2", version="")
    yield "replica_pod", replica_pools.replica_pod("serve")
    yield (
        "replica_pod of everything",
        replica_pools.replica_pod("serve", 2, size=3, key="example.com/k", gpu=0, namespace="ml"),
    )
    yield "replica_pods", replica_pools.replica_pods("serve")
    yield "replica_pods of everything", replica_pools.replica_pods("serve", 3, gpu=2)


def of_notebooks() -> Iterator[tuple[str, Any]]:
    affinity: Object = {"nodeAffinity": {}}
    tolerated: list[str | Object] = [TAINT, {"operator": "Exists"}]
    yield "notebook_job", notebooks.notebook_job()
    yield (
        "notebook_job of everything",
        notebooks.notebook_job(
            "j",
            namespace="ml",
            path="a.ipynb",
            url="https://git.example.com/a.git",
            ref="v1",
            secret="s",
            golden="g.ipynb",
            image="i",
            cpu="1",
            gpu=2,
            timeout="5m",
            tolerations=tolerated,
            selector=LABELS,
            affinity=affinity,
            annotations=NOTES,
            pod={"serviceAccountName": "a"},
            comparisonConfig={},
        ),
    )
    yield "notebook_job with processors", notebooks.notebook_job(cpu="1")
    yield "notebook_job with a GPU", notebooks.notebook_job(gpu=1)
    yield "run_result", notebooks.run_result()
    yield "run_result of everything", notebooks.run_result("Failed", "CellFailed", "no", cells=["Failed"], seconds=1)
    yield "running_status", notebooks.running_status(NOON)
    yield "not_started_status", notebooks.not_started_status(NOON, "ImagePullBackOff")
    yield "not_started_status with words", notebooks.not_started_status(NOON, "ErrImagePull", "no")
    yield "validator_ended_status", notebooks.validator_ended_status(NOON)
    yield "validator_ended_status of everything", notebooks.validator_ended_status(NOON, 137, reason="OOMKilled")
    yield "clone_failed_status", notebooks.clone_failed_status(NOON, 4)
    yield "clone_failed_status with words", notebooks.clone_failed_status(NOON, 5, "no")


def of_workspaces() -> Iterator[tuple[str, Any]]:
    yield "workspace", workspace()
    yield (
        "workspace of everything",
        workspace(
            "w",
            image="i",
            gpu=2,
            count=0,
            labels={},
            instance_type="large",
            namespace="ml",
            annotations=NOTES,
            inference={"adapters": []},
            pod={"hostNetwork": True},
            preferredNodes=["n"],
        ),
    )
    yield "workspace of a preset", workspace(preset="phi-4", gpu=1)
    yield "gpu_node", gpu_node("n")
    yield (
        "gpu_node of everything",
        gpu_node("n", gpu=4, memory_mib=1024, product="T4", instance_type="large", labels={}, zone="eu-1"),
    )
    yield "node_claim", node_claim()
    yield (
        "node_claim of everything",
        node_claim("c", instance_type="large", storage="1Gi", labels={}, annotations=NOTES),
    )
    yield "helm_chart", installations.helm_chart()
    yield "helm_chart of everything", installations.helm_chart("a", "1.0.0", createNamespace=False)
    yield "installation", installations.installation()
    yield (
        "installation of everything",
        installations.installation("i", installations.helm_chart("a"), url="https://c", suspend=True),
    )


ALL = (of_pods_and_nodes, of_workloads, of_devices, of_groups, of_hosts, of_pools, of_notebooks, of_workspaces)


def test_builders_put_in_what_is_named_and_nothing_else() -> None:
    made = [(case, obj) for cases in ALL for case, obj in cases()]
    found = {case: json.dumps(obj, indent=1) for case, obj in made}
    assert len(found) == len(made), "two cases have one name"
    same_as_recorded("builders", found)
