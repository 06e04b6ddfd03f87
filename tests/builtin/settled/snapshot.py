"""What a cluster has come to, in words that are the same in every cluster.

Names that are drawn or hashed become what they stand for: a ReplicaSet is its Deployment with its revision, a pod its
owner with a star. Moments and uids are left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from mooring.kube.objects import Object
from tests.builtin.settled.clusters import PATHS, Cluster

REVISION = "deployment.kubernetes.io/revision"
# What is told of each kind, beside its labels, annotations, finalizers, owners and status.
_SPEC = {
    "Deployment": ("replicas",), "ReplicaSet": ("replicas", "selector"), "StatefulSet": ("replicas",),
    "ReplicationController": ("replicas",), "Job": ("parallelism", "suspend", "selector", "completions"),
    "Pod": ("nodeName", "hostname", "subdomain"), "PersistentVolumeClaim": ("storageClassName",),
}  # fmt: skip
# Told of states that may have passed before anybody looks.
_PASSING = ("CalculateExpectedPodCountFailed", "NoPods", "ClusterIPNotAllocated")
_LEFT_OUT = ("ResourceQuota", "Event", "Service")
_DROPPED = re.compile(r"(Time|Timestamp|uid|Hash|resourceVersion|hostIPs?|podIPs?|qosClass|collisionCount)$")
_OWN_NOTES = ("mooring.dev/", "endpoints.kubernetes.io/last-change", "kubectl.kubernetes.io/")


def snapshot(cluster: Cluster, names: dict[str, str]) -> list[str]:
    """A line for each object, and one for each event that differs from the others.

    `names` are what drawn and hashed words stand for; those that are new are added.
    """
    everything = {kind: cluster.list(kind) for kind in PATHS}
    _learn(everything, names)
    lines: Counter[str] = Counter()
    for kind, objects in everything.items():
        if kind not in _LEFT_OUT:
            for obj in objects:
                lines[f"{kind} {_shown(_told(kind, obj), names)}"] += 1
    for event in everything["Event"]:
        if event["reason"] in _PASSING or "combined from similar events" in event.get("message", ""):
            continue
        about = event["involvedObject"]
        text = f"{about['kind']} {about['name']} {event['type']} {event['reason']}: {event.get('message', '')}"
        lines[f"Event {_plain(text, names)}"] = 1
    return sorted(line if count == 1 else f"{count} x {line}" for line, count in lines.items())


def _learn(everything: dict[str, list[Object]], found: dict[str, str]) -> None:
    """What each drawn or hashed word stands for."""
    for kind in ("ReplicaSet", "ControllerRevision"):
        for obj in everything[kind]:
            meta = obj["metadata"]
            owner = next((each["name"] for each in meta.get("ownerReferences", ())), "")
            number = meta.get("annotations", {}).get(REVISION) if kind == "ReplicaSet" else str(obj["revision"])
            if owner and number is not None:
                found[meta["name"]] = f"{owner}#{number}"
                word = meta["name"].removeprefix(f"{owner}-")
                found[word] = f"#{number}"
                labels = meta.get("labels", {})
                for label in ("controller-revision-hash", "controller.kubernetes.io/hash", "pod-template-hash"):
                    if label in labels:
                        found[labels[label]] = f"#{number}"
    for kind in ("Pod", "EndpointSlice"):
        for obj in everything[kind]:
            meta = obj["metadata"]
            owner = next((each["name"] for each in meta.get("ownerReferences", ())), "")
            owner_kind = next((each["kind"] for each in meta.get("ownerReferences", ())), "")
            if owner_kind == "StatefulSet" or not owner:
                continue
            index = re.match(rf"{re.escape(owner)}-(\d+)-", meta["name"])
            found[meta["name"]] = f"{found.get(owner, owner)}-{index.group(1) + '-' if index else ''}*"


def _plain(text: str, names: dict[str, str]) -> str:
    text = re.sub(
        r"\b(deployments|replica-sets|stateful-sets|daemon-sets|jobs|services|budgets)-\d+/", "default/", text
    )
    if names:
        words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        text = re.sub(rf"(?<![\w.-])({words})(?![\w-])", lambda match: names[match.group(1)], text)
        # A set that is gone is known by its pods.
        text = re.sub(
            rf"(?<![\w.-])({words})(?=-[bcdfghjklmnpqrstvwxz2456789]{{5}}\b)", lambda m: names[m.group(1)], text
        )
    # What should be gone may be counted or not.
    text = re.sub(r"used: pods=\d+", "used: pods=N", text)
    # Pods that are gone are known by their owners' words alone.
    text = re.sub(
        r"([\w.-]+?(?:#\d+)?)-(?:(\d+)-)?[bcdfghjklmnpqrstvwxz2456789]{5}\b",
        lambda m: f"{m[1]}-{m[2] + '-' if m[2] else ''}*",
        text,
    )
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>", text)


def _shown(value: Any, names: dict[str, str]) -> str:
    return _plain(json.dumps(value, sort_keys=True), names)


def _told(kind: str, obj: Object) -> Object:
    meta = obj["metadata"]
    told: Object = {"name": meta["name"]}
    told |= {key: meta[key] for key in ("labels", "finalizers") if meta.get(key)}
    notes = {key: text for key, text in meta.get("annotations", {}).items() if not key.startswith(_OWN_NOTES)}
    if notes:
        told["annotations"] = notes
    if "deletionTimestamp" in meta:
        told["deleting"] = True
    if kind != "Endpoints":
        # Mooring's belong to their Service, so that they go with it.
        told["owners"] = [
            [each["kind"], each["name"], each.get("controller", False), each.get("blockOwnerDeletion", False)]
            for each in meta.get("ownerReferences", ())
        ]
    spec = obj.get("spec", {})
    told |= {key: spec[key] for key in _SPEC.get(kind, ()) if key in spec}
    if kind in ("Endpoints", "EndpointSlice"):
        told |= {key: obj[key] for key in ("subsets", "addressType", "endpoints", "ports") if key in obj}
    if kind == "ControllerRevision":
        told["revision"] = obj["revision"]
    if kind == "Pod":
        told["image"] = spec["containers"][0]["image"]
        told["ended"] = obj["status"].get("phase") if obj["status"].get("phase") in ("Succeeded", "Failed") else ""
    else:
        told["status"] = _without_moments(obj.get("status", {}))
    plain: Object = _without_moments(told)
    return plain


def _without_moments(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_moments(item) for key, item in value.items() if not _DROPPED.search(key)}
    if not isinstance(value, list):
        return value
    items = [_without_moments(item) for item in value]
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
