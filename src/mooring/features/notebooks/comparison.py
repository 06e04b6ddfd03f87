"""How a job wants outputs compared: by its comparisonConfig, or by annotations that came before there was one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from mooring.features.notebooks.api import names
from mooring.features.notebooks.api.checks import ComparisonConfig
from mooring.features.notebooks.api.jobs import NotebookValidationJob

__all__ = ["comparison_config"]

_WORDS: Final = {"true": True, "false": False}


def comparison_config(job: NotebookValidationJob) -> ComparisonConfig:
    """The spec counts alone where it says anything; annotations that cannot be read count as absent."""
    given = None if job.spec is None else job.spec.comparison_config
    return _annotated(job.metadata.annotations) if given is None else given


def _annotated(annotations: Mapping[str, str]) -> ComparisonConfig:
    found = ComparisonConfig()
    counts = annotations.get(names.IGNORE_EXECUTION_COUNT, annotations.get(names.IGNORE_EXECUTION_COUNTS, ""))
    patterns = annotations.get(names.TIMESTAMP_PATTERNS, "")
    return msgspec.structs.replace(
        found,
        strategy=annotations.get(names.COMPARISON_STRATEGY, found.strategy),
        floating_point_tolerance=annotations.get(names.NUMERIC_TOLERANCE, found.floating_point_tolerance),
        ignore_timestamps=_WORDS.get(annotations.get(names.IGNORE_TIMESTAMPS, ""), found.ignore_timestamps),
        ignore_execution_count=_WORDS.get(counts, found.ignore_execution_count),
        custom_timestamp_patterns=tuple(filter(None, map(str.strip, patterns.split(",")))),
    )
