"""Every set of up to three simple changes, tried one after another on copies of the objects.

This is the measure of the search for sets, and shares nothing with it: changes are made to plain objects, and the
engine is asked about each result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import combinations
from typing import Any, NamedTuple

import msgspec

from mooring.api.core.types import Node, Pod
from mooring.kube.objects import Object
from mooring.placement.engine import Engine
from mooring.placement.requests import build

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
# Labels that say what a machine is or where it stands are no matter of taste.
FACTS = ("kubernetes.io/", "topology.kubernetes.io/")


class Change(NamedTuple):
    """One change of the pod, or of the node of this index. Changes of one `place` exclude each other.

    After the nodes come those of pools, which are there once they are changed.
    """

    words: str
    place: tuple[Any, ...]
    make: Callable[[Any], None]
    node: int | None = None


class BruteForce:
    """One request, and the question whether its pod has a place once some changes are made."""

    def __init__(self, request: Object) -> None:
        self._request = request
        self._cluster = build(request)
        self._engine = Engine(self._cluster)

    def smallest_set(self, most: int = 3) -> tuple[Change, ...] | None:
        """As few changes as let the pod in: none where it has a place, None where `most` are not enough."""
        known = list(changes(self._request))
        for count in range(most + 1):
            for chosen in combinations(known, count):
                if len({change.place for change in chosen}) == count and self._lands(chosen):
                    return chosen
        return None

    def _lands(self, chosen: tuple[Change, ...]) -> bool:
        before = [*self._request["nodes"], *(self._request.get("pools") or ())]
        objects: dict[int | None, Object] = {None: self._request["pod"], **dict(enumerate(before))}
        for change in chosen:
            objects[change.node] = deepcopy(objects[change.node])
            change.make(objects[change.node])
        nodes = [objects[index] for index, old in enumerate(before) if objects[index] is not old]
        with self._cluster.pretending([msgspec.convert(node, Node) for node in nodes]):
            pod = self._cluster.compiler.compile(msgspec.convert(objects[None], Pod))
            return bool(self._engine.fits(pod).any())


def changes(request: Object) -> Iterator[Change]:
    yield from _tolerations(request)
    yield from _selectors(request)
    yield from _expressions(request)
    yield from _terms(request)
    yield from _amounts(request)
    for index, node in enumerate(request["nodes"]):
        yield from _of_node(request, index, node)
    for number, node in enumerate(request.get("pools") or ()):
        words = f"raise the pool of {node['metadata']['name']}"
        yield Change(words, ("pool",), lambda node: None, len(request["nodes"]) + number)


def _tolerations(request: Object) -> Iterator[Change]:
    nodes = [*request["nodes"], *(request.get("pools") or ())]
    taints = [t for n in nodes for t in n["spec"].get("taints") or [] if not _is_condition(t)]
    for taint in {json.dumps(t, sort_keys=True): t for t in taints}.values():
        added = {"key": taint["key"], "effect": taint["effect"], "operator": "Exists"}

        def make(pod: Object, added: Object = added) -> None:
            spec = pod["spec"]
            spec["tolerations"] = [*(spec.get("tolerations") or []), added]

        yield Change(f"tolerate {taint['key']}:{taint['effect']}", ("tolerate", taint["key"], taint["effect"]), make)


def _is_condition(taint: Object) -> bool:
    return str(taint["key"]).startswith("node.kubernetes.io/")


def _selectors(request: Object) -> Iterator[Change]:
    for key in request["pod"]["spec"].get("nodeSelector") or {}:

        def drop(pod: Object, key: str = key) -> None:
            del pod["spec"]["nodeSelector"][key]

        yield Change(f"drop selector {key}", ("selector", key), drop)


def _required(spec: Object) -> Object:
    found: Object = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    return found


def _expressions(request: Object) -> Iterator[Change]:
    for i, term in enumerate(_required(request["pod"]["spec"]).get("nodeSelectorTerms") or ()):
        for body in term.get("matchExpressions") or ():

            def drop(pod: Object, i: int = i, body: Object = body) -> None:
                spec = pod["spec"]
                listed = _required(spec)["nodeSelectorTerms"][i]["matchExpressions"]
                listed.remove(body)
                if not listed:
                    del spec["affinity"]["nodeAffinity"][REQUIRED]

            yield Change(f"drop {body} of term {i}", ("expression", i, json.dumps(body)), drop)


def _terms(request: Object) -> Iterator[Change]:
    spec = request["pod"]["spec"]
    for field in ("podAffinity", "podAntiAffinity"):
        for term in ((spec.get("affinity") or {}).get(field) or {}).get(REQUIRED) or ():

            def drop(pod: Object, field: str = field, term: Object = term) -> None:
                pod["spec"]["affinity"][field][REQUIRED].remove(term)

            yield Change(f"drop a term of {field}", (field, json.dumps(term)), drop)
    for constraint in spec.get("topologySpreadConstraints") or ():

        def soften(pod: Object, constraint: Object = constraint) -> None:
            pod["spec"]["topologySpreadConstraints"].remove(constraint)

        yield Change("drop a spread constraint", ("spread", json.dumps(constraint)), soften)


def _amounts(request: Object) -> Iterator[Change]:
    for i, container in enumerate(request["pod"]["spec"]["containers"]):
        for name in (container.get("resources") or {}).get("requests") or {}:

            def lower(pod: Object, i: int = i, name: str = name) -> None:
                resources = pod["spec"]["containers"][i]["resources"]
                for amounts in (resources["requests"], resources.get("limits") or {}):
                    if name in amounts:
                        amounts[name] = "1m" if name == "cpu" else "1"

            yield Change(f"ask for less {name}", ("lower", i, name), lower)
        for port in container.get("ports") or ():
            if port.get("hostPort"):

                def free(pod: Object, i: int = i, port: Object = port) -> None:
                    pod["spec"]["containers"][i]["ports"].remove(port)

                yield Change("drop a host port", ("port", i, port["hostPort"]), free)


def _of_node(request: Object, index: int, node: Object) -> Iterator[Change]:
    name, taints = node["metadata"]["name"], node["spec"].get("taints") or []
    if node["spec"].get("unschedulable"):

        def uncordon(node: Object) -> None:
            spec = node["spec"]
            spec["unschedulable"] = False
            spec["taints"] = [t for t in spec.get("taints") or [] if t["key"] != UNSCHEDULABLE]

        yield Change(f"uncordon {name}", ("cordon", index), uncordon, index)
    for taint in taints:
        if not _is_condition(taint):

            def untaint(node: Object, taint: Object = taint) -> None:
                node["spec"]["taints"].remove(taint)

            yield Change(f"untaint {name} {taint['key']}", ("taint", index, json.dumps(taint)), untaint, index)
    for key, value in _wanted(request["pod"]["spec"]):
        if not key.startswith(FACTS) and (node["metadata"].get("labels") or {}).get(key) != value:

            def label(node: Object, key: str = key, value: str = value) -> None:
                node["metadata"].setdefault("labels", {})[key] = value

            yield Change(f"label {name} {key}={value}", ("label", index, key), label, index)


def _wanted(spec: Object) -> list[tuple[str, str]]:
    found = list((spec.get("nodeSelector") or {}).items())
    for term in _required(spec).get("nodeSelectorTerms") or ():
        for body in term.get("matchExpressions") or ():
            if body["operator"] == "In":
                found += [(body["key"], value) for value in body["values"]]
    return found
