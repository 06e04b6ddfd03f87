"""Decisions as requests: every write carries what it was decided on, and an unchanged intent is not sent again."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

from mooring.api.kinds import Key, Kind
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, ApplyStatus, Bind, Create, Decision, Delete, Evict, Patch, Scale, Write
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.rights import check_rights

# Where an object of a kind was seen, if it was.
StoreOf = Callable[[Kind[Any], Key], Store[Any] | None]


class _Status(NamedTuple):
    """A status that was applied: what the object's was then, and the version that the write left."""

    body: Object
    seen: Any
    left: int | None


class Intents:
    """What a key applied last, and how the object looked when it was decided."""

    def __init__(self) -> None:
        self._sent: dict[tuple[Kind[Any], Key], tuple[Object, Any]] = {}
        self._status: dict[tuple[Kind[Any], Key], _Status] = {}

    def is_new(self, write: Apply, current: Any) -> bool:
        return self._sent.get((write.kind, write.key)) != (write.object, _within_reach(current))

    def record(self, write: Apply, current: Any) -> None:
        self._sent[write.kind, write.key] = (write.object, _within_reach(current))

    def is_new_status(self, write: ApplyStatus, current: Any, version: int | None) -> bool:
        """Whether a status says something new, or the object's is not what it was when the same was said before."""
        status = getattr(current, "status", None)
        said = self._status.get((write.kind, write.key))
        if said is None or said.body != write.status:
            self._status[write.kind, write.key] = _Status(write.status, status, None)
            return True
        if version is not None and said.left == version:
            # The object has not changed since.
            self._status[write.kind, write.key] = said._replace(seen=status)
            return False
        if said.seen == status:
            return False
        self._status[write.kind, write.key] = _Status(write.status, status, None)
        return True

    def left(self, versions: Mapping[tuple[Kind[Any], Key], int]) -> None:
        """The versions that the writes of a decision left."""
        for target, said in self._status.items():
            if target in versions:
                self._status[target] = said._replace(left=versions[target])


def _within_reach(current: Any) -> Any:
    """What an apply could change of an object: all but its status, which changes with every pod."""
    if current is None:
        return None
    return tuple(getattr(current, name) for name in current.__struct_fields__ if name != "status")


def requests_for(
    controller: Controller,
    decision: Decision,
    store_of: StoreOf,
    intents: Intents,
    defined: Container[Kind[Any]] = (),
) -> list[list[Request]]:
    """The requests of a decision, stage by stage. `defined` are kinds that may be written beside the declared ones."""
    stages = []
    for stage in decision.stages:
        if not stage:
            continue
        requests = []
        written = set()
        for write in stage:
            key = write.key
            store = store_of(write.kind, key)
            check_rights(controller, write, defined, store)
            if (target := (write.kind, key)) in written:
                # They run together, so one would be decided on what the other changes.
                raise MooringError(
                    f"{controller.name} writes {write.kind} {key} twice in one stage; "
                    "make it one write, or put the second one into a later stage"
                )
            written.add(target)
            if isinstance(write, Apply):
                current = None if store is None else store.get(key)
                if current is not None and not intents.is_new(write, current):
                    continue
                intents.record(write, current)
            elif isinstance(write, ApplyStatus):
                seen = (None, None) if store is None else (store.get(key), store.version(key))
                if not intents.is_new_status(write, *seen):
                    continue
            requests.append(_request(controller, write, key, store))
        stages.append(requests)
    return stages


def _request(controller: Controller, write: Write, key: Key, store: Store[Any] | None) -> Request:
    kind = write.kind
    seen = None if store is None else store.get(key)
    known = None if store is None else store.version(key)
    version = None if known is None else str(known)
    uid = None if seen is None else seen.metadata.uid
    manager = f"mooring-{controller.name}"
    match write:
        case Create(object=obj):
            if not obj["metadata"].get("name"):
                raise MooringError(
                    f"{controller.name} creates a {kind} by generateName; a name must follow from its owner"
                )
            return Request("create", kind.api_version, kind.kind, *key, body=_typed(kind, obj), manager=manager)
        case Apply(object=obj):
            body = _typed(kind, obj)
            return Request("apply", kind.api_version, kind.kind, *key, body=body, manager=manager, uid=uid)
        case Patch(body=body, subresource=subresource):
            return Request(
                "patch",
                kind.api_version,
                kind.kind,
                *key,
                body,
                subresource,
                manager,
                resource_version=version,
                metadata_only=kind.metadata_only,
            )
        case Delete(propagation=propagation, grace=grace):
            return Request(
                "delete",
                kind.api_version,
                kind.kind,
                *key,
                body={},
                uid=uid,
                resource_version=version,
                propagation=propagation,
                grace=grace,
                metadata_only=kind.metadata_only,
            )
        case ApplyStatus(status=status):
            metadata = {"name": key.name, "namespace": key.namespace} if key.namespace else {"name": key.name}
            body = _typed(kind, {"metadata": metadata, "status": status})
            return Request("apply", kind.api_version, kind.kind, *key, body, "status", manager, uid=uid)
        case Scale(replicas=replicas):
            body = {"spec": {"replicas": replicas}}
            return Request("patch", kind.api_version, kind.kind, *key, body, "scale", manager, resource_version=version)
        case Evict(grace=grace):
            return Request("evict", kind.api_version, kind.kind, *key, {}, uid=uid, grace=grace)
        case Bind(node=node):
            body = {"target": {"apiVersion": "v1", "kind": "Node", "name": node}}
            return Request("bind", kind.api_version, kind.kind, *key, body=body, manager=manager, uid=uid)


def _typed(kind: Kind[Any], obj: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
