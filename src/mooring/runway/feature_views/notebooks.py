"""A notebook job for people: how far it is, and what became of every cell."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import plain
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import API_VERSION, KIND
from mooring.features.notebooks.api.status import CellResult, ComparisonResult
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.runway.shown import Shown
from mooring.runway.workloads.records import ConditionShown

__all__ = ["NOTEBOOK_KIND", "CellCounts", "NotebookDetail", "NotebookShown", "notebook_detail", "notebook_record"]

NOTEBOOK_KIND: Final = (API_VERSION, KIND)


class CellCounts(Shown, frozen=True):
    total: int
    succeeded: int
    failed: int
    skipped: int


class NotebookShown(Shown, frozen=True):
    """`phase` is the job's own word; `pod` the one that the notebook runs in, empty before there is one."""

    namespace: str
    name: str
    phase: str
    message: str
    notebook: str
    pod: str
    retries: int
    cells: CellCounts
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    comparison: str | None = None


class NotebookDetail(Shown, frozen=True):
    job: NotebookShown
    cells: tuple[CellResult, ...]
    conditions: tuple[ConditionShown, ...]
    comparison: ComparisonResult | None = None


def notebook_record(raw: msgspec.Raw) -> NotebookShown:
    return _shown(plain(raw))


def notebook_detail(obj: Object) -> NotebookDetail:
    status = _view(obj).status
    conditions = tuple(ConditionShown(each.type, each.status, each.reason, each.message) for each in status.conditions)
    return NotebookDetail(_shown(obj), status.results, conditions, status.comparison_result)


def _view(obj: Object) -> NotebookValidationJob:
    found: NotebookValidationJob = convert(obj, NotebookValidationJob)
    return found


def _shown(obj: Object) -> NotebookShown:
    job = _view(obj)
    status, results = job.status, job.status.results
    source, compared = None if job.spec is None else job.spec.notebook, job.status.comparison_result
    return NotebookShown(
        job.metadata.namespace,
        job.metadata.name,
        status.phase or "Pending",
        status.message,
        "" if source is None else f"{source.git.url}@{source.git.ref}:{source.path}",
        status.validation_pod_name,
        status.retry_count,
        CellCounts(len(results), _count(results, "Success"), _count(results, "Failure"), _count(results, "Skipped")),
        obj["metadata"].get("creationTimestamp") or "",
        obj.get("status", {}).get("startTime"),
        obj.get("status", {}).get("completionTime"),
        None if compared is None else compared.result,
    )


def _count(results: tuple[CellResult, ...], status: str) -> int:
    return sum(each.status == status for each in results)
