"""How a job wants outputs compared: by its comparisonConfig, or by annotations that came before there was one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from mooring.features.notebooks.api import names
from mooring.features.notebooks.api.checks import AMOUNT, STRATEGIES, ComparisonConfig
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.patterns import pattern_problem

__all__ = ["annotation_warnings", "comparison_config"]


def comparison_config(job: NotebookValidationJob) -> ComparisonConfig:
    """The spec counts alone where it says anything; an annotation that cannot be read counts as absent."""
    if job.spec is not None and job.spec.comparison_config is not None:
        return job.spec.comparison_config
    return msgspec.structs.replace(ComparisonConfig(), **_annotated(job)[0])


def annotation_warnings(job: NotebookValidationJob) -> tuple[str, ...]:
    """The annotations that do nothing, each with the reason."""
    if job.spec is not None and job.spec.comparison_config is not None:
        given = (name for name in _READERS if name in job.metadata.annotations)
        return tuple(f"metadata.annotations[{name}] is ignored: spec.comparisonConfig counts alone" for name in given)
    return _annotated(job)[1]


def _annotated(job: NotebookValidationJob) -> tuple[dict[str, Any], tuple[str, ...]]:
    found: dict[str, Any] = {}
    warnings = []
    for name, (field, read, wanted) in _READERS.items():
        text = job.metadata.annotations.get(name)
        if text is None:
            continue
        try:
            found[field] = read(text)
        except ValueError:
            warnings.append(f'metadata.annotations[{name}] is ignored: "{text}" is not {wanted}')
    return found, tuple(warnings)


def _strategy(text: str) -> str:
    if text not in STRATEGIES:
        raise ValueError(text)
    return text


def _amount(text: str) -> str:
    if not re.fullmatch(AMOUNT, text):
        raise ValueError(text)
    return text


def _switch(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _patterns(text: str) -> tuple[str, ...]:
    """One in each line: a regular expression may contain anything else."""
    found = tuple(filter(None, map(str.strip, text.splitlines())))
    if any(map(pattern_problem, found)):
        raise ValueError(text)
    return found


# By annotation: the field that it stands for, how it is read, and what it must be.
_READERS: Final[dict[str, tuple[str, Callable[[str], Any], str]]] = {
    names.COMPARISON_STRATEGY: ("strategy", _strategy, "exact or normalized"),
    names.NUMERIC_TOLERANCE: ("floating_point_tolerance", _amount, "a number such as 0.001"),
    names.IGNORE_TIMESTAMPS: ("ignore_timestamps", _switch, "true or false"),
    names.IGNORE_EXECUTION_COUNTS: ("ignore_execution_count", _switch, "true or false"),
    names.IGNORE_EXECUTION_COUNT: ("ignore_execution_count", _switch, "true or false"),
    names.TIMESTAMP_PATTERNS: ("custom_timestamp_patterns", _patterns, "a regular expression of Python in each line"),
}
