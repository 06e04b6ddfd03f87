"""What a namespace holds, without what differs from cluster to cluster and from run to run.

Names that a controller made up become names that say whose they are; moments, addresses and identities become
placeholders; what the order of events decides (which node of several equal ones, how often a ReplicaSet was scaled on
the way) is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mooring.kube.objects import Object

# By kind, the objects of a namespace.
Contents = Mapping[str, list[Object]]

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b")

_METADATA = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink")
_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"
_REVISION_HASH = "controller-revision-hash"
# How often a ReplicaSet was scaled on its way, and addresses were written together, is a matter of time. The rest are
# the differences that docs/conformance.md lists.
_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
_INCARNATION = "mooring.dev/incarnation"
_UNSTEADY = {
    "ReplicaSet": ("generation", "observedGeneration", _INCARNATION),
    "ReplicationController": (_INCARNATION,),
    "DaemonSet": (_INCARNATION,),
    "Job": (_INCARNATION,),
    "CronJob": ("resourceVersion",),
    "EndpointSlice": ("generation", _TRIGGER),
    "Endpoints": (_TRIGGER, "ownerReferences"),
    "StatefulSet": ("maxUnavailable",),
}
_CHANCE = {
    "nodeName": "<node>",
    "volume.kubernetes.io/selected-node": "<node>",
    "clusterIP": "<ip>",
    "clusterIPs": ["<ip>"],
    "volumeName": "<volume>",
    "resourceVersion": "<rv>",
}
# Lists that are sets.
_SETS = {"conditions": "type", "ownerReferences": "name"}


def normal(contents: Contents) -> Object:
    """Every object by kind, in an order that does not depend on made-up names."""
    names = _canonical_names(contents)
    told = {}
    for kind, objects in contents.items():
        found = [_Normal(names, kind).value("", obj) for obj in objects]
        told[kind] = sorted(found, key=lambda obj: json.dumps(obj, sort_keys=True))
    return told


def _canonical_names(contents: Contents) -> list[tuple[str, str]]:
    """What to write instead of names and hashes that were made up, longest first."""
    found: dict[str, str] = {}
    for each in contents.get("ReplicaSet", ()):
        metadata = each["metadata"]
        owner = _controller(each)
        made = (metadata.get("labels") or {}).get(_HASH)
        if owner and made:
            revision = (metadata.get("annotations") or {}).get(_REVISION, "?")
            found[metadata["name"]] = f"{owner}-<{revision}>"
            found[made] = f"<hash {revision}>"
    for each in contents.get("ControllerRevision", ()):
        owner = _controller(each)
        name = each["metadata"]["name"]
        found[name] = f"{owner}-<{each['revision']}>"
        found[name.removeprefix(f"{owner}-")] = f"<hash {each['revision']}>"
    for each in contents.get("Job", ()):
        if owner := _controller(each):
            # It is named after its minute.
            found[each["metadata"]["name"]] = f"{owner}-<time>"
    for kind in ("Pod", "EndpointSlice", "ResourceClaim"):
        for each in contents.get(kind, ()):
            prefix = each["metadata"].get("generateName")
            if prefix:
                owner = _controller(each) or prefix.removesuffix("-")
                if each["metadata"]["name"].startswith(prefix) and not _is_numbered(each):
                    found[each["metadata"]["name"]] = f"{found.get(owner, owner)}-<{kind}>"
    return sorted(found.items(), key=lambda item: -len(item[0]))


def _is_numbered(obj: Object) -> bool:
    """Whether it is a pod of a StatefulSet, whose name nobody makes up."""
    return "apps.kubernetes.io/pod-index" in (obj["metadata"].get("labels") or {})


def _controller(obj: Object) -> str:
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return str(owner["name"])
    return ""


class _Normal:
    """One object's normalisation."""

    def __init__(self, names: Iterable[tuple[str, str]], kind: str) -> None:
        self._names = names
        self._unsteady = _UNSTEADY.get(kind, ())

    def value(self, key: str, value: Any) -> Any:
        if key in _CHANCE and value not in ("", "None", ["None"], None):
            return _CHANCE[key]
        if isinstance(value, dict):
            return self._mapping(key, value)
        if isinstance(value, list):
            items = [self.value(key, item) for item in value]
            by = _SETS.get(key)
            if by is not None:
                return sorted(items, key=lambda item: str(item.get(by)))
            # Addresses are chance, and so is their order; that of ports is of a hash.
            return sorted(items, key=json.dumps) if key in ("endpoints", "addresses", "ports") else items
        return self._text(value) if isinstance(value, str) else value

    def _mapping(self, key: str, value: Object) -> Object:
        references = ("ownerReferences", "reservedFor", "targetRef")
        hidden = _METADATA if key == "metadata" else ("uid",) if key in references else ()
        found = {
            self._text(name): self.value(name, item)
            for name, item in sorted(value.items())
            if name not in hidden and name not in self._unsteady
        }
        # An object whose annotations are all left out has none.
        return {name: item for name, item in found.items() if (name, item) != ("annotations", {})}

    def _text(self, text: str) -> str:
        if MOMENT.fullmatch(text):
            return "<time>"
        for name, canonical in self._names:
            text = text.replace(name, canonical)
        return ADDRESS.sub("<ip>", UUID.sub("<uid>", text))
