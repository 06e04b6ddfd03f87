"""NotebookValidationJobs as a kind that makes pods: how `explain`, `plan` and snapshots read and tell them."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.core.types import Labels, ObjectMeta, View
from mooring.features.notebooks.api.names import API_VERSION, KIND, PLURAL
from mooring.features.notebooks.api.pod_config import JobVolume
from mooring.features.notebooks.api.scheduling import JobAffinity, JobToleration
from mooring.features.notebooks.editable import EDITABLE
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.kinds import WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster

__all__ = ["NOTEBOOK_PODS"]


class PlacedGit(View, frozen=True):
    url: str = ""
    ref: str = ""


class PlacedNotebook(View, frozen=True):
    git: PlacedGit = PlacedGit()
    path: str = ""


class PlacedResources(View, frozen=True):
    requests: Labels = msgspec.field(default_factory=dict)
    limits: Labels = msgspec.field(default_factory=dict)


class PlacedPodConfig(View, frozen=True):
    container_image: str = ""
    resources: PlacedResources | None = None
    volumes: tuple[JobVolume, ...] = ()
    tolerations: tuple[JobToleration, ...] = ()
    node_selector: Labels = msgspec.field(default_factory=dict)
    affinity: JobAffinity | None = None


class PlacedSpec(View, frozen=True):
    notebook: PlacedNotebook = PlacedNotebook()
    pod_config: PlacedPodConfig = PlacedPodConfig()


class PlacedJob(View, frozen=True):
    """A job, as far as placement asks."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PlacedSpec = PlacedSpec()


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    # Explaining anything else must not wait for what makes pods of jobs.
    from mooring.features.notebooks.expansion import expand_job

    return expand_job(value, namespace, cluster)


def _template_path(manifest: Object, labels: object) -> str:
    return "spec.podConfig"


NOTEBOOK_PODS: Final = WorkloadKind(
    API_VERSION,
    KIND,
    PLURAL,
    "nvj",
    PlacedJob,
    expand=_expand,
    template_path=_template_path,
    fields=EDITABLE,
    withdraws_pods=True,
    plan_note=(
        "a plan runs no notebook: it would run on the node that is shown; the end of its pod is assumed, and that "
        "Secrets and ConfigMaps are there"
    ),
)
