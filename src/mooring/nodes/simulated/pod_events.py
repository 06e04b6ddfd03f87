"""The ContainerCreating status and the events that a kubelet writes while it starts and stops a pod.

No controller depends on these writes, so the annotation `mooring.dev/quiet` of a node leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mooring.api.core.views import Container, Pod
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.nodes.simulated.containers import container_status
from mooring.runtime.decision import Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.conditions import pod_conditions
from mooring.workloads.kinds import POD

CREATING: Final = ("ContainerCreating", "PodInitializing")
_READINESS: Final = ("Ready", "ContainersReady")


def creating(pod: Pod, view: View) -> Patch:
    """The status of a pod that was bound, and whose containers are being created."""
    inits = pod.spec.init_containers or ()
    prepares = any(each.restart_policy != "Always" for each in inits)
    initialized = Condition("Initialized", "True")
    if prepares:
        initialized = _unmet("Initialized", "ContainersNotInitialized", "incomplete", inits)
    wanted = (
        Condition("PodReadyToStartContainers", "False"),
        initialized,
        *(_unmet(kind, "ContainersNotReady", "unready", pod.spec.containers or ()) for kind in _READINESS),
    )
    waiting = {"waiting": {"reason": CREATING[prepares]}}
    body: Object = {
        "phase": "Pending",
        "containerStatuses": [container_status(each, waiting, ready=False) for each in pod.spec.containers or ()],
    }
    conditions = pod_conditions(pod, view.now, *wanted)
    if conditions is not None:
        body["conditions"] = conditions
    if inits:
        body["initContainerStatuses"] = [container_status(each, waiting, ready=False) for each in inits]
    return status(POD, pod, body)


def _unmet(kind: str, reason: str, lacking: str, containers: Iterable[Container]) -> Condition:
    names = " ".join(each.name for each in containers)
    message = f"containers with {lacking} status: [{names}]"
    return Condition(kind, "False", reason, message)


def is_being_created(pod: Pod) -> bool:
    """Whether all its containers wait with ContainerCreating or PodInitializing."""
    return all(
        each.state.waiting is not None and each.state.waiting.reason in CREATING
        for each in pod.status.container_statuses
    )


def start_events(pod: Pod) -> list[Event]:
    containers = (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    pulled = [f'Container image "{each.image}" already present on machine and can be accessed by the pod'
              for each in containers]  # fmt: skip
    # A kubelet says the rest of each container too, in the same words.
    return [
        *(_event(pod, "Pulled", message) for message in dict.fromkeys(pulled)),
        _event(pod, "Created", "Container created"),
        _event(pod, "Started", "Container started"),
    ]


def stop_events(pod: Pod) -> list[Event]:
    if pod.status.phase != "Running":
        return []
    return [_event(pod, "Killing", f"Stopping container {each.name}") for each in pod.spec.containers or ()]


def _event(pod: Pod, reason: str, message: str) -> Event:
    return Event(POD, key_of(pod), "Normal", reason, message)
