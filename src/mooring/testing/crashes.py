"""The crash kit: a run that is cut off between any two writes and started again must end where an undisturbed one does.

It carries out every prefix of every decision of a whole run, which is what rule 3 of the runtime asks of controllers.
In the undisturbed run every decision is made twice (`mooring.testing.decisions`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from mooring.client.transport import EVERYTHING, Listed, Request, Scope, Stream, Transport
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.dispatcher.dispatcher import Decider, decide
from mooring.runtime.drivers.faults import Crash
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.testing.decisions import DecidingTwice
from mooring.workloads.incarnations import RECORD

# What differs between two runs without meaning anything.
_INCIDENTAL = (
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "deletionTimestamp",
    # When a Machine's phase changed.
    "lastUpdated",
)


class _CrashAt:
    """Dies once: before the write of this number, or right after it."""

    def __init__(self, inner: Transport, number: int, managers: frozenset[str], *, after: bool) -> None:
        self._inner, self._number, self._after = inner, number, after
        self._managers = managers
        self.writes = 0

    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object:
        return self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed:
        return self._inner.list(api_version, kind, scope)

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> Stream:
        return self._inner.watch(api_version, kind, resource_version, scope)

    def write(self, request: Request) -> Object:
        # A deletion does not say whose it is.
        if self._managers and request.manager not in self._managers and request.verb != "delete":
            return self._inner.write(request)
        self.writes += 1
        strikes = self.writes - 1 == self._number
        if strikes and not self._after:
            raise Crash
        result = self._inner.write(request)
        if strikes:
            raise Crash
        return result


def survives_every_crash(
    controllers: Iterable[Controller],
    populate: Callable[[Simulation], None],
    before: Iterable[Object] = (),
    of: Iterable[Controller] = (),
    configuration: Configuration = DEFAULTS,
    logs: Iterable[str] = (),
) -> int:
    """Runs once in peace and once for every place to die; gives the number of places. Fails where an end differs.

    `before` is there before anybody looks, such as definitions and what they define. With `of`, only writes of these
    controllers and deletions are places to die. `logs` are objects, as in `ConfigMap NAMESPACE/NAME`, that tell what
    happened, crashes included, and so differ.
    """
    running, first = tuple(controllers), tuple(before)
    managers = frozenset(f"mooring-{controller.name}" for controller in of)
    left_out = frozenset(logs)
    found, places = _end(running, populate, first, managers, -1, configuration, DecidingTwice(), after=False)
    peaceful = {name: obj for name, obj in found.items() if name not in left_out}
    for number in range(places):
        for after in (False, True):
            found, _ = _end(running, populate, first, managers, number, configuration, after=after)
            end = {name: obj for name, obj in found.items() if name not in left_out}
            moment = "after" if after else "before"
            assert end == peaceful, f"a crash {moment} write {number} ends elsewhere:\n{_difference(peaceful, end)}"
    return places


def _end(
    controllers: tuple[Controller, ...],
    populate: Callable[[Simulation], None],
    before: tuple[Object, ...],
    managers: frozenset[str],
    number: int,
    configuration: Configuration,
    decider: Decider = decide,
    *,
    after: bool,
) -> tuple[dict[str, Any], int]:
    registry = Registry(now=START, seed=0)
    for obj in before:
        registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=START)
    simulation = Simulation(controllers, registry=registry, decider=decider, configuration=configuration)
    fragile = _CrashAt(simulation.transport, number, managers, after=after)
    simulation.transport = fragile
    populate(simulation)
    simulation.run()
    return observed_state(simulation), fragile.writes


def observed_state(simulation: Simulation) -> dict[str, Any]:
    """Every object of the kinds in play, without what differs from run to run."""
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    random_names: list[Object] = []
    kinds = {(k.api_version, k.kind) for c in simulation.controllers for k in (*c.kinds, *c.writes)}
    served = {(each.api_version, each.kind) for each in simulation.registry.resources}
    for api_version, kind in sorted(kinds & served - {("v1", "Event")}):
        for obj in simulation.registry.list(simulation.registry.resource(api_version, kind)).items:
            meta = obj["metadata"]
            name = f"{kind} {meta.get('namespace', '')}/{meta['name']}"
            given[meta["uid"]] = f"uid of {name}"
            found[name] = obj
            if _has_random_name(meta):
                random_names.append(obj)
    for number, obj in enumerate(sorted(random_names, key=_sort_key)):
        # Which name a pod gets, and with it its address, depends on what a restarted controller knew of earlier ones.
        name = f"{obj['metadata']['generateName']}<{number}>"
        given[obj["metadata"]["name"]] = name
        if address := obj.get("status", {}).get("podIP"):
            given[address] = f"address of {name}"
    text = json.dumps({name: _essence(obj) for name, obj in found.items()}, sort_keys=True)
    # One address may begin another one: the longer first.
    for identity in sorted(given, key=len, reverse=True):
        text = text.replace(identity, given[identity])
    essence: dict[str, Any] = json.loads(text)
    return essence


def _has_random_name(meta: Object) -> bool:
    """Whether the name of a pod, or of another child, has a suffix that upstream draws at random."""
    owners = [owner["kind"] for owner in meta.get("ownerReferences", ()) if owner.get("controller")]
    return bool(meta.get("generateName")) and owners != ["StatefulSet"]


def _sort_key(obj: Object) -> tuple[str, str, str]:
    """By prefix and by where it is."""
    spec = obj.get("spec", {})
    return obj["metadata"]["generateName"], spec.get("nodeName", spec.get("providerID", "")), obj["metadata"]["name"]


def _essence(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _essence(item) for key, item in value.items() if not _is_incidental(key)}
    if not isinstance(value, list):
        return value
    items = [_essence(item) for item in value]
    # Conditions are a map by their types: which one came first means nothing.
    is_conditions = all(isinstance(item, dict) and {"type", "status"} <= item.keys() for item in items)
    return sorted(items, key=lambda item: str(item["type"])) if is_conditions else items


def _is_incidental(key: str) -> bool:
    return key in _INCIDENTAL or key == RECORD or "Time" in key or key.endswith("At")


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    lines = [f"- only in peace: {name}" for name in one.keys() - other.keys()]
    lines += [f"- only after the crash: {name}" for name in other.keys() - one.keys()]
    lines += [f"- {n}: {one[n]} became {other[n]}" for n in one.keys() & other.keys() if one[n] != other[n]]
    return "\n".join(lines[:5])
