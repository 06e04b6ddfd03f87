"""Everything that is refused in a job, collected, so that one answer tells all of it."""

from __future__ import annotations

from typing import Final

from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import JOB_LABEL
from mooring.features.notebooks.api.scheduling import NodeTerm
from mooring.features.notebooks.validation.checks import check_demands
from mooring.features.notebooks.validation.pod import check_pod
from mooring.features.notebooks.validation.sources import check_source
from mooring.features.notebooks.validation.volumes import check_volumes
from mooring.kube.errors import FieldError, invalid, required
from mooring.kube.selectors import parse_int64

__all__ = ["validate_job", "validate_job_update"]

Errors = list[FieldError]

_MAX_LABEL_CHARACTERS: Final = 63
_AFFINITY: Final = "spec.podConfig.affinity.nodeAffinity"


def validate_job(job: NotebookValidationJob) -> list[FieldError]:
    errors: Errors = []
    name = job.metadata.name
    if len(name) > _MAX_LABEL_CHARACTERS:
        detail = f"must have at most {_MAX_LABEL_CHARACTERS} characters, because pods carry it as the label {JOB_LABEL}"
        errors.append(invalid("metadata.name", name, detail))
    if job.spec is None:
        errors.append(required("spec", "a job needs a notebook and a podConfig"))
        return errors
    check_source(errors, job.spec.notebook, "spec.notebook")
    if job.spec.golden_notebook is not None:
        check_source(errors, job.spec.golden_notebook, "spec.goldenNotebook")
    check_demands(errors, job.spec)
    check_volumes(errors, job.spec.pod_config, "spec.podConfig")
    _check_numbers(errors, job)
    check_pod(errors, job)
    return errors


def validate_job_update(new: NotebookValidationJob, old: NotebookValidationJob) -> list[FieldError]:
    """What was wrong before and stays as it was keeps nobody from changing anything else."""
    before = set(map(str, validate_job(old)))
    return [error for error in validate_job(new) if str(error) not in before]


def _check_numbers(errors: Errors, job: NotebookValidationJob) -> None:
    """Gt and Lt compare integers. The API takes anything, and then no node ever matches."""
    affinity = None if job.spec is None else job.spec.pod_config.affinity
    node = None if affinity is None else affinity.node_affinity
    if node is None:
        return
    terms: list[tuple[str, NodeTerm]] = []
    if node.required is not None:
        path = f"{_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        terms += [(f"{path}[{index}]", term) for index, term in enumerate(node.required.node_selector_terms)]
    for index, weighted in enumerate(node.preferred):
        path = f"{_AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
        terms.append((path, weighted.preference))
    for path, term in terms:
        for index, expression in enumerate(term.match_expressions):
            if expression.operator not in ("Gt", "Lt") or len(expression.values) != 1:
                continue
            (value,) = expression.values
            if parse_int64(value) is None:
                detail = f"must be an integer, because {expression.operator} compares integers"
                errors.append(invalid(f"{path}.matchExpressions[{index}].values[0]", value, detail))
