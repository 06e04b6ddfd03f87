"""Replicas as their pods tell of them: pods that ask for nodes of one label value, wherever they come from.

Nothing is known of the kinds that make such pods. A pod is of a replica if its node selector has a label key of the
policy; the value stands for the replica, and tolerations of that value say which taints its nodes may have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from mooring.features.autoscaler.pods import has_ended, is_unschedulable
from mooring.features.autoscaler.views import AutoscalerPod, AutoscalerTaint
from mooring.placement.pods import CompiledTemplate

__all__ = ["Replica", "ReplicaLabel", "looks_unique", "read_replicas"]


class ReplicaLabel(NamedTuple):
    """The label that nodes of a replica have."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class Replica(msgspec.Struct, frozen=True):
    """The pods of one namespace that ask for one label; those that have ended are not among them."""

    label: ReplicaLabel
    namespace: str
    # The oldest first.
    pods: Sequence[AutoscalerPod]
    # How many pods there will be in all; 0 where that is not said.
    size: int

    @property
    def name(self) -> str:
        return f"{self.namespace}/{self.label.value}"

    @property
    def unbound(self) -> list[AutoscalerPod]:
        return [pod for pod in self.pods if not pod.spec.node_name and not pod.metadata.deleting]

    @property
    def waits(self) -> bool:
        """Whether a scheduler has found no node for one of its pods."""
        return any(is_unschedulable(pod) for pod in self.pods)

    @property
    def expected(self) -> list[AutoscalerPod]:
        """Pods that are to come, each as large as the largest that is there."""
        staying = [pod for pod in self.pods if not pod.metadata.deleting]
        example = max(staying, key=_asked, default=None)
        missing = max(0, self.size - len(staying))
        return [] if example is None else [_copy(example, f"{self.label.value}-expected-{i}") for i in range(missing)]

    @property
    def taints(self) -> tuple[AutoscalerTaint, ...]:
        """What its nodes are tainted with: what all of its pods tolerate of this value."""
        tolerated = [
            {(each.key, each.effect) for each in pod.spec.tolerations or () if self._is_own(each.value, each.operator)}
            for pod in self.pods
        ]
        common = sorted(set.intersection(*tolerated)) if tolerated else []
        # Without an effect all of them are tolerated; one of them keeps others away.
        effects = {(key, effect or "NoSchedule") for key, effect in common if key}
        return tuple(AutoscalerTaint(key=key, value=self.label.value, effect=effect) for key, effect in sorted(effects))

    def _is_own(self, value: str, operator: str) -> bool:
        return value == self.label.value and operator in ("", "Equal")


def read_replicas(pods: Iterable[AutoscalerPod], keys: Collection[str], size_annotation: str) -> list[Replica]:
    """In the order in which their first pods were made."""
    found: dict[tuple[ReplicaLabel, str], list[AutoscalerPod]] = {}
    for pod in pods:
        if has_ended(pod):
            continue
        for key, value in (pod.spec.node_selector or {}).items():
            if key in keys and value:
                found.setdefault((ReplicaLabel(key, value), pod.metadata.namespace), []).append(pod)
    made = []
    for (label, namespace), members in found.items():
        members.sort(key=_age)
        made.append(Replica(label, namespace, members, _size(members, size_annotation)))
    return sorted(made, key=lambda each: (_age(each.pods[0]), each.label, each.namespace))


def looks_unique(pod: AutoscalerPod) -> ReplicaLabel | None:
    """The label of a pod that asks for nodes named after itself or its leader, for where no policy says a key."""
    name, selector = pod.metadata.name, pod.spec.node_selector or {}
    for key, value in sorted(selector.items()):
        tolerated = any(each.value == value for each in pod.spec.tolerations or ())
        if value and tolerated and (name == value or name.startswith(f"{value}-")):
            return ReplicaLabel(key, value)
    return None


def _age(pod: AutoscalerPod) -> tuple[str, str, str]:
    return pod.metadata.creation_timestamp or "", pod.metadata.namespace, pod.metadata.name


def _size(pods: Sequence[AutoscalerPod], annotation: str) -> int:
    texts = [pod.metadata.annotations.get(annotation, "") for pod in pods] if annotation else []
    return max((int(text) for text in texts if text.isascii() and text.isdecimal()), default=0)


def _asked(pod: AutoscalerPod) -> tuple[int, ...]:
    """GPUs and the like count first, because there are few of them."""
    asked = CompiledTemplate(pod).resources.fit
    return sum(amount for _, amount in asked.scalars), asked.memory, asked.cpu


def _copy(pod: AutoscalerPod, name: str) -> AutoscalerPod:
    replace = msgspec.structs.replace
    return replace(pod, metadata=replace(pod.metadata, name=name), spec=replace(pod.spec, node_name=""))
