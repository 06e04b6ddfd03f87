"""How long a job and its cells may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.kube.durations import parse_duration

__all__ = ["MAX_RUN_TIME", "cell_time", "run_time"]

_DEFAULT: Final = timedelta(minutes=30)
MAX_RUN_TIME: Final = timedelta(days=365)


def run_time(spec: ValidationSpec) -> timedelta:
    """How long the job may take from its start, also waiting for a node."""
    return _limit(spec.timeout) or _DEFAULT


def cell_time(spec: ValidationSpec) -> timedelta | None:
    """How long one cell may take; as long as the job, if None."""
    return _limit(spec.cell_timeout) or None


def _limit(text: str) -> timedelta | None:
    """What was stored before there was a rule may be longer than any clock runs."""
    try:
        found = parse_duration(text)
    except OverflowError:
        return MAX_RUN_TIME
    return None if found is None else min(found, MAX_RUN_TIME)
