"""Every right that a controller declares is one that it uses: config/rbac asks for nothing that nobody needs.

A few days of one cluster in virtual time, in which each controller comes to do all that it can.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.endpoints.mirroring import SKIP
from mooring.client.transport import Request, Unreachable
from mooring.features.autoscaler.feature import AUTOSCALER
from mooring.features.groups.api import EXCLUSIVE_TOPOLOGY, KIND
from mooring.features.hosts.feature import HOSTS
from mooring.features.installation.feature import INSTALLATION
from mooring.features.machines.feature import MACHINES
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.stages.crd import stage_definition
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.rights import Rights
from mooring.runtime.view import View
from mooring.testing.builders import HOSTNAME, node, pod
from mooring.testing.devices import claiming_pod, device_class, resource_claim_template, resource_slice
from mooring.testing.groups import leader_worker_set
from mooring.testing.rights import UsedRights, recorded_rights
from mooring.testing.workloads import (
    budget,
    claim_template,
    cron_job,
    daemon_set,
    deployment,
    job,
    replica_set,
    replication_controller,
    service,
    stateful_set,
    template,
)
from mooring.testing.workspaces import A100, gpu_node, workspace
from mooring.workloads.kinds import NODE, POD, SERVICE
from tests.builtin.access_objects import access_objects, deny_one
from tests.builtin.podautoscaler.objects import autoscaler, cpu_metric
from tests.builtin.serving import service_without_selector, written_endpoints
from tests.builtin.volumes.objects import local_volume, reserved, storage_objects
from tests.features.groups.town import CONTROLLERS, EVERY_CONTROLLER, Town
from tests.features.workspaces.town import WorkspaceTown
from tests.nodes.stages.objects import setting, stage

# Rights that no write of a decision shows: what the executors of effects do, and what the API server asks for beside.
BY_OTHERS = {
    "csr-approver": [
        "approval certificates.k8s.io/v1/CertificateSigningRequest",
        "approve certificates.k8s.io/v1/Signer",
        "create authorization.k8s.io/v1/SubjectAccessReview",
    ],
    "csr-signer": [
        "sign certificates.k8s.io/v1/Signer",
        "status certificates.k8s.io/v1/CertificateSigningRequest",
    ],
    "workspaces": ["log v1/Pod"],
}
# Features that hold themselves to their rights, in the tests of each.
THEMSELVES = (HOSTS, MACHINES, AUTOSCALER, NOTEBOOKS, INSTALLATION)
ELSEWHERE = {name for feature in THEMSELVES for name in feature.controllers.names}


@pytest.fixture(scope="module")
def used() -> UsedRights:
    with recorded_rights() as recorded:
        workloads()
        volumes()
        orphans_and_strangers()
        pods_that_are_gone_before_they_are_counted()
        jobs()
        cron_jobs()
        autoscalers()
        services_without_pods()
        endpoints_by_hand()
        nodes_that_come_and_go()
        stages()
        groups()
        workspaces()
        devices()
        with pytest.MonkeyPatch.context() as monkeypatch:
            every_kind_has_owners(monkeypatch)
        every_kind_is_in_a_namespace()
        rights_and_credentials()
    return recorded


def workloads() -> None:
    """Workloads are made, changed, scaled and finished."""
    town = Town(nodes=2)
    claims = [claim_template("data")]
    forget = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    town.create(deployment("web", 3, revisionHistoryLimit=0))
    retention: Object = {"volumeClaimTemplates": claims, "persistentVolumeClaimRetentionPolicy": forget}
    town.create(stateful_set("db", 2, revisionHistoryLimit=0, **retention))
    town.create(daemon_set("agent", revisionHistoryLimit=0))
    town.create(job("night", ttlSecondsAfterFinished=60))
    for app in ("web", "db", "agent"):
        town.create(service(app, app))
        town.create(budget(app, app, maxUnavailable=1))
    town.run(30)
    for kind, name in (("Deployment", "web"), ("StatefulSet", "db"), ("DaemonSet", "agent")):
        for version in (2, 1, 3):
            town.patch(kind, name, {"spec": {"template": template(name, version=version)}})
            town.run(120)
    town.patch("StatefulSet", "db", {"spec": {"replicas": 1}})
    town.patch("Deployment", "web", {"spec": {"replicas": 1}})
    town.patch("Service", "web", {"spec": {"selector": {"app": "db"}}})
    town.run(30)
    (current,) = (name for name, each in town.all("ReplicaSet").items() if each["spec"]["replicas"])
    town.patch("ReplicaSet", current, {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "9"}}})
    town.create(deployment("one", 1, strategy={"type": "Recreate"}))
    town.run(30)
    town.patch("Deployment", "one", {"spec": {"template": template("one", version=2)}})
    town.run(120)
    for kind in ("Deployment", "StatefulSet", "Service"):
        town.delete(kind, "web" if kind != "StatefulSet" else "db")
    town.run(300)


def volumes() -> None:
    """Claims wait for pods, are given volumes that are there, and take those that were made for them along."""
    town = Town(*(storage_objects()), nodes=2)
    town.run(60)
    # A second volume for a claim that has one.
    uid = town.all("PersistentVolumeClaim")["found"]["metadata"]["uid"]
    town.create(reserved(local_volume("second", "n0", "gone"), "found", uid))
    town.run(60)
    town.delete("PersistentVolumeClaim", "made")
    town.run(60)


def orphans_and_strangers() -> None:
    """Pods, sets and revisions are left behind by one owner and taken by the next; pods are let go by their labels."""
    town = Town(nodes=2)
    for number in range(2):
        town.create(deployment("web", 2))
        town.create(replica_set("set", 2))
        town.create(replication_controller("rc", 2))
        town.create(stateful_set("db", 2))
        town.create(daemon_set("agent"))
        town.create(job("batch", completions=2, parallelism=2, pods=template("batch", duration="1h")))
        town.run(60)
        town.patch("ReplicationController", "rc", {"spec": {"replicas": 1}})
        town.run(60)
        owners = (("Deployment", "web"), ("ReplicaSet", "set"), ("StatefulSet", "db"), ("DaemonSet", "agent"))
        for kind, name in (*owners, ("ReplicationController", "rc")):
            town.delete(kind, name, propagation="Orphan" if number == 0 else "Background")
        town.delete("Job", "batch", propagation="Orphan")
        town.run(60)


def pods_that_are_gone_before_they_are_counted() -> None:
    """Their names are spent all the same, which is a write of its own where the status has nothing new."""
    for workload in (replica_set("set", 1), replication_controller("set", 1), daemon_set("set")):
        town = Town(nodes=1)
        town.create(workload)
        town.simulation.run(until=town.has_pods)
        (name,) = town.pods()
        town.delete("Pod", name, grace=0)
        town.run(30)


def jobs() -> None:
    """Jobs fail for good, let pods go and are suspended."""
    town = Town(nodes=1)
    town.create(job("failing", backoffLimit=0, parallelism=2, pods=template("failing", duration="1s", exit_code=1)))
    town.create(job("sleeping", parallelism=2, pods=template("sleeping", duration="1h")))
    town.run(30)
    town.patch("Job", "sleeping", {"spec": {"parallelism": 1}})
    town.run(30)
    town.patch("Job", "sleeping", {"spec": {"suspend": True}})
    town.run(30)


def cron_jobs() -> None:
    """Jobs are made by the minute, and the oldest go."""
    town = Town(nodes=1)
    town.create(cron_job("often", "* * * * *", successfulJobsHistoryLimit=1))
    town.run(300)


def autoscalers() -> None:
    """Every kind that has replicas gets more of them, a custom one too, and metrics are looked for."""
    targets = (deployment("a", 1), replica_set("b", 1), stateful_set("c", 1), replication_controller("d", 1))
    custom = leader_worker_set(replicas=1, size=1)
    town = Town(*targets, custom, nodes=2)
    hits: Object = {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    for each in (*targets, custom):
        kind = f"{each['apiVersion']} {each['kind']}"
        metrics = [cpu_metric(), {"type": "Pods", "pods": hits}]
        town.create(autoscaler(each["metadata"]["name"], kind=kind, least=2, metrics=metrics))
    town.run(60)


def endpoints_by_hand() -> None:
    """A Service without a selector, whose Endpoints change their addresses, and at last are not to be mirrored."""
    town = Town(service_without_selector("hand"), written_endpoints("hand", "10.0.0.1"), nodes=1)
    resource = town.registry.resource("v1", "Endpoints")
    changes = ({"subsets": written_endpoints("hand", "10.0.0.2")["subsets"]}, {"metadata": {"labels": {SKIP: "true"}}})
    for body in changes:
        town.run(30)
        town.registry.patch(resource, "default", "hand", "merge", body, now=town.simulation.now)
    town.run(30)


def services_without_pods() -> None:
    """Slices that are not needed any more go; Endpoints that somebody made become the Service's."""
    town = Town(nodes=2)
    meta = {"name": "web", "namespace": "default"}
    town.create({"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": []})
    town.create(deployment("web", 120, pods=template("web", hostNetwork=False)))
    town.create(service("web", "web"))
    town.run(120)
    town.patch("Deployment", "web", {"spec": {"replicas": 1}})
    town.run(120)
    controller = {"selector": {"app": "rc"}, "replicas": 1, "template": template("rc")}
    meta = {"name": "rc", "namespace": "default"}
    made = town.create({"apiVersion": "v1", "kind": "ReplicationController", "metadata": meta, "spec": controller})
    owner = {"apiVersion": "v1", "kind": "ReplicationController", "name": "rc", "uid": made["metadata"]["uid"]}
    town.create(pod("of-rc", labels={"app": "rc"}) | {"metadata": own("of-rc", {**owner, "controller": True})})
    town.create(budget("rc", "rc", maxUnavailable=1))
    town.run(30)


def own(name: str, owner: Object) -> Object:
    return {"name": name, "namespace": "default", "labels": {"app": "rc"}, "ownerReferences": [owner]}


def nodes_that_come_and_go() -> None:
    """Nodes fall silent and are deleted; pods are unschedulable, evicted, preempted and collected."""
    town = Town(nodes=4)
    town.create(deployment("web", 4))
    town.create(pod("large", cpu="1000"))
    town.run(30)
    town.patch("Node", "n0", {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}})
    town.run(900)
    town.delete("Node", "n1")
    taint = {"key": "maintenance", "effect": "NoExecute"}
    town.patch("Node", "n2", {"spec": {"taints": [taint]}})
    town.run(300)
    town.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "h"}, "value": 9})
    town.create(pod("low", cpu="60", nodeSelector={HOSTNAME: "n3"}))
    town.run(30)
    urgent = pod("urgent", cpu="60", nodeSelector={HOSTNAME: "n3"})
    town.create({**urgent, "spec": {**urgent["spec"], "priorityClassName": "h"}})
    town.run(60)


def stages() -> None:
    """Stages change, finish and delete pods and nodes."""
    town = Town(run=False)
    town.create(stage_definition())
    steps: dict[str, Object] = {
        "hold": {"finalizers": {"add": [{"value": "example.com/held"}]}},
        "go": {"delete": True},
        "broken": setting("{{ broken"),
    }
    for kind in ("Pod", "Node"):
        for name, step in steps.items():
            chosen = (".metadata.labels.stage", "In", [name])
            town.create(stage(f"{kind.lower()}-{name}", chosen, kind=kind, next=step))
    town.create(node("n0", cpu="64"))
    for name in ("hold", "go"):
        town.create(pod(name, labels={"stage": name}))
        town.create(node(name, labels={"stage": name}))
    town.run(60)


def groups() -> None:
    """Sets of groups are left behind, taken up, rolled, broken, restarted and kept in their own domain."""
    town = Town(leader_worker_set(replicas=2, size=2, networkConfig={"subdomainPolicy": "UniquePerReplica"}), nodes=2)
    town.restart("serve-0-1")
    town.run()
    town.delete("Pod", "serve-1", propagation="Orphan")
    town.run()
    town.new_image()
    town.run()
    town.delete(KIND, "serve", propagation="Orphan")
    town.run()
    town.create(leader_worker_set(replicas=2, size=2))
    town.create(leader_worker_set("broken", replicas=3, pod={"nodeSelector": {"gpu": "misspelt"}}))
    town.run()
    town.change({"leaderWorkerTemplate": {"workerTemplate": {"spec": {"nodeSelector": None}}}}, "broken")
    town.run()
    Town(leader_worker_set(replicas=1, size=2, annotations={EXCLUSIVE_TOPOLOGY: HOSTNAME}), nodes=1)


def workspaces() -> None:
    """A preset is served, taken over and changed often; claims are made, lose a node and go."""
    preset = workspace(preset="phi-4", inference={"config": "settings"})
    town = WorkspaceTown(gpu_node("n0"), gpu_node("n1"), deployment("llm", 0), preset)
    town.patch("StatefulSet", "llm", {"metadata": {"ownerReferences": None}})
    town.run(10)
    for number in range(11):
        town.patch("Workspace", "llm", {"inference": {"config": f"c{number}"}})
        town.run(10)
    town = WorkspaceTown(workspace(preset="phi-4", instance_type=A100), provisions=True)
    (claimed,) = town.all("Node")
    town.delete("Node", claimed)
    town.run()
    town.delete("Workspace", "llm")
    town.run()


def devices() -> None:
    """Devices are claimed and given back: by a pod that ends, and by one that is deleted."""
    town = Town(nodes=1, run=False)
    for obj in (device_class(), resource_claim_template(), resource_slice("n0", "gpu-0"), claiming_pod("p")):
        town.create(obj)
    town.run(30)
    town.patch("Pod", "p", {"status": {"phase": "Succeeded"}}, "status")
    town.run(30)


def every_kind_has_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two objects of each kind, one goes with its owner, and one stays when its owner is deleted without it."""
    (collector,) = (each for each in CONTROLLERS if each.name == "garbage-collector")
    town = Town(controllers=(collector,))
    # What is put here has nothing but metadata, so most of it could not be patched.
    monkeypatch.setattr(town.simulation.transport, "write", unreachable)
    for name, options in (("taking", {}), ("leaving", {"propagation": "Orphan"})):
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": f"uid-{name}"}
        put(town, "v1", "ConfigMap", name, "default")
        for kind in collector.writes:
            put(town, kind.api_version, kind.kind, f"of-{name}", "default", ownerReferences=[owner])
        town.run(1)
        town.delete("ConfigMap", name, **options)
        town.run(60)


def every_kind_is_in_a_namespace() -> None:
    (namespaces,) = (each for each in CONTROLLERS if each.name == "namespace")
    town = Town(controllers=(namespaces,))
    town.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "away"}})
    for kind in namespaces.writes:
        if kind.kind != "Namespace":
            put(town, kind.api_version, kind.kind, "some", "away")
    town.run(1)
    town.delete("Namespace", "away")
    town.run(60)


def rights_and_credentials() -> None:
    """Roles are aggregated, certificates signed, tokens expire, and the published authority is put right."""
    town = Town(*access_objects(), run=False)
    deny_one(town)
    town.run(1)
    config_maps = town.registry.resource("v1", "ConfigMap")
    changed = {"data": {"ca.crt": "another"}}
    town.registry.patch(config_maps, "default", "kube-root-ca.crt", "merge", changed, now=town.simulation.now)
    town.run(200_000)


def unreachable(request: Request) -> Object:
    raise Unreachable("nobody answers")


def put(town: Town, api_version: str, kind: str, name: str, namespace: str, **metadata: Any) -> None:
    """Store an object of any kind as it is; only its metadata matter."""
    resource = town.registry.resource(api_version, kind)
    where = {"namespace": namespace} if resource.namespaced else {}
    moment = timestamp(town.simulation.now)
    meta = {"name": name, **where, "uid": f"uid-{name}" if kind == "ConfigMap" else f"uid-{kind}-{name}", **metadata}
    town.registry.adopt({"apiVersion": api_version, "kind": kind, "metadata": {**meta, "creationTimestamp": moment}})


def test_every_declared_right_is_used(used: UsedRights) -> None:
    assert used.unused(each for each in EVERY_CONTROLLER if each.name not in ELSEWHERE) == BY_OTHERS


def test_a_right_that_nobody_uses_is_found() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.list(POD)
        return Decision()

    writes: Rights = {POD: ("delete",)}
    idle = Controller("idle", reconcile, of=NODE, reads=(POD, SERVICE), writes=writes)
    with recorded_rights() as recorded:
        Town(nodes=1, controllers=(idle,))
    assert recorded.unused((idle,)) == {"idle": ["delete v1/Pod", "read v1/Node", "read v1/Service"]}
