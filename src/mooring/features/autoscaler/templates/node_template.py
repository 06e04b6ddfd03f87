"""The next node of every group: like a node that it has, or as the group itself describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from mooring.api.core.types import Labels, Toleration
from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.pods import is_daemon_set_pod, is_mirror_pod
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import HOSTNAME, NodeTemplate
from mooring.features.autoscaler.templates.node_taints import TO_BE_DELETED, lasting_taints
from mooring.features.autoscaler.views import (
    AutoscalerDaemonSet,
    AutoscalerNode,
    AutoscalerPod,
    ControllerRef,
    controller_of,
)
from mooring.placement.plugins.taints import untolerated
from mooring.placement.pods import CompiledTemplate

__all__ = ["node_templates"]

# How long a node must have been ready to be taken for an example.
_STABLE_FOR: Final = timedelta(minutes=1)
_TEMPLATE_LABEL: Final = "cluster-autoscaler.kubernetes.io/template-node"
_SYSTEM_NODE_CRITICAL: Final = "system-node-critical"
_DEPRECATED_LABELS: Final = {
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region": "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone": "failure-domain.beta.kubernetes.io/zone",
}
# What the DaemonSet controller lets all of its pods tolerate.
_DAEMON_TOLERATIONS: Final = tuple(
    Toleration(key=f"node.kubernetes.io/{name}", operator="Exists", effect=effect)
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)

PodsOn = Callable[[str], Iterable[AutoscalerPod]]


def node_templates(
    groups: Sequence[NodeGroup],
    nodes: Sequence[AutoscalerNode],
    pods_on: PodsOn,
    daemon_sets: Sequence[AutoscalerDaemonSet],
    now: datetime,
    settings: AutoscalerSettings,
) -> dict[str, NodeTemplate]:
    """By the name of the group; a group that nothing is known about has none."""
    owners = groups_by_node(groups)
    found: dict[str, NodeTemplate] = {}

    def learn(node: AutoscalerNode) -> None:
        group = owners.get(node.name)
        if group is not None and group.name not in found:
            forced = settings.force_daemon_sets
            found[group.name] = _template(group.name, node, pods_on(node.name), daemon_sets, forced, settings)

    good = {node.name: _is_good_example(node, now) for node in nodes}
    for node in nodes:
        if good[node.name]:
            learn(node)
    for group in groups:
        if group.name not in found and group.template is not None:
            made = _template(group.name, group.template, (), daemon_sets, True, settings)
            found[group.name] = made._replace(node=_with_deprecated_labels(made.node))
    for node in nodes:
        if not good[node.name]:
            learn(node)
    return found


def _is_good_example(node: AutoscalerNode, now: datetime) -> bool:
    readiness = node_readiness(node)
    leaving = any(taint.key == TO_BE_DELETED for taint in node.spec.taints or ())
    return readiness.ready and readiness.since < now - _STABLE_FOR and not node.spec.unschedulable and not leaving


def _template(
    group: str,
    example: AutoscalerNode,
    pods: Iterable[AutoscalerPod],
    daemon_sets: Sequence[AutoscalerDaemonSet],
    forced: bool,
    settings: AutoscalerSettings,
) -> NodeTemplate:
    """`forced`: the pods of DaemonSets that do not run on the example are expected, too."""
    replace = msgspec.structs.replace
    name = f"template-node-for-{group}"
    labels = {**(example.metadata.labels or {}), HOSTNAME: name}
    taints = lasting_taints(example.spec.taints or (), settings)
    node = replace(
        example,
        metadata=replace(example.metadata, name=name, labels=labels),
        spec=replace(example.spec, taints=taints or None),
    )
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    running = {owner.uid for pod in staying if (owner := controller_of(pod)) is not None and owner.kind == "DaemonSet"}
    expected = [pod for pod in staying if is_mirror_pod(pod) or is_daemon_set_pod(pod)]
    for daemon_set in daemon_sets:
        if daemon_set.metadata.uid not in running and (forced or _is_critical(daemon_set)):
            pod = _daemon_pod(daemon_set)
            if _runs_on(pod, node):
                expected.append(pod)
    node = replace(node, metadata=replace(node.metadata, labels={**labels, _TEMPLATE_LABEL: "true"}))
    return NodeTemplate(node, tuple(_moved(pod, name) for pod in expected))


def _moved(pod: AutoscalerPod, node: str) -> AutoscalerPod:
    replace = msgspec.structs.replace
    metadata = replace(pod.metadata, name=f"{pod.metadata.name}-on-{node}")
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))


def _is_critical(daemon_set: AutoscalerDaemonSet) -> bool:
    """Whether its pods make room for themselves on any node."""
    spec = daemon_set.spec.template.spec
    preempts = spec.preemption_policy in (None, "PreemptLowerPriority")
    return spec.priority_class_name == _SYSTEM_NODE_CRITICAL and preempts


def _daemon_pod(daemon_set: AutoscalerDaemonSet) -> AutoscalerPod:
    replace = msgspec.structs.replace
    template, metadata = daemon_set.spec.template, daemon_set.metadata
    owner = ControllerRef(kind="DaemonSet", name=metadata.name, uid=metadata.uid, controller=True)
    return replace(
        template,
        metadata=replace(
            template.metadata, name=f"{metadata.name}-pod", namespace=metadata.namespace, owner_references=(owner,)
        ),
        spec=replace(template.spec, tolerations=(*(template.spec.tolerations or ()), *_DAEMON_TOLERATIONS)),
    )


def _runs_on(pod: AutoscalerPod, node: AutoscalerNode) -> bool:
    """Whether the DaemonSet controller would make this pod for a node; room is no matter to it."""
    compiled = CompiledTemplate(pod)
    if compiled.node_terms is not None and not compiled.node_terms.matches(node.metadata.labels or {}, node.name):
        return False
    return not untolerated(compiled.tolerations, node.spec.taints or ())


def _with_deprecated_labels(node: AutoscalerNode) -> AutoscalerNode:
    labels: Mapping[str, str] = node.metadata.labels or {}
    added: Labels = {old: labels[new] for new, old in _DEPRECATED_LABELS.items() if new in labels}
    metadata = msgspec.structs.replace(node.metadata, labels={**labels, **added})
    return msgspec.structs.replace(node, metadata=metadata)
