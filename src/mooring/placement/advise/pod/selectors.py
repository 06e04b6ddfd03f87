"""Correct, widen or drop what the pod says about the nodes it wants: node selector, required affinity, node name.

What a condition may be changed to is read off the nodes that would take the pod if the condition were not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mooring.kube.objects import Object
from mooring.kube.selectors import parse_int64
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import distances, meant, meant_key, tolerance
from mooring.placement.advise.pointers import pointer, resolve
from mooring.placement.advise.search import Search
from mooring.placement.filters import OTHER_NAME, OUTSIDE, UNSELECTED
from mooring.placement.labels import Mask

REQUIRED = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")

# How many other values are offered where none looks like a misspelling.
MAX_VALUES = 2
# Labels that say what programs a node runs.
MACHINE_KEYS = ("kubernetes.io/arch", "kubernetes.io/os")
MAX_TRIES = 8

# A condition that every node meets stands in for one that is not there: a term must not become empty.
_ANY_LABEL: Object = {"key": "mooring.invalid/no-such-label", "operator": "DoesNotExist"}
_ANY_NAME: Object = {"key": "metadata.name", "operator": "NotIn", "values": [""]}


def node_name(search: Search) -> Iterator[Advice]:
    name = search.spec.get("nodeName")
    if name and search.only(OTHER_NAME).any():
        edit = Edit("pod", "drop", pointer("spec", "nodeName"), name, None)
        advice = search.on_pod(AdviceKind.DROP, f'Drop spec.nodeName "{name}" and let the scheduler choose', edit)
        if advice is not None:
            yield advice


def selectors(search: Search) -> Iterator[Advice]:
    if search.explanation.rejected is not None or _in_the_way(search):
        for key, value in (search.spec.get("nodeSelector") or {}).items():
            yield from _selector_key(search, key, value)
        yield from _affinity(search)


def _in_the_way(search: Search) -> bool:
    spreading = search.spreading(by_affinity=True)
    return bool(search.only(UNSELECTED, OUTSIDE, *spreading).any()) and search.info.template.node_terms is not None


# Node selector


def _selector_key(search: Search, key: str, value: str) -> Iterator[Advice]:
    path = pointer("spec", "nodeSelector", key)
    dropped = Edit("pod", "drop", path, value, None)
    without = search.takers_of((dropped,))
    where = f"nodeSelector {key}"
    others = _other_values(search, key, (value,), without)
    slip = _slip(search, key, value, others)
    for other in _few(value, others, slip):
        advice = search.on_pod(
            AdviceKind.CORRECT if other == slip else AdviceKind.WIDEN,
            f'{"Correct" if other == slip else "Change"} {where} from "{value}" to "{other}"{_condition_of(key)}',
            Edit("pod", "replace", path, value, other),
        )
        if advice is not None:
            yield advice
    known = search.spec.get("nodeSelector") or {}
    other_key = _other_key(search, key, exclude=set(known))
    if other_key is not None:
        added = Edit("pod", "replace", pointer("spec", "nodeSelector", other_key), None, value)
        edits = (Edit("pod", "replace", path, value, None), added)
        advice = search.on_pod(AdviceKind.CORRECT, f'Correct nodeSelector key "{key}" to "{other_key}"', *edits)
        if advice is not None:
            yield advice
    advice = search.on_pod(AdviceKind.DROP, f"Drop {where}: {value}{_condition_of(key)}", dropped)
    if advice is not None:
        yield advice


def _condition_of(key: str) -> str:
    """What must be so for a pod to run on nodes with another value, which no engine can know."""
    return ", if its images are built for it" if key in MACHINE_KEYS else ""


def _live_values(search: Search, key: str, mask: Mask) -> dict[str, int]:
    """The values of a label on some nodes, with how many nodes have each, most frequent first."""
    column = search.cluster.labels.columns.get(key)
    if column is None:
        return {}
    codes, counts = np.unique(column.codes[mask], return_counts=True)
    found = {column.values[c]: n for c, n in zip(codes.tolist(), counts.tolist(), strict=True) if c >= 0}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _other_values(search: Search, key: str, wanted: tuple[str, ...], without: Mask) -> list[str]:
    """Values that would do instead of the wanted ones, frequent ones first."""
    # Spreading that honours affinity counts other nodes with another value, so any of them may do.
    mask = search.cluster.valid if search.spreading(by_affinity=True) else without
    return [value for value in _live_values(search, key, mask) if value not in wanted]


def _slip(search: Search, key: str, value: str, others: list[str]) -> str | None:
    """The value that was meant by one that is on no node."""
    return None if value in _live_values(search, key, search.cluster.valid) else meant(value, others)


def _few(wanted: str, others: list[str], slip: str | None) -> list[str]:
    """Some of the values that would do: the one that was meant, those that look alike, and the frequent ones."""
    alike = distances(wanted, others) <= tolerance(wanted)
    rest = [value for value in _by_flag(others, alike) if value != slip][:MAX_VALUES]
    return rest if slip is None else [slip, *rest]


def _by_flag(values: list[str], first: Mask) -> list[str]:
    return [v for v, flag in zip(values, first, strict=True) if flag] + [
        v for v, flag in zip(values, first, strict=True) if not flag
    ]


def _other_key(search: Search, key: str, exclude: set[str]) -> str | None:
    """The label key that was meant by one that is on no node."""
    labels, valid = search.cluster.labels.columns, search.cluster.valid
    if key in labels and bool(labels[key].present[valid].any()):
        return None
    keys = [name for name, column in labels.items() if name not in exclude and bool(column.present[valid].any())]
    return meant_key(key, keys)


# Required node affinity


class _Condition(NamedTuple):
    """One condition of one term, and the nodes that would take the pod without it."""

    term: int
    field: str
    place: int
    body: Object
    # Whether the term has no other condition; it cannot be taken out then.
    alone: bool
    without: Mask

    def path(self, *rest: str | int) -> str:
        return pointer(*REQUIRED, "nodeSelectorTerms", self.term, self.field, self.place, *rest)

    @property
    def key(self) -> str:
        return str(self.body.get("key") or "")

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.body.get("values") or ())

    @property
    def where(self) -> str:
        return f"required node affinity term {self.term}, {self.key}"


def _affinity(search: Search) -> Iterator[Advice]:
    required = resolve(search.pod, pointer(*REQUIRED))
    if not required:
        return
    dropped = False
    for condition in _conditions(search, required):
        yield from _changes(search, condition)
        if condition.alone or not condition.without.any():
            continue
        advice = search.on_pod(
            AdviceKind.DROP,
            f"Drop {_words(condition.body)} from required node affinity term {condition.term}",
            Edit("pod", "drop", condition.path(), condition.body, None),
        )
        if advice is not None:
            dropped = True
            yield advice
    if not dropped:
        advice = search.on_pod(
            AdviceKind.DROP, "Drop the required node affinity", Edit("pod", "drop", pointer(*REQUIRED), required, None)
        )
        if advice is not None:
            yield advice


def _conditions(search: Search, required: Object) -> Iterator[_Condition]:
    for i, term in enumerate(required.get("nodeSelectorTerms") or ()):
        size = len(term.get("matchExpressions") or ()) + len(term.get("matchFields") or ())
        for name, anything in (("matchExpressions", _ANY_LABEL), ("matchFields", _ANY_NAME)):
            for j, body in enumerate(term.get(name) or ()):
                path = pointer(*REQUIRED, "nodeSelectorTerms", i, name, j)
                without = search.takers_of((Edit("pod", "drop", path, body, anything),))
                yield _Condition(i, name, j, body, size == 1, without)


def _changes(search: Search, condition: _Condition) -> Iterator[Advice]:
    spreading = search.spreading(by_affinity=True)
    if not condition.without.any() and not spreading:
        return
    if condition.field == "matchFields":
        yield from _node_field(search, condition)
        return
    match condition.body.get("operator"):
        case "In":
            yield from _in(search, condition)
        case "NotIn":
            yield from _not_in(search, condition)
        case "Gt" | "Lt":
            yield from _bound(search, condition)
    if condition.body.get("operator") in ("In", "Exists", "Gt", "Lt"):
        other = _other_key(search, condition.key, exclude=set())
        if other is not None:
            advice = search.on_pod(
                AdviceKind.CORRECT,
                f'Correct key "{condition.key}" to "{other}" in required node affinity term {condition.term}',
                Edit("pod", "replace", condition.path("key"), condition.key, other),
            )
            if advice is not None:
                yield advice


def _in(search: Search, condition: _Condition) -> Iterator[Advice]:
    others = _other_values(search, condition.key, condition.values, condition.without)
    meant_here: set[str] = set()
    for index, value in list(enumerate(condition.values))[:MAX_TRIES]:
        slip = _slip(search, condition.key, value, others)
        if slip is not None:
            meant_here.add(slip)
            advice = search.on_pod(
                AdviceKind.CORRECT,
                f'Correct {condition.where}: from "{value}" to "{slip}"',
                Edit("pod", "replace", condition.path("values", index), value, slip),
            )
            if advice is not None:
                yield advice
    for other in _few(condition.values[-1], [v for v in others if v not in meant_here], None):
        advice = search.on_pod(
            AdviceKind.WIDEN,
            f'Allow "{other}" as well in {condition.where} In {_listed(condition.values)}',
            Edit("pod", "relax", condition.path("values", "-"), None, other),
        )
        if advice is not None:
            yield advice


def _not_in(search: Search, condition: _Condition) -> Iterator[Advice]:
    if len(condition.values) == 1:
        return
    for index, value in list(enumerate(condition.values))[:MAX_TRIES]:
        advice = search.on_pod(
            AdviceKind.WIDEN,
            f'Take "{value}" out of {condition.where} NotIn {_listed(condition.values)}',
            Edit("pod", "relax", condition.path("values", index), value, None),
        )
        if advice is not None:
            yield advice


def _bound(search: Search, condition: _Condition) -> Iterator[Advice]:
    """The bound that asks for most and still admits a node."""
    mask = condition.without if condition.without.any() else search.cluster.valid
    numbers = [n for text in _live_values(search, condition.key, mask) if (n := parse_int64(text)) is not None]
    if not numbers:
        return
    more = condition.body.get("operator") == "Gt"
    bound = str(max(numbers) - 1 if more else min(numbers) + 1)
    before = condition.values[0] if condition.values else None
    advice = search.on_pod(
        AdviceKind.WIDEN if before is not None and parse_int64(before) is not None else AdviceKind.CORRECT,
        f'Change {condition.where} {condition.body["operator"]} "{before}" to "{bound}"',
        Edit("pod", "relax", condition.path("values", 0), before, bound),
    )
    if advice is not None:
        yield advice


def _node_field(search: Search, condition: _Condition) -> Iterator[Advice]:
    if condition.body.get("operator") != "In" or len(condition.values) != 1:
        return
    wanted = condition.values[0]
    if wanted in search.cluster.slots:
        return
    names = [search.cluster.names[slot] for slot in np.flatnonzero(condition.without).tolist()]
    name = meant(wanted, names)
    if name is not None:
        advice = search.on_pod(
            AdviceKind.CORRECT,
            f'Correct node name in required node affinity term {condition.term}: from "{wanted}" to "{name}"',
            Edit("pod", "replace", condition.path("values", 0), wanted, name),
        )
        if advice is not None:
            yield advice


def _listed(values: tuple[str, ...]) -> str:
    return f"[{', '.join(values)}]"


def _words(body: Any) -> str:
    """A condition as people say it: `pool In [a, b]`."""
    words = f"{body.get('key')} {body.get('operator')}"
    values = tuple(body.get("values") or ())
    return f"{words} {_listed(values)}" if values else words
