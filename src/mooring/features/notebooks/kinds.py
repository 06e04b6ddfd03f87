"""The kinds that notebook validation reads and writes, beside those that all workloads share."""

from __future__ import annotations

from typing import Final

from mooring.api.kinds import Kind
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import API_VERSION, KIND

__all__ = ["NOTEBOOK_VALIDATION_JOB"]

NOTEBOOK_VALIDATION_JOB: Final = Kind(API_VERSION, KIND, NotebookValidationJob, optional=True)
