"""One more node like one that is there: the smallest machine whose empty twin would take the pod."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from mooring.api.core.types import Node, NodeSpec, NodeStatus, ObjectMeta
from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant
from mooring.placement.advise.nodes.conditions import HOSTNAME, identifies, is_passing
from mooring.placement.advise.others.residents import short_for_now
from mooring.placement.advise.search import MAX_TRIES, Search
from mooring.placement.engine import Slots
from mooring.placement.filters import (
    ALONE,
    CORDONED,
    CROWDED,
    OUTSIDE,
    PORT_TAKEN,
    REPELLED,
    TAINTED,
    TOO_MANY_PODS,
    UNSELECTED,
    UNWELCOME,
)
from mooring.placement.plugins.taints import untolerated
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.volumes.limits import TOO_MANY_VOLUMES

_RELATIONAL = (CROWDED, ALONE, REPELLED, UNWELCOME)
# What a fresh node does not have.
LIFTED = (CORDONED, PORT_TAKEN, TOO_MANY_PODS, *_RELATIONAL)


def new_node(search: Search) -> Iterator[Advice]:
    for slot in _models(search)[:MAX_TRIES].tolist():
        model = search.cluster.nodes[slot]
        assert model is not None
        twin = twin_of(search, model)
        nodes, count = search.after((twin,))
        if count:
            name = model.metadata.name
            edit = Edit("cluster", "addNode", "/nodes/-", None, plain_node(twin))
            yield Advice(AdviceKind.ADD_NODE, f"Add one more node like {name}", (edit,), (), nodes, count)
            return


def own_node(search: Search) -> Iterator[Advice]:
    """One more node like those that others select by a label, with the value that this pod selects by."""
    terms = search.info.template.node_terms
    near = search.only(UNSELECTED, TAINTED, *LIFTED, *short_for_now(search))
    for key, value in () if terms is None or not near.any() else terms.node_selector:
        others = search.selected_values(key) - {value}
        if identifies(key) or not others or meant(value, sorted(others)) is not None:
            continue
        slots = search.in_order(near & search.cluster.labels.column(key).where(others.__contains__))
        for slot in search.imitable(slots)[:MAX_TRIES].tolist():
            model = search.cluster.nodes[slot]
            assert model is not None
            twin = _labelled(twin_of(search, model), key, value)
            nodes, count = search.after((twin,))
            if count:
                title = f"Add one more node like {model.metadata.name}, with the label {key}={value}"
                edit = Edit("cluster", "addNode", "/nodes/-", None, plain_node(twin))
                yield Advice(AdviceKind.ADD_NODE, title, (edit,), (), nodes, count)
                return


def _labelled(twin: Node, key: str, value: str) -> Node:
    """A twin for somebody else: taints of the label's value are for the same pods as the label."""
    labels = dict(twin.metadata.labels or {})
    before, labels[key] = labels.get(key), value
    taints = tuple(
        msgspec.structs.replace(taint, value=value) if taint.value == before else taint
        for taint in twin.spec.taints or ()
    )
    return msgspec.structs.replace(
        twin,
        metadata=msgspec.structs.replace(twin.metadata, labels=labels),
        spec=msgspec.structs.replace(twin.spec, taints=taints or None),
    )


def more_like(advice: Advice, count: int) -> Advice:
    """The same advice with so many new nodes instead of one."""
    title = advice.title.replace("Add one more node like", f"Add {count} more nodes like")
    return msgspec.structs.replace(advice, title=title, edits=tuple(copies(advice.edits[0], count)))


def copies(edit: Edit, count: int) -> list[Edit]:
    """The edit that adds a node, for so many of them."""
    return [msgspec.structs.replace(edit, after=_renamed(edit.after, number)) for number in range(1, count + 1)]


def _renamed(node: Object, number: int) -> Object:
    name = node["metadata"]["name"] + (f"-{number}" if number > 1 else "")
    labels = dict(node["metadata"].get("labels") or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    return {**node, "metadata": {**node["metadata"], "name": name, "labels": labels}}


def _models(search: Search) -> Slots:
    """Nodes whose empty twin may take the pod, one of each shape, smallest first."""
    cluster = search.cluster
    doubtful = (*_RELATIONAL, UNSELECTED, OUTSIDE) if _asks_for_names(search) else _RELATIONAL
    lifted = (CORDONED, TAINTED, PORT_TAKEN, TOO_MANY_PODS, TOO_MANY_VOLUMES, *doubtful, *short_for_now(search))
    tolerations = search.info.template.tolerations
    passing = np.array(
        [all(map(is_passing, untolerated(tolerations, taints))) for taints in cluster.taint_sets], dtype=np.bool_
    )
    mask = search.only(*lifted) & passing[cluster.taint_set] & (cluster.alloc_pods > 0)
    slots = search.imitable(search.in_order(mask))
    if search.bits((TOO_MANY_VOLUMES,)):
        slots = slots[[_attaches_all(search, slot) for slot in slots.tolist()]]
    if not slots.size:
        return slots
    doubt = search.verdicts.bits[slots] & search.bits(doubtful) != 0
    scalars = sum((column[slots] for column in cluster.alloc_scalar.values()), np.zeros(slots.size, dtype=np.int64))
    columns = [doubt, scalars, cluster.alloc_cpu[slots], cluster.alloc_memory[slots], cluster.taint_set[slots]]
    columns += [cluster.labels.column(key).codes[slots] for key in sorted(_topologies(search)) if key != HOSTNAME]
    # Sorted by the first columns first, and one node of each distinct row.
    _, first = np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_index=True)
    return slots[first]


def _attaches_all(search: Search, slot: int) -> bool:
    """Whether drivers would attach all volumes of the pod to an empty node like this one, as far as its limits tell."""
    limits = search.cluster.storage.limits.get(search.cluster.names[slot]) or {}
    return len(search.info.volumes) <= min(limits.values(), default=len(search.info.volumes))


def _asks_for_names(search: Search) -> bool:
    """Whether the pod shuns nodes by name: a twin has another one."""
    terms = search.info.template.node_terms
    return terms is not None and any(
        term.fields.requirements or any(r.key == HOSTNAME for r in term.labels.requirements)
        for term in terms.terms or ()
    )


def _topologies(search: Search) -> set[str]:
    """Keys by which the place of the new node matters to the pod."""
    template = search.info.template
    keys = {c.topology_key for c in template.spread_hard}
    keys |= {t.topology_key for t in (*template.affinity_required, *template.anti_required)}
    interpod = search.filters.interpod
    return keys | set(interpod.existing if interpod else ())


def twin_of(search: Search, model: Node) -> Node:
    name = unused_name(search.cluster, f"{model.metadata.name}-copy")
    labels = dict(model.metadata.labels or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    taints = tuple(taint for taint in model.spec.taints or () if not is_passing(taint))
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=NodeSpec(taints=taints or None),
        status=NodeStatus(allocatable=model.status.allocatable),
    )


def unused_name(cluster: SchedulerCache, name: str) -> str:
    """A name for a node that is only imagined: no node has it, and no pod is bound to it."""
    while name in cluster.slots or name in cluster.waiting:
        name += "-copy"
    return name


def plain_node(node: Node) -> Object:
    """The node as an object, without what it does not say."""
    found: Object = {"metadata": {"name": node.metadata.name, "labels": node.metadata.labels}}
    if node.spec.taints:
        found["spec"] = {"taints": msgspec.to_builtins(node.spec.taints)}
    return {**found, "status": {"allocatable": node.status.allocatable}}
