"""One namespace with one LeaderWorkerSet in it, as told by the second reading."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from mooring.features.groups.api import KIND
from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.features.groups.reading import P, Reading
from tests.features.groups.town import VERSIONS, Town

REVISION_HASH = f"{P}template-revision-hash"
# What a StatefulSet puts on every pod, whoever asked for it.
INCIDENTAL = ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash")
_SERVICE = ("selector", "clusterIP", "publishNotReadyAddresses", "ports")


class Place(Protocol):
    """Where the namespace is."""

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind that are there."""

    def stored(self, obj: Object) -> Object:
        """A StatefulSet as the API would store it."""


class InRegistry(NamedTuple):
    registry: Registry
    now: datetime
    namespace: str = "default"

    def all(self, kind: str) -> list[Object]:
        resource = self.registry.resource(VERSIONS[kind], kind)
        return list(self.registry.list(resource, namespace=self.namespace if resource.namespaced else None).items)

    def stored(self, obj: Object) -> Object:
        resource = self.registry.resource("apps/v1", "StatefulSet")
        return self.registry.create(resource, obj, now=self.now, namespace=self.namespace, dry_run=True)


class Corner:
    def __init__(self, place: Place) -> None:
        self._place = place

    def all(self, kind: str) -> dict[str, Object]:
        return {obj["metadata"]["name"]: obj for obj in self._place.all(kind)}

    def lws(self) -> Object:
        (found,) = self.all(KIND).values()
        return found

    def reading(self) -> Reading:
        """Of the newest revision, with every leader where it is."""
        newest = max(self.revisions().values(), key=lambda each: int(each["revision"]))
        nodes = self.all("Node")
        homes = {name: pod["spec"].get("nodeName") for name, pod in self.all("Pod").items()}
        places = {name: nodes[home]["metadata"]["labels"] for name, home in homes.items() if home}
        return Reading(self.lws(), newest["metadata"]["labels"][REVISION_HASH], places)

    def revisions(self) -> dict[str, Object]:
        """Those of the set; StatefulSets have their own, with the labels of their pods."""
        found = self.all("ControllerRevision").items()
        return {name: each for name, each in found if each["metadata"]["ownerReferences"][0]["kind"] == KIND}

    def stateful_sets(self) -> dict[str, Object]:
        return {name: _essence(obj, owner_of(obj)) for name, obj in self.all("StatefulSet").items()}

    def stored(self, expected: Mapping[str, Object]) -> dict[str, Object]:
        """Expected StatefulSets with what the API fills in."""
        return {name: self._stored(obj) for name, obj in expected.items()}

    def _stored(self, expected: Object) -> Object:
        metadata = {key: expected["metadata"][key] for key in ("labels", "annotations")}
        body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {**metadata, "name": "expected"}}
        return _essence(self._place.stored({**body, "spec": expected["spec"]}), expected["metadata"]["owner"])

    def services(self) -> dict[str, Object]:
        return {
            name: {
                "labels": obj["metadata"]["labels"],
                "owner": owner_of(obj),
                **{key: obj["spec"].get(key) for key in _SERVICE},
            }
            for name, obj in self.all("Service").items()
            if f"{P}name" in obj["metadata"].get("labels", {})
        }

    def pods(self) -> dict[str, Object]:
        return {name: _seen(pod) for name, pod in self.all("Pod").items()}

    def told(self, reason: str) -> list[str]:
        return [event["message"] for event in self.all("Event").values() if event["reason"] == reason]


def corner_of(town: Town) -> Corner:
    return Corner(InRegistry(town.registry, town.simulation.now))


def owner_of(obj: Object) -> tuple[str, str]:
    (owner,) = obj["metadata"]["ownerReferences"]
    assert owner["controller"] is True
    assert owner["blockOwnerDeletion"] is True
    return owner["kind"], owner["name"]


def _essence(obj: Object, owner: tuple[str, str]) -> Object:
    kept = {key: obj["metadata"].get(key, {}) for key in ("labels", "annotations")}
    return {**kept, "owner": owner, "spec": obj["spec"]}


def _seen(pod: Object) -> Object:
    """What of a pod the set decides."""
    metadata, spec = pod["metadata"], pod["spec"]
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    return {
        "labels": {key: value for key, value in metadata["labels"].items() if key not in INCIDENTAL},
        "annotations": metadata["annotations"],
        "subdomain": spec["subdomain"],
        "nodeSelector": spec.get("nodeSelector") or {},
        "tolerations": [each for each in spec.get("tolerations") or () if not _is_usual(each)],
        "affinity": spec.get("affinity") or {},
        "env": {each["name"]: [(one["name"], _said(one)) for one in each["env"]] for each in containers},
    }


def _said(variable: Object) -> str:
    return str(variable.get("value", variable.get("valueFrom")))


def _is_usual(toleration: Mapping[str, Any]) -> bool:
    """Every pod tolerates a node that is away for a while."""
    return toleration.get("tolerationSeconds") == 300
