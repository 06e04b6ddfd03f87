"""Our answers and upstream's, field by field.

Absent and empty are one thing, lists without an order are sorted, amounts are compared as numbers, and shares within
what upstream's answers round to. The texts of errors are not compared, only that there is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from mooring.kube.quantities import parse_quantity

Fields = dict[str, Any]

ROUNDED = 2e-6


def differences(operation: str, wanted: Any, given: Any) -> dict[str, tuple[Any, Any]]:
    """The fields that differ: what upstream answered, and what we did."""
    shown = [frozenset(step) for step in wanted.get("steps") or ()]
    want, have = _fields(operation, wanted, shown), _fields(operation, given, shown)
    if operation == "scaleUp":
        want = _chosen(wanted, want, have)
    return {name: (value, have.get(name)) for name, value in want.items() if not _same(have.get(name), value)}


def _fields(operation: str, answer: Any, shown: list[frozenset[str]]) -> Fields:
    return _scale_down(answer, shown) if operation == "scaleDown" else _FIELDS[operation](answer)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and abs(one - other) <= ROUNDED
    return bool(one == other)


def _sorted(values: Any) -> list[Any]:
    return sorted(values or ())


def _scale_up(answer: Any) -> Fields:
    left = {each["pod"]: each for each in answer.get("unschedulable") or ()}
    options = answer.get("options") or ()
    return {
        "result": answer.get("result"),
        "failed": bool(answer.get("error")),
        "podGroups": sorted(map(sorted, answer.get("podGroups") or ())),
        "options": sorted((each["group"], each["nodes"]) for each in options),
        "optionPods": sorted((each["group"], sorted(each["pods"])) for each in options),
        "similar": sorted((each["group"], _sorted(each.get("similar"))) for each in options),
        "plan": sorted((each["group"], each["from"], each["to"], each["max"]) for each in answer.get("plan") or ()),
        "unschedulable": sorted(left),
        "rejected": {
            pod: {group: sorted(reasons) for group, reasons in (each.get("rejected") or {}).items()}
            for pod, each in left.items()
        },
        "messages": {pod: _sorted(each.get("message")) for pod, each in left.items()},
        "skipped": {group: sorted(reasons) for group, reasons in (answer.get("skipped") or {}).items()},
        **{name: _sorted(answer.get(name)) for name in ("considered", "best", "triggered", "awaiting")},
    }


def _chosen(wanted: Any, fields: Fields, have: Fields) -> Fields:
    """Upstream decides a tie by chance: what it would have done with the group that was chosen here."""
    for other in wanted.get("alternatives") or ():
        branch = _scale_up({**wanted, **other})
        if all(have.get(name) == branch[name] for name in ("plan", "triggered", "awaiting")):
            return branch
    return fields


_STEP: dict[str, Callable[[Any], Any]] = {
    "candidates": list,
    "utilization": lambda value: value or {},
    "unneeded": _sorted,
    "unremovable": lambda value: sorted(
        (each["node"], each["reason"], each.get("pod") or "", each.get("blocking") or "") for each in value or ()
    ),
    "held": lambda value: sorted((each["node"], each["reason"]) for each in value or ()),
    "empty": _sorted,
    "drain": _sorted,
    "deleteCounts": lambda value: value or {},
    "startCounts": lambda value: value or {},
}


def _scale_down(answer: Any, shown: list[frozenset[str]]) -> Fields:
    """What upstream left out of a step is a matter of chance there."""
    steps = answer.get("steps") or ()
    found: Fields = {"failed": bool(answer.get("error"))}
    for name, read in _STEP.items():
        found[name] = [
            read(step.get(name) or []) if name in seen else None for step, seen in zip(steps, shown, strict=True)
        ]
    return found


def _template(answer: Any) -> Fields:
    told = answer["template"]
    return {
        "isGroup": told["isGroup"],
        "group": [told.get(name) for name in ("nodeGroup", "min", "max", "target")],
        "failed": bool(told.get("error")),
        "node": told.get("node"),
        "labels": told.get("labels") or {},
        "taints": [(each["key"], each.get("value", ""), each.get("effect", "")) for each in told.get("taints") or ()],
        "capacity": _amounts(told.get("capacity")),
        "allocatable": _amounts(told.get("allocatable")),
        "system": [told.get("architecture"), told.get("operatingSystem")],
        "pods": told.get("pods"),
        "devices": told.get("devices") or {},
        "csi": told.get("csiDrivers") or {},
        "options": told.get("options") or {},
        "capacityFailed": bool(told.get("capacityError")),
    }


def _amounts(amounts: Any) -> Fields:
    return {name: parse_quantity(text) for name, text in (amounts or {}).items()}


def _backoff(answer: Any) -> Fields:
    names = ("at", "do", "backedOff", "until", "code")
    return {"backoff": [[each.get(name) for name in names] for each in answer["backoff"]]}


def _state(answer: Any) -> Fields:
    found: dict[str, list[Any]] = defaultdict(list)
    for step in answer["state"]:
        found["cluster"].append((step["at"], step["clusterHealthy"]))
        for group, told in sorted(step["groups"].items()):
            found["groups"].append(
                (step["at"], group, {name: told[name] for name in told if told[name] or name != "code"})
            )
    return dict(found)


_FIELDS = {"scaleUp": _scale_up, "template": _template, "backoff": _backoff, "state": _state}
