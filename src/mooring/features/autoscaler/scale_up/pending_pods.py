"""Which of the pods without a node the autoscaler is to help: those that fit nowhere, now or soon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.features.autoscaler.pods import GPU_RESOURCES, is_daemon_set_pod, is_expendable
from mooring.features.autoscaler.scale_up.similar_pods import SimilarPods
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.kube.durations import parse_duration
from mooring.kube.times import moment
from mooring.placement.pods import PodInfo

__all__ = ["PendingPod", "all_are_new", "moments_of_help", "old_enough", "pods_without_room"]

_DELAY: Final = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
# Pods may be about to be placed.
_NEW: Final = timedelta(seconds=2)


class PendingPod(NamedTuple):
    """A pod as it is written, and as placement tries it."""

    pod: AutoscalerPod
    info: PodInfo

    @property
    def key(self) -> str:
        return self.info.key


def pods_without_room(
    pending: Iterable[AutoscalerPod], snapshot: AutoscalerSnapshot, settings: AutoscalerSettings
) -> list[PendingPod]:
    """Pods that find room stay in the snapshot, where they take it from others."""
    waiting = []
    for pod in pending:
        if is_expendable(pod, settings.expendable_priority):
            continue
        info = snapshot.compile(pod)
        slot = snapshot.cluster.slots.get(pod.status.nominated_node_name)
        if slot is None:
            waiting.append(PendingPod(pod, info))
        else:
            # It has made room for itself by preemption.
            snapshot.bind(info, slot)
    waiting.sort(key=lambda each: -each.info.priority)
    return [each for each in _without_room(waiting, snapshot) if not is_daemon_set_pod(each.pod)]


def _without_room(pods: Iterable[PendingPod], snapshot: AutoscalerSnapshot) -> Iterable[PendingPod]:
    hopeless = SimilarPods()
    for each in pods:
        if hopeless.has_like(each.pod):
            yield each
        elif snapshot.schedule_anywhere(each.info) < 0:
            hopeless.add(each.pod)
            yield each


def old_enough(pods: Iterable[PendingPod], now: datetime) -> list[PendingPod]:
    """Without the pods that ask to be given some more time."""
    return [each for each in pods if _age(each.pod, now) > _delay(each.pod)]


def _age(pod: AutoscalerPod, now: datetime) -> timedelta:
    created = pod.metadata.creation_timestamp
    return timedelta.max if created is None else now - moment(created)


def _delay(pod: AutoscalerPod) -> timedelta:
    """How old a pod must be; a delay that cannot be read is none."""
    return parse_duration(pod.metadata.annotations.get(_DELAY, "")) or timedelta()


def all_are_new(pods: Sequence[PendingPod], now: datetime, settings: AutoscalerSettings) -> bool:
    """Whether to wait for one more loop before anything is done for them."""
    if all(_age(each.pod, now) < _NEW for each in pods):
        return True
    gpu = [_age(each.pod, now) for each in pods if _asks_for_gpu(each.info)]
    return bool(gpu) and max(gpu) < settings.new_gpu_pod_time


def moments_of_help(pods: Iterable[PendingPod], settings: AutoscalerSettings) -> Iterator[datetime]:
    """When pods become old enough that something else may be done for them."""
    for each in pods:
        created = each.pod.metadata.creation_timestamp
        if created is not None:
            yield from (moment(created) + wait for wait in (_delay(each.pod), _NEW, settings.new_gpu_pod_time))


def _asks_for_gpu(info: PodInfo) -> bool:
    return any(name in GPU_RESOURCES for name, _ in info.requests.scalars)
