"""Exclusive placement: two terms that keep a group together in one topology domain and all others out of it."""

from __future__ import annotations

from typing import Final

from mooring.features.groups.api import GROUP_KEY
from mooring.kube.objects import Object

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def with_exclusive_placement(spec: Object, label: str, value: str, topology: str) -> Object:
    """A pod's spec with both terms behind its own; as it is if it has terms for this topology on both sides."""
    affinity = spec.get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    if _speaks_of(near, topology) and _speaks_of(far, topology):
        return spec
    together: list[Object] = [{"key": label, "operator": "In", "values": [value]}]
    apart: list[Object] = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [value]}]
    return {
        **spec,
        "affinity": {
            **affinity,
            "podAffinity": _with_term(near, together, topology),
            "podAntiAffinity": _with_term(far, apart, topology),
        },
    }


def with_group_affinity(spec: Object, key: str, topology: str) -> Object:
    """A pod's spec that ties it to the domain of its group, whose key it knows."""
    affinity = spec.get("affinity") or {}
    together: list[Object] = [{"key": GROUP_KEY, "operator": "In", "values": [key]}]
    near = _with_term(affinity.get("podAffinity") or {}, together, topology)
    return {**spec, "affinity": {**affinity, "podAffinity": near}}


def _speaks_of(side: Object, topology: str) -> bool:
    return any(term.get("topologyKey") == topology for term in side.get(_REQUIRED) or ())


def _with_term(side: Object, expressions: list[Object], topology: str) -> Object:
    term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}
    return {**side, _REQUIRED: [*(side.get(_REQUIRED) or ()), term]}
