"""The pods that a DaemonSet would make on a cluster: one for each node that its template chooses and tolerates.

Real names are random; here a pod is called by its set and its node, because that is what people ask about.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mooring.api.apps.daemonsets import DaemonSet
from mooring.api.core import types as core
from mooring.api.core.types import LabelSelector
from mooring.builtin.apps.daemonset.nodes import Demand, selects
from mooring.builtin.apps.daemonset.pods import demand_of, make_pod
from mooring.kube.objects import Object
from mooring.placement.plugins.taints import taint_text, untolerated
from mooring.placement.workloads.expansion import Expansion, WorkloadError, selector_errors, template_hash, written
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection, UncountedNode
from mooring.workloads.near_labels import nearest_of

__all__ = ["expand_daemon_set", "select_nodes"]

# Objects that do not exist yet have no uid, but the API wants one in a reference.
_UID = "00000000-0000-0000-0000-000000000000"


def expand_daemon_set(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    daemon_set = _read(value, namespace)
    metadata, template = daemon_set.metadata, daemon_set.spec.template
    demand = demand_of(daemon_set)
    revision = template_hash(template)
    chosen = [node for node in cluster.nodes() if _chooses(demand, node)]
    pods = []
    for node in chosen:
        if not _keeping_off(demand, node):
            name = f"{metadata.name}-{node.metadata.name}"
            while f"{metadata.namespace}/{name}" in cluster.taken:
                name += "-1"
            pods.append({"apiVersion": "v1", "kind": "Pod", **make_pod(daemon_set, node.metadata.name, revision, name)})
    selector = daemon_set.spec.selector
    errors = selector_errors(template, None if selector is None else msgspec.convert(selector, LabelSelector))
    notes = tuple(_notes(demand, cluster, chosen, pods))
    return Expansion("DaemonSet", metadata.namespace, metadata.name, pods, errors=errors, notes=notes)


def select_nodes(value: Object, namespace: str, cluster: KnownCluster) -> NodeSelection:
    """The nodes that the template chooses, and those of them whose taints keep its pods off."""
    demand = demand_of(_read(value, namespace))
    matching = [node for node in cluster.nodes() if _chooses(demand, node)]
    tainted = {node.metadata.name: taints for node in matching if (taints := _keeping_off(demand, node))}
    counted = tuple(node.metadata.name for node in matching if node.metadata.name not in tainted)
    return NodeSelection(
        _asked(demand),
        len(counted),
        "one pod on each node" if counted else "",
        tuple(node.metadata.name for node in matching),
        counted,
        tuple(
            UncountedNode(name, f"has {' and '.join(map(taint_text, taints))}, which its pods do not tolerate")
            for name, taints in tainted.items()
        ),
        counted_as="tolerated",
    )


def _read(value: Object, namespace: str) -> DaemonSet:
    metadata, spec = written(value.get("metadata") or {}), written(value.get("spec") or {})
    if not metadata.get("name"):
        raise WorkloadError("a DaemonSet needs a name", "metadata.name")
    template = spec.get("template")
    if not template:
        raise WorkloadError("a DaemonSet needs a pod template", "spec.template")
    identity = {**metadata, "namespace": metadata.get("namespace") or namespace, "uid": metadata.get("uid") or _UID}
    if isinstance(template, dict):
        parts = {field: written(template[field]) for field in ("metadata", "spec") if template.get(field) is not None}
        spec = {**spec, "template": {**{key: part for key, part in template.items() if part is not None}, **parts}}
    found = msgspec.convert({"metadata": identity, "spec": spec}, DaemonSet)
    for field in ("metadata", "spec"):
        if not isinstance(found.spec.template.get(field, {}), dict):
            raise WorkloadError("must be an object", f"spec.template.{field}")
    return found


def _chooses(demand: Demand, node: core.Node) -> bool:
    return selects(demand, node.metadata.name, node.metadata.labels or {})


def _keeping_off(demand: Demand, node: core.Node) -> list[core.Taint]:
    return untolerated(demand.tolerations, node.spec.taints or ())


def _asked(demand: Demand) -> str:
    """What the template asks of a node: labels as they are written, the rest in words."""
    asked = [f"{key}={value}" for key, value in demand.terms.node_selector] if demand.terms is not None else []
    if demand.terms is not None and demand.terms.terms is not None:
        asked.append("its node affinity")
    if demand.node_name:
        asked.append(f"nodeName {demand.node_name}")
    return ", ".join(asked)


def _notes(demand: Demand, cluster: KnownCluster, chosen: list[core.Node], pods: list[Object]) -> Iterator[str]:
    if pods:
        return
    if chosen:
        yield "it makes no pods: no node that it chooses has only taints that they tolerate"
        return
    wanted = dict(demand.terms.node_selector) if demand.terms is not None else {}
    near = nearest_of(wanted, ((node.metadata.name, node.metadata.labels or {}) for node in cluster.nodes()))
    yield f"it makes no pods: no node has {_asked(demand)}{near}"
