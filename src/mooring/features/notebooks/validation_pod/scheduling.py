"""The scheduling fields of a job in its pod: order kept, nothing merged, nothing invented."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.features.notebooks.api.pod_config import PodConfig
from mooring.features.notebooks.api.scheduling import JobAffinity, JobToleration
from mooring.features.notebooks.plain import plain
from mooring.kube.objects import Object

__all__ = ["affinity_object", "scheduling_fields", "toleration_objects"]


def scheduling_fields(config: PodConfig) -> Object:
    """What goes into the spec of the pod. An empty list or map is absent; an empty affinity is an empty affinity."""
    fields: Object = {}
    if config.tolerations:
        fields["tolerations"] = toleration_objects(config.tolerations)
    if config.node_selector:
        fields["nodeSelector"] = dict(config.node_selector)
    if config.affinity is not None:
        fields["affinity"] = affinity_object(config.affinity)
    return fields


def toleration_objects(tolerations: Iterable[JobToleration]) -> list[Object]:
    """An absent `tolerationSeconds` tolerates for ever, and 0 not at all: the one is no default of the other."""
    return [{name: value for name, value in plain(each).items() if value not in ("", None)} for each in tolerations]


def affinity_object(affinity: JobAffinity) -> Object:
    made: Object = plain(affinity)
    return made
