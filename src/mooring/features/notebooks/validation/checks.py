"""Limits, parameters and rules of comparison: what the runner could not use."""

from __future__ import annotations

import json
import math
import re
from datetime import timedelta
from keyword import iskeyword
from typing import Final

from mooring.features.notebooks.api.checks import ComparisonConfig
from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.features.notebooks.patterns import pattern_problem
from mooring.features.notebooks.run_time import MAX_RUN_TIME
from mooring.kube.durations import duration_text, parse_duration
from mooring.kube.errors import FieldError, invalid, too_long

__all__ = ["check_demands"]

Errors = list[FieldError]

# A ConfigMap holds 1 MiB, and the runner and its scripts want their part.
_MAX_PARAMETERS_BYTES: Final = 512 * 1024
_SHAPE: Final = re.compile(r"\(?\s*(?:-1|\d+)(?:\s*,\s*(?:-1|\d+))*\s*,?\s*\)?")


def check_demands(errors: Errors, spec: ValidationSpec) -> None:
    _check_limit(errors, spec.timeout, "spec.timeout")
    if spec.cell_timeout:
        _check_limit(errors, spec.cell_timeout, "spec.cellTimeout")
    for name in spec.parameters:
        if not name.isidentifier() or iskeyword(name):
            detail = "must be the name of a Python variable"
            errors.append(invalid(f"spec.parameters[{name}]", name, detail))
    if len(json.dumps(spec.parameters, ensure_ascii=False).encode()) > _MAX_PARAMETERS_BYTES:
        errors.append(too_long("spec.parameters", _MAX_PARAMETERS_BYTES))
    if spec.comparison_config is not None:
        _check_comparison(errors, spec.comparison_config)
    for index, expected in enumerate(spec.validation_config.expected_outputs if spec.validation_config else ()):
        here = f"spec.validationConfig.expectedOutputs[{index}]"
        if expected.shape and not _SHAPE.fullmatch(expected.shape.strip()):
            errors.append(invalid(f"{here}.shape", expected.shape, "must be sizes such as -1,10, where -1 is any"))
        low, high = expected.min_value, expected.max_value
        if low and high and float(low) > float(high):
            errors.append(invalid(f"{here}.minValue", low, f"must not be greater than maxValue, {high}"))


def _check_limit(errors: Errors, text: str, path: str) -> None:
    try:
        found = parse_duration(text)
    except OverflowError:
        found = timedelta.max
    if found is None:
        errors.append(invalid(path, text, "must be a duration such as 90s, 30m or 1h30m"))
    elif not timedelta() < found <= MAX_RUN_TIME:
        errors.append(invalid(path, text, f"must be more than 0s and at most {duration_text(MAX_RUN_TIME)}"))


def _check_comparison(errors: Errors, config: ComparisonConfig) -> None:
    path = "spec.comparisonConfig"
    for name, text in (
        ("floatingPointTolerance", config.floating_point_tolerance),
        ("relativeTolerance", config.relative_tolerance),
    ):
        if text and not math.isfinite(float(text)):
            errors.append(invalid(f"{path}.{name}", text, "must be a number that is not infinite"))
    for index, pattern in enumerate(config.custom_timestamp_patterns):
        if problem := pattern_problem(pattern):
            errors.append(invalid(f"{path}.customTimestampPatterns[{index}]", pattern, problem))
