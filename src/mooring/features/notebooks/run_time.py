"""How long a job and its cells may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.kube.durations import parse_duration

__all__ = ["cell_time", "run_time"]

_DEFAULT: Final = timedelta(minutes=30)


def run_time(spec: ValidationSpec) -> timedelta:
    """How long the job may take from its start, also waiting for a node."""
    return parse_duration(spec.timeout) or _DEFAULT


def cell_time(spec: ValidationSpec) -> timedelta | None:
    """How long one cell may take; as long as the job, if None."""
    return parse_duration(spec.cell_timeout) or None
