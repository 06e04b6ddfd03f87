"""Builders of DaemonSets, their nodes and pods, and what a decision about them holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from mooring.api.kinds import Key
from mooring.builtin.apps.daemonset.controller import reconcile
from mooring.builtin.apps.daemonset.history import new_revision
from mooring.builtin.apps.daemonset.nodes import NODES
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import DAEMON_SET

KEY = Key("default", "agent")
UID = "DaemonSet/default/agent"
LABELS = {"app": "agent"}


def template(image: str = "agent:1", **spec: Any) -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def daemon_set(
    *, rolling: Object | None = None, strategy: str = "RollingUpdate", status: Object | None = None, **spec: Any
) -> Object:
    update: Object = {"type": strategy}
    if strategy == "RollingUpdate":
        update["rollingUpdate"] = {"maxUnavailable": 1, "maxSurge": 0, **(rolling or {})}
    body = {"selector": {"matchLabels": LABELS}, "template": template(), "updateStrategy": update, **spec}
    metadata = {"name": "agent", "namespace": "default", "generation": 1}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body, "status": status or {}}


def node(name: str, *taints: Object, **labels: str) -> Object:
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": list(taints)}}


def nodes(count: int) -> list[Object]:
    return [node(f"n{number}") for number in range(count)]


def taint(key: str, effect: str = "NoSchedule") -> Object:
    return {"key": key, "effect": effect}


def owner_reference() -> Object:
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": UID, "controller": True}


def revision_of(owner: Object) -> Object:
    """The revision that the controller makes for the template of a set."""
    view = view_of([owner])
    made = new_revision(view.get(DAEMON_SET, *KEY), 1)  # type: ignore[arg-type]
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", **made.object}


def hash_of(owner: Object) -> str:
    return str(revision_of(owner)["metadata"]["labels"]["controller-revision-hash"])


def pod(
    name: str,
    on: str,
    revision: str,
    *,
    bound: bool = True,
    phase: str = "Running",
    ready: int | None = 60,
    age: int = 60,
    deleting: bool = False,
    owned: bool = True,
    labels: Object | None = None,
) -> Object:
    """A pod for a node that was created `age` and became ready `ready` seconds ago."""
    metadata: Object = {
        "name": name,
        "namespace": "default",
        "labels": {**(LABELS if labels is None else labels), "controller-revision-hash": revision},
        "creationTimestamp": timestamp(NOON - timedelta(seconds=age)),
    }
    if owned:
        metadata["ownerReferences"] = [owner_reference()]
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    status: Object = {"phase": phase}
    if ready is not None:
        since = timestamp(NOON - timedelta(seconds=ready))
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    spec: Object = {"affinity": only_on(on)}
    if bound:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def only_on(name: str) -> Object:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def decide(owner: Object, *objects: Object, now: datetime = NOON, memory: Any = None) -> Decision:
    """What is decided once today's revision is there."""
    everything = [owner, revision_of(owner), *objects]
    return reconcile(KEY, view_of(everything, now, memory=memory, folds=(NODES,)), now)


def targets(decision: Decision) -> list[str]:
    """The nodes that get a pod."""
    found = []
    for write in decision.children:
        if isinstance(write, Create):
            of_nodes = write.object["spec"]["affinity"]["nodeAffinity"]
            (term,) = of_nodes["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            found += term["matchFields"][0]["values"]
    return found


def deleted(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (patch,) = decision.status
    assert isinstance(patch, Patch)
    return dict(patch.body["status"])
