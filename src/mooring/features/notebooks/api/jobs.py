"""NotebookValidationJob: a notebook of a git repository, the pod that it runs in, and what is demanded of it."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Markers
from mooring.api.meta import AnnotatedMeta
from mooring.features.notebooks.api.checks import ComparisonConfig, ValidationConfig
from mooring.features.notebooks.api.model_validation import ModelValidation
from mooring.features.notebooks.api.pod_config import PodConfig
from mooring.features.notebooks.api.status import ValidationStatus

__all__ = ["GitSource", "NotebookSource", "NotebookValidationJob", "ValidationSpec"]

# Durations as Go writes them, without its smallest units.
_DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"


class GitSource(View, frozen=True):
    """A git repository."""

    url: Annotated[str, Markers("Where it is: https, http, git or ssh.", pattern=r"^((https?|git|ssh)://|git@).*$")]
    ref: Annotated[str, Markers("A branch, a tag or a commit.")]
    credentials_secret: Annotated[
        str,
        Markers(
            "A Secret in the job's namespace with ssh-privatekey, or with username and password or token. It is "
            "mounted into the container that clones, and read by nobody else."
        ),
    ] = ""


class NotebookSource(View, frozen=True):
    """A notebook of a git repository."""

    git: Annotated[GitSource, Markers("The repository.")]
    path: Annotated[str, Markers("The notebook, below the repository's root.", pattern=r"^.*\.ipynb$")]


class ValidationSpec(View, frozen=True):
    """What is run, where, and what is demanded of it."""

    notebook: Annotated[NotebookSource, Markers("The notebook that is run.")]
    pod_config: Annotated[PodConfig, Markers("The pod that it runs in.")]
    golden_notebook: Annotated[NotebookSource | None, Markers("The notebook whose outputs are expected.")] = None
    timeout: Annotated[
        str,
        Markers(
            "How long the job may take, from its start; also waiting for a node.", pattern=_DURATION, defaulted=True
        ),
    ] = "30m"
    comparison_config: Annotated[ComparisonConfig | None, Markers("How the two notebooks are compared.")] = None
    validation_config: Annotated[ValidationConfig | None, Markers("What makes the notebook fail.")] = None
    model_validation: Annotated[ModelValidation | None, Markers("The models that the notebook is about.")] = None
    parameters: Annotated[
        dict[str, Any],
        Markers("Values that are assigned after the cell with the tag parameters. A field of Mooring's."),
    ] = msgspec.field(default_factory=dict)
    cell_timeout: Annotated[str, Markers("How long one cell may take. A field of Mooring's.", pattern=_DURATION)] = ""
    ttl_seconds_after_finished: Annotated[
        Int32 | None,
        Markers("How long a finished job is kept; for ever if absent. A field of Mooring's.", minimum=0),
    ] = None


class NotebookValidationJob(View, frozen=True):
    """A notebook that is run once in a pod, cell by cell, and compared with a golden one."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ValidationSpec | None, Markers("What is run, where, and what is demanded of it.")] = None
    status: Annotated[ValidationStatus, Markers("What was seen last.")] = ValidationStatus()
