"""Decisions as requests: every write carries what it was decided on, and an unchanged intent is not sent again."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Bind, Create, Decision, Delete, Patch, Write
from mooring.runtime.store import Store


class Intents:
    """What a key applied last, and how the object looked when it was decided."""

    def __init__(self) -> None:
        self._sent: dict[tuple[Kind[Any], Key], tuple[Object, Any]] = {}

    def is_new(self, write: Apply, current: Any) -> bool:
        return self._sent.get((write.kind, write.key)) != (write.object, _within_reach(current))

    def record(self, write: Apply, current: Any) -> None:
        self._sent[write.kind, write.key] = (write.object, _within_reach(current))


def _within_reach(current: Any) -> Any:
    """What an apply could change of an object: all but its status, which changes with every pod."""
    if current is None:
        return None
    return tuple(getattr(current, name) for name in current.__struct_fields__ if name != "status")


def requests_for(
    controller: Controller,
    decision: Decision,
    stores: Mapping[Kind[Any], Store[Any]],
    intents: Intents,
    defined: Container[Kind[Any]] = (),
) -> list[list[Request]]:
    """The requests of a decision, stage by stage. `defined` are kinds that may be written beside the declared ones."""
    stages = []
    for stage in decision.stages:
        requests = []
        written = set()
        for write in stage:
            if write.kind not in controller.writes and write.kind not in defined:
                raise MooringError(f"{controller.name} writes {write.kind}, which it does not declare")
            if (target := (write.kind, write.key)) in written:
                # They run together, so one would be decided on what the other changes.
                raise MooringError(
                    f"{controller.name} writes {write.kind} {write.key} twice in one stage; "
                    "make it one write, or put the second one into a later stage"
                )
            written.add(target)
            if isinstance(write, Apply):
                current = stores[write.kind].get(write.key) if write.kind in stores else None
                if current is not None and not intents.is_new(write, current):
                    continue
                intents.record(write, current)
            requests.append(_request(controller, write, stores))
        stages.append(requests)
    return stages


def _request(controller: Controller, write: Write, stores: Mapping[Kind[Any], Store[Any]]) -> Request:
    kind, key = write.kind, write.key
    store = stores.get(kind)
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
                "patch", kind.api_version, kind.kind, *key, body, subresource, manager, resource_version=version
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
            )
        case Bind(node=node):
            body = {"target": {"apiVersion": "v1", "kind": "Node", "name": node}}
            return Request("bind", kind.api_version, kind.kind, *key, body=body, manager=manager, uid=uid)


def _typed(kind: Kind[Any], obj: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
