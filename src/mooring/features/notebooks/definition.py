"""NotebookValidationJobs as a custom resource. `config/crd/` holds the definition that comes out of it."""

from __future__ import annotations

from typing import Final

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import GROUP, KIND, PLURAL, VERSION

__all__ = ["NOTEBOOK_VALIDATION_JOBS"]

NOTEBOOK_VALIDATION_JOBS: Final = CustomResource(
    GROUP,
    KIND,
    PLURAL,
    versions=(
        Version(
            VERSION,
            NotebookValidationJob,
            columns=(
                PrinterColumn("Phase", "string", ".status.phase"),
                PrinterColumn("Notebook", "string", ".spec.notebook.path"),
                AGE,
                PrinterColumn("Message", "string", ".status.message", priority=1),
            ),
        ),
    ),
    short_names=("nvj", "nvjob"),
)
