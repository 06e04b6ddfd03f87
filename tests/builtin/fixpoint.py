"""A world in which decisions are carried out at once and pods start as soon as they exist, to see where things end.

`same_end_after_any_crash` is the law of DESIGN rule 3: stop after any prefix of any decision, run again, end the same.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.kube.patches.merge import merge_patch
from mooring.kube.times import timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch, Write
from mooring.testing.views import BUILTIN, NOON, view_of
from mooring.workloads.incarnations import without_record

Name = tuple[str, str, str]
Kubelet = Callable[[Object], bool]
VERSIONS = {kind.kind: kind.api_version for kind in BUILTIN}
STEPS = 400
# Owners whose pods have names that upstream draws at random.
_INTERCHANGEABLE = ("ReplicaSet", "ReplicationController", "DaemonSet")


def starts(pod: Object) -> bool:
    return True


def never_starts(pod: Object) -> bool:
    return False


class World:
    def __init__(
        self,
        controllers: Iterable[Controller],
        objects: Iterable[Object],
        kubelet: Kubelet = starts,
        now: datetime = NOON,
        graceful: bool = True,
    ) -> None:
        self.controllers = tuple(controllers)
        self.kubelet = kubelet
        self.now = now
        self.graceful = graceful
        self.version = 0
        self.objects: dict[Name, Object] = {}
        self.events: list[str] = []
        self.most: dict[str, int] = {}
        self.timers: set[datetime] = set()
        for obj in objects:
            self.add(copy.deepcopy(obj))

    def add(self, obj: Object) -> None:
        meta = obj["metadata"]
        name = (obj["kind"], meta.get("namespace", ""), meta["name"])
        assert name not in self.objects, f"{name} exists already"
        obj.setdefault("apiVersion", VERSIONS[obj["kind"]])
        meta.setdefault("uid", f"{'/'.join(name)}#{self.version}")
        meta.setdefault("creationTimestamp", timestamp(self.now))
        meta.setdefault("generation", 1)
        if obj["kind"] == "Pod":
            obj.setdefault("status", {"phase": "Pending"})
        self._store(name, obj)

    def _store(self, name: Name, obj: Object) -> None:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        self.objects[name] = obj

    def edit(self, kind: str, name: str, patch: Object, namespace: str = "default") -> None:
        """As a person would, with kubectl."""
        self._patch((kind, namespace, name), patch)

    def _patch(self, name: Name, patch: Object) -> None:
        old = self.objects[name]
        new = copy.deepcopy(merge_patch(old, patch))
        if new == old:
            return
        if new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] += 1
        self._store(name, new)

    def apply(self, write: Write) -> None:
        name = (write.kind.kind, *write.key)
        match write:
            case Create(object=obj):
                self.add(copy.deepcopy({"kind": write.kind.kind, **obj}))
            case Patch(body=body, subresource=subresource):
                assert not subresource or set(body) <= {subresource, "metadata"}
                assert subresource or "status" not in body
                self._patch(name, body)
            case Delete():
                self.remove(*name)
            case _:
                raise AssertionError(f"{write} is not known here")

    def remove(self, kind: str, namespace: str, name: str) -> None:
        obj = self.objects.get((kind, namespace, name))
        if obj is None:
            return
        if kind == "Pod" and self.graceful and "deletionTimestamp" not in obj["metadata"]:
            obj["metadata"]["deletionTimestamp"] = timestamp(self.now)
            self._store((kind, namespace, name), obj)
            return
        self._erase((kind, namespace, name))

    def _erase(self, name: Name) -> None:
        del self.objects[name]
        self.version += 1

    # Running

    def decisions(self) -> Iterator[tuple[Key, Decision]]:
        """What each key decides, each on what the ones before have done."""
        for controller in self.controllers:
            assert controller.of is not None
            names = sorted(name for name in self.objects if name[0] == controller.of.kind)
            for name in names:
                if name not in self.objects:
                    continue
                key = Key(*name[1:])
                view = view_of(self.objects.values(), self.now, folds=controller.folds)
                decision = controller.reconcile(key, view, self.now)
                fresh = view_of(self.objects.values(), self.now, folds=controller.folds)
                again = controller.reconcile(key, fresh, self.now)
                assert again.stages == decision.stages, "the same view gives the same decision"
                self.timers |= view.timers
                yield key, decision

    def run(self, crash: int = -1) -> int:
        """To the end; the write with number `crash` and the rest of its decision are lost. Returns the writes made."""
        made = 0
        for _ in range(STEPS):
            self.timers = set()
            before, lost = self.version, made
            for key, decision in self.decisions():
                writes = [write for stage in decision.stages for write in stage]
                judge(key, writes)
                for write in writes:
                    made += 1
                    if made == crash:
                        break
                    self.apply(write)
                self.events += [f"{event.reason}: {event.message}" for event in decision.events]
            self._kubelet()
            self._garbage()
            for kind in {name[0] for name in self.objects}:
                self.most[kind] = max(self.most.get(kind, 0), len(self.of(kind)))
            if self.version == before and not lost < crash <= made:
                if not self.timers:
                    return made
                self.now = min(self.timers)
        raise AssertionError(f"nothing settles within {STEPS} rounds")

    def _kubelet(self) -> None:
        for name, pod in list(self.objects.items()):
            if name[0] != "Pod":
                continue
            if "deletionTimestamp" in pod["metadata"]:
                self._erase(name)
            elif pod["status"].get("phase") == "Pending" and self.kubelet(pod):
                ready = {"type": "Ready", "status": "True", "lastTransitionTime": timestamp(self.now)}
                pod["status"] = {"phase": "Running", "conditions": [ready]}
                self._store(name, pod)

    def _garbage(self) -> None:
        alive = {obj["metadata"]["uid"] for obj in self.objects.values()}
        for name, obj in list(self.objects.items()):
            owners = obj["metadata"].get("ownerReferences")
            if owners and not any(owner["uid"] in alive for owner in owners):
                self._erase(name)

    # Reading

    def of(self, kind: str) -> list[Object]:
        return [obj for name, obj in sorted(self.objects.items()) if name[0] == kind]

    def names(self, kind: str) -> list[str]:
        return [obj["metadata"]["name"] for obj in self.of(kind)]

    def get(self, kind: str, name: str, namespace: str = "default") -> Object:
        return self.objects[kind, namespace, name]

    def end(self) -> list[str]:
        """Everything that matters, without what tells one run from another."""
        return sorted(json.dumps(_essence(obj), sort_keys=True) for obj in self.objects.values())


def _essence(obj: Object) -> Object:
    obj = copy.deepcopy(obj)
    meta = obj["metadata"]
    for field in ("uid", "resourceVersion", "generation", "creationTimestamp"):
        meta.pop(field, None)
    for owner in meta.get("ownerReferences", ()):
        owner.pop("uid")
        if owner["kind"] in _INTERCHANGEABLE:
            # Pods of one owner are as good as each other, whatever their names.
            meta["name"] = "any"
    if obj["kind"] in _INTERCHANGEABLE:
        # For the same reason it does not matter how many names were spent.
        without = without_record(meta.pop("annotations", {}))
        meta.update({"annotations": without} if without else {})
    status = obj.get("status", {})
    status.pop("observedGeneration", None)
    for condition in status.get("conditions", ()):
        condition.pop("lastTransitionTime", None)
        condition.pop("lastUpdateTime", None)
    return obj


def judge(key: Key, writes: list[Write]) -> None:
    """No write stands on a basis that another write of the same decision has taken away."""
    touched = [(write.kind.kind, write.key) for write in writes]
    assert len(touched) == len(set(touched)), f"{key} writes one object twice: {touched}"
    assert all(w.object["metadata"]["name"] for w in writes if isinstance(w, Create))


def same_end_after_any_crash(make: Callable[[], World]) -> World:
    """Run to the end, then once for every write with a crash before it. Returns the undisturbed world."""
    calm = make()
    made = calm.run()
    for crash in range(1, made + 1):
        world = make()
        world.run(crash)
        assert world.end() == calm.end(), f"a crash before write {crash} ends elsewhere"
    return calm
