"""The pod that a NotebookValidationJob would make, without a cluster that runs its controller."""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from mooring.api.crds.resource import definition
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import KIND
from mooring.features.notebooks.defaults import default_job
from mooring.features.notebooks.definition import NOTEBOOK_VALIDATION_JOBS
from mooring.features.notebooks.unavailable import build_status, unavailable_warnings
from mooring.features.notebooks.validation.job import validate_job
from mooring.features.notebooks.validation_pod.pod import spec_of, validation_pod
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, apply_defaults, prune, structural_schema, unknown_fields, validate
from mooring.placement.workloads.expansion import Expansion, WorkloadError
from mooring.placement.workloads.known_cluster import KnownCluster

__all__ = ["expand_job"]

_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


def expand_job(value: Object, namespace: str, known: KnownCluster) -> Expansion:
    """What the API would refuse is told in its words, without a pod. Raises WorkloadError."""
    metadata = value.get("metadata") or {}
    name, home = metadata.get("name") or "", metadata.get("namespace") or namespace
    if not name:
        raise WorkloadError(f"a {KIND} needs a name", "metadata.name")
    schema = _schema()
    notes = tuple(f"{each}; the API drops it" for each in unknown_fields(schema, value))
    obj = apply_defaults(schema, prune(schema, {key: part for key, part in value.items() if key != "status"}))
    found = Expansion(KIND, home, name, [], notes=notes, template_path="spec.podConfig")
    if errors := validate(schema, obj):
        return found._replace(errors=tuple(errors))
    identity = {**metadata, "namespace": home, "uid": metadata.get("uid") or _NOBODY}
    job = msgspec.convert(default_job({**obj, "metadata": identity}), NotebookValidationJob)
    if errors := validate_job(job):
        return found._replace(errors=tuple(errors))
    spec = spec_of(job)
    if (build := build_status(spec)) is not None:
        return found._replace(notes=notes, waits=build.message)
    return found._replace(pods=[validation_pod(job)], notes=(*notes, *unavailable_warnings(spec)))


@cache
def _schema() -> Schema:
    (version,) = definition(NOTEBOOK_VALIDATION_JOBS)["spec"]["versions"]
    return structural_schema(version["schema"]["openAPIV3Schema"])
