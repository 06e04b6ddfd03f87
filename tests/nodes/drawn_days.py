"""Days of simulated nodes drawn from a seed: pods of all kinds come, change and go, nodes get lost, Stages take part.

No scheduler and no other controller is there, so what is recorded is what nodes and their volumes do: after each thing
that happens and some virtual time, what changed of nodes, Leases, pods and volumes, and the events that came.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.manifests import read_manifests
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.nodes.stages.controller import CONTROLLER as STAGES
from mooring.nodes.stages.crd import stage_definition
from mooring.nodes.storage.names import LOCAL, SIMULATED
from mooring.testing import node, pod
from mooring.testing.controllers import PROVISIONERS
from tests.builtin.town import Town
from tests.support.recordings import Draw

EXAMPLES = Path(__file__).parents[2] / "examples" / "stages"
STEPS = 16
_KINDS = ("Node", "Lease", "Pod", "PersistentVolume", "PersistentVolumeClaim", "Event")
# What of an object is its node's doing; names and times of others would only be in the way.
_SHOWN = {"Node": ("status",), "Lease": ("spec",), "Pod": ("status",), "PersistentVolume": ("metadata", "spec")}
# By what they name, as a resize may change amounts and not more.
_AMOUNTS: tuple[tuple[Object, ...], ...] = (
    tuple(
        {"requests": {"cpu": cpu, "memory": memory}} for cpu in ("1", "3", "99") for memory in ("1Gi", "64Mi", "6Gi")
    ),
    tuple(
        {"requests": {"cpu": cpu}, "limits": {"cpu": "4", "memory": most}}
        for cpu in ("1", "4")
        for most in ("1Gi", "2Gi")
    ),
    tuple({"requests": {"cpu": cpu}} for cpu in ("1", "2", "5")),
)
_STAGES = (
    "",
    "",
    "",
    "crash-loop",
    "failing-readiness",
    "image-pull-back-off",
    "node-loss",
    "slow-image-pull",
    "slow-start",
)


class DrawnDay:
    """A few nodes, and what happens on them."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.stage = draw.one(_STAGES)
        stages = [each.value for each in read_manifests(EXAMPLES / f"{self.stage}.yaml")] if self.stage else []
        nodes = simulated_nodes(every_node=True) if draw.chance(0.7) else simulated_nodes()
        before = [stage_definition(), *stages]
        self.town = Town(controllers=(nodes, STAGES, *PROVISIONERS), seed=draw.below(1000), before=before)
        self.count = 0
        self._seen: dict[str, Any] = {}

    def rows(self) -> Iterator[Any]:
        for name in ("a", "b"):
            yield self._row(f"node {name}", self._node, name)
        for _ in range(STEPS):
            yield self._row(*self._act())

    def _row(self, what: str, act: Any, *arguments: Any) -> Any:
        try:
            act(*arguments)
            told = what
        except MooringError as error:
            told = f"{what}: {type(error).__name__}"
        self.town.run(self.draw.one((0.2, 0.9, 1.5, 3, 3, 6, 15, 45, 130)))
        now = self._shown()
        changed = {name: value for name, value in now.items() if self._seen.get(name) != value}
        changed |= dict.fromkeys(self._seen.keys() - now.keys())
        self._seen = now
        return [self.town.elapsed(), told, dict(sorted(changed.items()))]

    def _shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for kind in _KINDS:
            for obj in self.town.all(kind):
                metadata = obj["metadata"]
                if kind == "Event":
                    about = obj["involvedObject"]
                    told = [obj.get("type"), obj.get("count"), obj.get("source"), obj.get("reportingComponent")]
                    shown[f"{about['kind']} {about['name']} {obj['reason']}: {obj['message']}"] = told
                elif kind == "PersistentVolumeClaim":
                    shown[f"{kind} {metadata['name']}"] = [metadata.get("annotations"), obj["status"]]
                elif kind == "PersistentVolume":
                    kept = {each: metadata.get(each) for each in ("annotations", "finalizers", "deletionTimestamp")}
                    # Numbers of versions say how often others have written.
                    spec = {**obj["spec"], "claimRef": obj["spec"].get("claimRef", {}).get("name")}
                    shown[f"{kind} {metadata['name']}"] = [kept, spec]
                else:
                    shown[f"{kind} {metadata['name']}"] = [obj.get(each) for each in _SHOWN[kind]]
        return shown

    # What happens

    def _act(self) -> Any:
        draw, name = self.draw, self.draw.one(([*self.town.pods()] or ["none"])[-4:])
        match draw.below(19):
            case 0 | 1 | 2 | 3 | 4:
                return "pods", self._pods, draw.one((1, 1, 3))
            case 5 | 6 | 16 | 17 | 18 if running := [n for n, each in self.town.pods().items() if _runs(each)]:
                return "resize", self._resize, *draw.one((running[-1:], running[:1], running[-4:]))
            case 7:
                return f"delete {name}", self._delete, name
            case 8:
                return f"debug {name}", self._debug, name
            case 9:
                lost = draw.one(("true", None))
                return f"lost {lost}", self._annotate, "Node", draw.one(("a", "b")), {"mooring.dev/lost": lost}
            case 10:
                return "unready", self._unready, name
            case 11 | 12:
                return "claim", self._claim
            case 13 if self.town.all("PersistentVolume"):
                return "grown or released", self._volume
            case 14:
                finalizers = draw.one((None, ["example.com/kept"]))
                return f"finalizers {name}", self.town.patch, "Pod", name, {"metadata": {"finalizers": finalizers}}
        return "node status", self._condition

    def _node(self, name: str) -> None:
        draw = self.draw
        made = node(name, cpu="8", memory="8Gi")
        notes = {"kwok.x-k8s.io/node": draw.one(("fake", "fake", "real")), "stage": self.stage}
        notes |= {"mooring.dev/quiet": "true"} if draw.chance(0.25) else {}
        notes |= {"mooring.dev/local-volumes": "/data/volumes"} if draw.chance(0.3) else {}
        made["metadata"] |= {"annotations": notes}
        made["metadata"]["labels"] |= {"stage": self.stage} if self.stage else {}
        made["spec"] |= {"podCIDR": draw.one(("10.1.0.0/29", "10.2.0.0/24", "10.3.0.0/31"))} if draw.chance(0.7) else {}
        status: Object = made["status"]
        amounts = status.get("allocatable")
        made["status"] = draw.one(({}, {"capacity": amounts}, {"allocatable": amounts}, status, status))
        made["status"] |= {"addresses": [{"type": "InternalIP", "address": "10.9.9.9"}]} if draw.chance(0.3) else {}
        made["status"] |= {"nodeInfo": {"architecture": "arm64", "kubeletVersion": ""}} if draw.chance(0.3) else {}
        self.town.create(made)

    def _pod(self, name: str) -> None:
        draw = self.draw
        policy = draw.one(("Always", "Always", "Always", "OnFailure", "Never"))
        mains = [self._container(each, is_once=policy == "Never") for each in ("main", "more")[: 1 + draw.chance(0.3)]]
        spec: Object = {"containers": mains, "restartPolicy": policy}
        if draw.chance(0.35):
            init = [self._container(each, is_once=True) for each in ("i", "s")[: 1 + draw.chance(0.5)]]
            init[-1] |= {"restartPolicy": "Always"} if draw.chance(0.6) else {}
            spec["initContainers"] = init
        spec |= {"hostNetwork": True} if draw.chance(0.1) else {}
        spec |= {"activeDeadlineSeconds": draw.one((2, 8, 40))} if draw.chance(0.2) else {}
        spec |= {"terminationGracePeriodSeconds": draw.one((0, 1, 9))} if draw.chance(0.5) else {}
        owner = draw.one((None, "Job/j", "ReplicaSet/r", "ReplicaSet/r"))
        made = pod(name, node=draw.one(("a", "a", "b")), owner=owner, **spec)
        if self.stage:
            made["metadata"]["labels"] = {"stage": self.stage}
        said = {
            "mooring.dev/duration": draw.one(("5s", "1m", "soon")),
            "mooring.dev/exit-code": draw.one(("0", "3", "x")),
        }
        made["metadata"]["annotations"] = {each: said[each] for each in draw.some(tuple(said), 0.4)}
        self.town.create(made)

    def _container(self, name: str, *, is_once: bool) -> Object:
        found: Object = {
            "name": name,
            "image": f"{name}:1",
            "resources": self.draw.one(({}, *(each[0] for each in _AMOUNTS * 2))),
        }
        if self.draw.chance(0.3) and not is_once:
            resource = self.draw.one(("cpu", "memory"))
            found["resizePolicy"] = [{"resourceName": resource, "restartPolicy": "RestartContainer"}]
        return found

    def _pods(self, count: int) -> None:
        for _ in range(count):
            self.count += 1
            self._pod(f"p{self.count}")

    def _resize(self, *names: str) -> None:
        for name in names:
            self._resize_one(name)

    def _resize_one(self, name: str) -> None:
        spec = self._found("Pod", name)["spec"]
        changed = {}
        for place in ("containers", "initContainers"):
            if place == "containers" or spec.get(place, [{}])[-1].get("restartPolicy"):
                alone = place == "initContainers"
                changed[place] = (
                    [*spec[place][:-1], self._resized(spec[place][-1])]
                    if alone
                    else [self._resized(each) for each in spec[place]]
                )
        self.town.patch("Pod", name, {"spec": changed}, "resize")

    def _resized(self, container: Object) -> Object:
        amounts = next((each for each in _AMOUNTS if _names(each[0]) == _names(container["resources"])), ())
        others = [each for each in amounts if each != container["resources"]]
        return {**container, "resources": self.draw.one(others)} if others else container

    def _delete(self, name: str) -> None:
        grace: Any = self.draw.one(({}, {}, {"grace": 0}, {"grace": 4}))
        self.town.delete("Pod", name, **grace)

    def _debug(self, name: str) -> None:
        spec = self._found("Pod", name)["spec"]
        more = {"name": f"d{len(spec.get('ephemeralContainers', ()))}", "image": "tools:1"}
        containers = [*spec.get("ephemeralContainers", ()), more]
        self.town.patch("Pod", name, {"spec": {"ephemeralContainers": containers}}, "ephemeralcontainers")

    def _found(self, kind: str, name: str) -> Object:
        found = self.town.get(kind, name)
        if found is None:
            raise MooringError(f"{kind} {name} is gone")
        return found

    def _annotate(self, kind: str, name: str, notes: Object) -> None:
        self.town.patch(kind, name, {"metadata": {"annotations": notes}})

    def _unready(self, name: str) -> None:
        """As a node lifecycle controller does to the pods of a node that is lost."""
        conditions = [
            {**each, "status": "False"} if each["type"] == "Ready" else each
            for each in self._found("Pod", name)["status"].get("conditions", ())
        ]
        self.town.patch("Pod", name, {"status": {"conditions": conditions}}, "status")

    def _condition(self) -> None:
        name = self.draw.one(("a", "b"))
        kind, value = self.draw.one(("Ready", "DiskPressure")), self.draw.one(("Unknown", "False", "True"))
        found = self._found("Node", name)["status"].get("conditions", ())
        conditions = [{**each, "status": value} if each["type"] == kind else each for each in found]
        self.town.patch("Node", name, {"status": {"conditions": conditions}}, "status")

    # Volumes

    def _claim(self) -> None:
        draw, name = self.draw, f"c{self.draw.below(4)}"
        local = draw.chance(0.6)
        made: Object = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": LOCAL if local else SIMULATED,
            "volumeBindingMode": "WaitForFirstConsumer" if draw.chance(0.8) else "Immediate",
            "reclaimPolicy": draw.one(("Delete", "Retain")),
        }
        made |= {"mountOptions": ["ro"]} if draw.chance(0.3) else {}
        zone = {"key": "topology.kubernetes.io/zone", "values": ["z"]}
        made |= {"allowedTopologies": [{"matchLabelExpressions": [zone]}]} if draw.chance(0.3) else {}
        self.town.create(made)
        spec: Object = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": draw.one(("1Gi", "5Gi"))}},
        }
        spec |= {"storageClassName": name}
        spec |= {"volumeMode": draw.one(("Block", "Filesystem"))} if draw.chance(0.3) else {}
        spec |= {"dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}} if draw.chance(0.1) else {}
        notes = {"volume.kubernetes.io/storage-provisioner": draw.one((made["provisioner"],) * 4 + ("other.io/one",))}
        notes |= {"volume.kubernetes.io/selected-node": draw.one(("a", "b", "gone"))} if draw.chance(0.8) else {}
        metadata = {"name": name, "namespace": "default", "annotations": notes}
        self.town.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})

    def _volume(self) -> None:
        """What the binder would do: a claim is bound and grows, or is gone and its volume released."""
        volumes = self.town.all("PersistentVolume")
        if not volumes:
            raise MooringError("there is no volume")
        volume = self.draw.one(volumes)
        name, claim = volume["metadata"]["name"], volume["spec"]["claimRef"]["name"]
        if self.draw.chance(0.5):
            self.town.patch("PersistentVolume", name, {"status": {"phase": "Released"}}, "status")
            return
        self.town.patch("PersistentVolumeClaim", claim, {"spec": {"volumeName": name}})
        capacity = {"storage": self.draw.one(("512Mi", "1Gi"))}
        status = {"phase": self.draw.one(("Bound", "Bound", "Lost")), "capacity": capacity}
        self.town.patch("PersistentVolumeClaim", claim, {"status": status}, "status")


def _names(resources: Object) -> list[str]:
    return [f"{side} {name}" for side in ("requests", "limits") for name in resources.get(side) or ()]


def _runs(pod: Object) -> bool:
    return bool(
        pod["status"]["phase"] == "Running" and any(_names(each["resources"]) for each in pod["spec"]["containers"])
    )


def days(count: int) -> Iterator[list[Any]]:
    for number in range(count):
        yield list(DrawnDay(Draw(f"day {number}")).rows())
