"""What is accepted of the scheduling of a job and cannot lead to a node, told when the job is applied."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mooring.api.core.views import Node
from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.features.notebooks.api.scheduling import NodeTerm
from mooring.kube.nodeselectors import node_requirement
from mooring.workloads.near_labels import nearest_labels

__all__ = ["scheduling_warnings"]

_REQUIRED = "spec.podConfig.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def scheduling_warnings(spec: ValidationSpec, nodes: Sequence[Node]) -> tuple[str, ...]:
    found = (_selector_warning(spec, nodes), _contradiction(spec))
    return tuple(filter(None, found))


def _selector_warning(spec: ValidationSpec, nodes: Sequence[Node]) -> str:
    wanted = spec.pod_config.node_selector
    if not wanted or any(wanted.items() <= node.metadata.labels.items() for node in nodes):
        return ""
    labels = ", ".join(f"{key}={value}" for key, value in sorted(wanted.items()))
    near = nearest_labels(wanted, nodes)
    return f"spec.podConfig.nodeSelector: no node has {labels}{near}; the job waits for one that has"


def _contradiction(spec: ValidationSpec) -> str:
    """Both nodeSelector and affinity must hold, so that one may rule out all that the other allows."""
    affinity = spec.pod_config.affinity
    node = None if affinity is None else affinity.node_affinity
    if node is None or node.required is None:
        return ""
    terms = node.required.node_selector_terms
    if all(not term.match_expressions and not term.match_fields for term in terms):
        return f"{_REQUIRED}: a term without conditions matches no node"
    against = [_against(term, spec.pod_config.node_selector) for term in terms]
    if not against or not all(against):
        return ""
    return f"{_REQUIRED}: no node can match it and nodeSelector too, because of {' and '.join(dict.fromkeys(against))}"


def _against(term: NodeTerm, wanted: dict[str, str]) -> str:
    """The label that a node cannot have for both."""
    for expression in term.match_expressions:
        if expression.key not in wanted:
            continue
        labels = {expression.key: wanted[expression.key]}
        if not node_requirement(msgspec.to_builtins(expression)).matches(labels):
            return f"{expression.key}={wanted[expression.key]}"
    return ""
