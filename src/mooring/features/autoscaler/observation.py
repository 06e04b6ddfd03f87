"""One look at the cluster, ready to decide on: nodes as the autoscaler counts them, templates, state and a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from mooring.api.core.types import Namespace
from mooring.api.meta import Condition
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.cluster_state.node_readiness import is_ready_and_schedulable
from mooring.features.autoscaler.cluster_state.observation import observe
from mooring.features.autoscaler.cluster_state.observed_state import NO_READINESS, ObservedState
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.pods import allocatable_gpus, is_expendable
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot, NodeTemplate, fresh_node
from mooring.features.autoscaler.templates.node_taints import has_startup_taint
from mooring.features.autoscaler.templates.node_template import node_templates
from mooring.features.autoscaler.views import AutoscalerDaemonSet, AutoscalerNode, AutoscalerPod

__all__ = ["ClusterObjects", "ControllerKey", "Controllers", "Look", "look"]


ControllerKey = tuple[str, str, str]
"""Kind, namespace and name."""


class Controllers(Protocol):
    """The replicas that controllers ask for, None where they do not say. They are asked for one by one."""

    def __contains__(self, key: object, /) -> bool: ...

    def __getitem__(self, key: ControllerKey, /) -> int | None: ...


class ClusterObjects(msgspec.Struct, frozen=True):
    """What is there, whoever has read it. Pods that have ended are not among the pods."""

    groups: Sequence[NodeGroup]
    nodes: Sequence[AutoscalerNode]
    # Bound to nodes.
    pods: Sequence[AutoscalerPod]
    daemon_sets: Sequence[AutoscalerDaemonSet] = ()
    namespaces: Sequence[Namespace] = ()
    controllers: Controllers = msgspec.field(default_factory=dict[ControllerKey, int | None])
    budgets: Sequence[PodDisruptionBudget] = ()
    # Nodes whose deletion has started and that their group's target still counts, and whether their pods are moved.
    deleting: Mapping[str, bool] = msgspec.field(default_factory=dict)
    # Claims, volumes, classes and what drivers tell of themselves; None where they were not read.
    storage: Sequence[msgspec.Struct] | None = None


class Look(msgspec.Struct, frozen=True):
    objects: ClusterObjects
    now: datetime
    settings: AutoscalerSettings
    # All nodes that have started; one whose GPUs or startup taints say so is not ready.
    nodes: Sequence[AutoscalerNode]
    ready_count: int
    templates: dict[str, NodeTemplate]
    state: ObservedState
    # With the nodes that are on their way, and without those that they stand for.
    snapshot: AutoscalerSnapshot


def look(objects: ClusterObjects, memory: Memory, now: datetime, settings: AutoscalerSettings) -> Look:
    ready = [node for node in objects.nodes if is_ready_and_schedulable(node)]
    starting = {node.name for node in ready if _has_yet_to_start(node, settings)}
    nodes = [_as_unready(node) if node.name in starting else node for node in objects.nodes]
    pods = [pod for pod in objects.pods if not is_expendable(pod, settings.expendable_priority)]
    on_nodes: dict[str, list[AutoscalerPod]] = defaultdict(list)
    for pod in pods:
        on_nodes[pod.spec.node_name].append(pod)
    templates = node_templates(objects.groups, nodes, lambda name: on_nodes[name], objects.daemon_sets, now, settings)
    state = observe(memory, objects.groups, nodes, now, settings)
    snapshot = AutoscalerSnapshot(nodes, pods, objects.namespaces, objects.storage)
    expected = _replace_by_upcoming(objects.groups, templates, state, snapshot)
    started = [node for node in nodes if node.name not in expected]
    return Look(objects, now, settings, started, len(ready) - len(starting), templates, state, snapshot)


def _has_yet_to_start(node: AutoscalerNode, settings: AutoscalerSettings) -> bool:
    awaits_gpus = settings.gpu_label in (node.metadata.labels or {}) and not allocatable_gpus(node)[1]
    return awaits_gpus or has_startup_taint(node, settings)


def _as_unready(node: AutoscalerNode) -> AutoscalerNode:
    unready = Condition(type="Ready", status="False", last_transition_time=node.metadata.creation_timestamp)
    others = tuple(each for each in node.status.conditions or () if each.type != "Ready")
    status = msgspec.structs.replace(node.status, conditions=(unready, *others))
    return msgspec.structs.replace(node, status=status)


def _replace_by_upcoming(
    groups: Sequence[NodeGroup],
    templates: dict[str, NodeTemplate],
    state: ObservedState,
    snapshot: AutoscalerSnapshot,
) -> set[str]:
    """Nodes that have not started give way to what they will be; their names."""
    expected: set[str] = set()
    for group in groups:
        count = state.upcoming(group.name)
        if not count:
            continue
        expected.update(state.readiness.get(group.name, NO_READINESS).not_started)
        template = templates.get(group.name)
        for i in range(count if template is not None else 0):
            assert template is not None
            snapshot.add(fresh_node(template, f"upcoming-{i}"))
    for name in expected:
        snapshot.remove_node(name)
    return expected
