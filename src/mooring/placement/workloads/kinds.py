"""The kinds whose objects make pods, as `explain`, `plan` and snapshots know them: one entry per kind.

The built-in ones stand here; a feature declares entries for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, Final, NamedTuple

from mooring.kube.objects import Object
from mooring.placement.pods import Owner
from mooring.placement.workloads.cron_jobs import TEMPLATE_PATH, expand_cron_job, is_of_cron_job
from mooring.placement.workloads.expansion import Expansion, expand
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.placement.workloads.owners import PlacedCronJob, PlacedReplicationController, Workload

__all__ = ["BUILT_IN", "Unit", "WorkloadKind"]

Labels = Mapping[str, str]


def _one_template(manifest: Object, labels: Labels) -> str:
    return "spec.template"


def _owned_directly(expansion: Expansion, owner: Owner) -> bool:
    return owner.kind == expansion.kind and owner.name == expansion.name


def _no_selection(value: Object, namespace: str, cluster: KnownCluster) -> None:
    return None


def _runs_no_job(manifest: Object) -> Object | None:
    return None


_TEMPLATE: Final[Mapping[str, str]] = {}


def _all_editable(manifest: Object) -> tuple[str, ...]:
    return ()


def _as_it_is(owned: Object) -> Object:
    return owned


class Unit(NamedTuple):
    """What lands as a whole or is of no use, such as a group of pods, and which one a pod is part of."""

    plural: str
    of: Callable[[Labels], str]


class WorkloadKind(NamedTuple):
    api_version: str
    kind: str
    plural: str
    short: str
    # How an object is read from a cluster or a snapshot: only the fields that decide where its pods land.
    view: type[Any]
    # The pods that an object stands for, given the namespace of objects that name none and the cluster it would be in.
    # Raises WorkloadError, or msgspec.ValidationError for a value of the wrong type.
    expand: Callable[[Object, str, KnownCluster], Expansion] = expand
    # The nodes that an object chooses, for a kind that chooses. It is asked with the same, and raises the same.
    select: Callable[[Object, str, KnownCluster], NodeSelection | None] = _no_selection
    # Whether a pod with this controlling owner comes from the workload that was expanded.
    owns: Callable[[Expansion, Owner], bool] = _owned_directly
    # Where the template of a pod with these labels stands in the manifest.
    template_path: Callable[[Object, Labels], str] = _one_template
    unit: Unit | None = None
    # The parts of a pod, as JSON pointers, that its author cannot edit because the controller decides about them.
    fixed: Callable[[Object], tuple[str, ...]] = _all_editable
    # Whether fewer replicas can be asked for.
    scales: bool = False
    # For a kind without a template: where the parts of a pod that its author can edit stand in the object, both as
    # JSON pointers. No other part can be edited.
    fields: Mapping[str, str] = _TEMPLATE
    # Whether a change of the template does nothing to pods that are there, so that no command can be given for them.
    create_only: bool = False
    # Whether it makes no pods before the nodes that it needs are there, and tells how many it waits for.
    waits_for_nodes: bool = False
    # Whether its controller takes back pods that no node can take, and tells what they waited for.
    withdraws_pods: bool = False
    # Whether its pods are made at moments that a plan does not wait for.
    runs_later: bool = False
    # What a plan cannot know of its objects, in a sentence.
    plan_note: str = ""
    # The spec of the Job that an object is or runs, whose pods end and make room for others.
    job_spec: Callable[[Object], Object | None] = _runs_no_job
    # What a snapshot leaves out of an object that the workload owns and its controllers go by, put back for a plan.
    restored: Callable[[Object], Object] = _as_it_is

    def whole_units(self, pods: Mapping[str, Labels], there: Container[str]) -> tuple[int, int]:
        """How many units, or pods, of the pods by their keys are there as a whole, and how many there should be."""
        whole: dict[str, bool] = {}
        for key, labels in pods.items():
            unit = key if self.unit is None else self.unit.of(labels)
            whole[unit] = whole.get(unit, True) and key in there
        return sum(whole.values()), len(whole)

    @property
    def chooses_nodes(self) -> bool:
        return self.select is not _no_selection

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


def _of_deployment(expansion: Expansion, owner: Owner) -> bool:
    # A Deployment's ReplicaSets are called by its name and a hash, which has no dash.
    return owner.kind == "ReplicaSet" and owner.name.rpartition("-")[0] == expansion.name


BUILT_IN: Final = (
    WorkloadKind("v1", "Pod", "pods", "po", Workload, template_path=lambda manifest, labels: ""),
    WorkloadKind("apps/v1", "Deployment", "deployments", "deploy", Workload, owns=_of_deployment, scales=True),
    WorkloadKind("apps/v1", "ReplicaSet", "replicasets", "rs", Workload, scales=True),
    WorkloadKind("apps/v1", "StatefulSet", "statefulsets", "sts", Workload, scales=True),
    WorkloadKind(
        "batch/v1", "Job", "jobs", "job", Workload, scales=True, job_spec=lambda manifest: manifest.get("spec")
    ),
    WorkloadKind(
        "batch/v1",
        "CronJob",
        "cronjobs",
        "cj",
        PlacedCronJob,
        expand=expand_cron_job,
        owns=is_of_cron_job,
        template_path=lambda manifest, labels: TEMPLATE_PATH,
        job_spec=lambda manifest: manifest["spec"]["jobTemplate"].get("spec"),
        runs_later=True,
    ),
    WorkloadKind(
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        "rc",
        PlacedReplicationController,
        scales=True,
    ),
)
