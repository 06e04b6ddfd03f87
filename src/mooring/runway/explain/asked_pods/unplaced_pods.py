"""A pod that `explain` or `plan` asks about, and the object that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mooring.api.core.types import Pod
from mooring.kube.errors import FieldError
from mooring.kube.objects import Object

DEFAULT_SCHEDULER = "default-scheduler"


class PodSource(NamedTuple):
    """The object that a pod comes from: the Pod itself, or the workload that makes it."""

    kind: str
    namespace: str
    name: str
    template_path: str = ""
    file: str | None = None
    manifest: Object | None = None
    # Whether it is in the cluster already.
    live: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass
class UnplacedPod:
    """A pod to be explained as if it were not placed, with its validation errors and notes."""

    pod: Object
    view: Pod
    source: PodSource
    errors: Sequence[FieldError] = ()
    notes: list[str] = field(default_factory=list)
    # What cannot be known of the pod itself.
    unknowns: list[str] = field(default_factory=list)
    # Finds the workload to change instead of the pod; called only when there is advice.
    top_owner: Callable[[], PodSource | None] = lambda: None

    @property
    def key(self) -> str:
        return f"{self.view.metadata.namespace}/{self.view.metadata.name}"


def remarks(spec: Object, nodes: Container[str]) -> list[str]:
    """What to know of a pod that names its node. `nodes` are those of the cluster."""
    name = spec.get("nodeName")
    if not name:
        return []
    if name not in nodes:
        return [f"spec.nodeName is {name}, and there is no such node: the pod is taken for orphaned, and deleted"]
    return [f"spec.nodeName is set: no scheduler is asked, the kubelet of {name} takes the pod"]


def scheduler_unknowns(spec: Object) -> list[str]:
    """What another scheduler does with a pod is not for us to know."""
    scheduler = spec.get("schedulerName") or DEFAULT_SCHEDULER
    if scheduler == DEFAULT_SCHEDULER:
        return []
    return [f"what scheduler {scheduler} does with it; this is what {DEFAULT_SCHEDULER} would do"]
