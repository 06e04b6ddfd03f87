"""The pods of a DaemonSet: each made for one node, which its affinity names, and tolerant of every node trouble.

The scheduler binds them like any other pod.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from mooring.api.apps.daemonsets import DaemonSet
from mooring.api.core import types as core
from mooring.api.core.views import Pod
from mooring.builtin.apps.daemonset.nodes import Demand
from mooring.kube.objects import Object
from mooring.placement.pods import CompiledTemplate
from mooring.workloads.kinds import DAEMON_SET, REVISION_LABEL
from mooring.workloads.podcontrol import pod_from_template
from mooring.workloads.taints import (
    CORDONED,
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NOT_READY,
    PID_PRESSURE,
    UNREACHABLE,
)

GENERATION: Final = "deprecated.daemonset.template.generation"
_GENERATION_LABEL: Final = "pod-template-generation"
_NAME_FIELD: Final = "metadata.name"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TOLERATED: Final = (
    (NOT_READY, "NoExecute"),
    (UNREACHABLE, "NoExecute"),
    (DISK_PRESSURE, "NoSchedule"),
    (MEMORY_PRESSURE, "NoSchedule"),
    (PID_PRESSURE, "NoSchedule"),
    (CORDONED, "NoSchedule"),
)


def demand_of(daemon_set: DaemonSet) -> Demand:
    """What the set's pods ask of a node, the tolerations that they are given included."""
    spec = daemon_set.spec.template.get("spec", {})
    pod = msgspec.convert({"spec": {**spec, "tolerations": _tolerations(spec)}}, core.Pod)
    template = CompiledTemplate(pod)
    return Demand(pod.spec.node_name, template.node_terms, template.tolerations)


def make_pod(daemon_set: DaemonSet, node: str, revision: str, name: str) -> Object:
    pod = pod_from_template(DAEMON_SET, daemon_set, daemon_set.spec.template, name)
    labels = {**pod["metadata"].get("labels", {}), REVISION_LABEL: revision}
    if generation := template_generation(daemon_set):
        labels[_GENERATION_LABEL] = generation
    pod["metadata"]["labels"] = labels
    spec = pod["spec"]
    pod["spec"] = {**spec, "affinity": _only_on(spec.get("affinity"), node), "tolerations": _tolerations(spec)}
    return pod


def template_generation(daemon_set: DaemonSet) -> str:
    """How often the template was changed, as the API counts it; empty where it does not."""
    generation = daemon_set.metadata.annotations.get(GENERATION, "")
    return generation if generation.isdecimal() else ""


def is_updated(daemon_set: DaemonSet, pod: Pod, revision: str) -> bool:
    labels = pod.metadata.labels
    if labels.get(REVISION_LABEL) == revision:
        return True
    generation = template_generation(daemon_set)
    return bool(generation) and labels.get(_GENERATION_LABEL) == generation


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Pods by the node they are made for, the one that counts first. Nothing is left to do about those that ended
    and go."""
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.metadata.deleting and pod.finished:
            continue
        if node := pod.spec.node_name or _target_node(pod):
            found.setdefault(node, []).append(pod)
    for here in found.values():
        if len(here) > 1:
            here.sort(key=_seniority)
    return found


def _seniority(pod: Pod) -> tuple[bool, str, str]:
    return not pod.spec.node_name, pod.metadata.creation_timestamp or "", pod.metadata.name


def _target_node(pod: Pod) -> str:
    """The node that a pod's affinity names; empty where it names none."""
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    for term in (required.node_selector_terms or ()) if required is not None else ():
        for field in term.match_fields or ():
            if field.key == _NAME_FIELD and field.operator == "In":
                return field.values[0] if field.values is not None and len(field.values) == 1 else ""
    return ""


def _only_on(affinity: Object | None, node: str) -> Object:
    """The template's affinity with its required node terms, which the node has met, replaced by its name."""
    named = {"matchFields": [{"key": _NAME_FIELD, "operator": "In", "values": [node]}]}
    affinity = affinity or {}
    of_nodes = affinity.get("nodeAffinity") or {}
    return {**affinity, "nodeAffinity": {**of_nodes, _REQUIRED: {"nodeSelectorTerms": [named]}}}


def _tolerations(spec: Object) -> list[Object]:
    tolerations = list(spec.get("tolerations") or ())
    added = [*_TOLERATED, (NETWORK_UNAVAILABLE, "NoSchedule")] if spec.get("hostNetwork") else _TOLERATED
    for key, effect in added:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        places = [place for place, given in enumerate(tolerations) if _without_time(given) == wanted]
        for place in places:
            # One with a time limit would let the pod be driven off.
            tolerations[place] = wanted
        if not places:
            tolerations.append(wanted)
    return tolerations


def _without_time(toleration: Object) -> Object:
    return {name: value for name, value in toleration.items() if value and name != "tolerationSeconds"}
