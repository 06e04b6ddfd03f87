"""What a run is asked for: settings.json, read and checked field by field."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from keyword import iskeyword
from typing import Any, Final

__all__ = [
    "LEVELS",
    "NORMALIZERS",
    "ComparisonRules",
    "ExpectedOutput",
    "RunnerSettings",
    "SettingsError",
    "ValidationRules",
]

NORMALIZERS: Final = ("timestamps", "addresses", "paths", "uuids", "ansi", "whitespace")
LEVELS: Final = ("learning", "development", "staging", "production")
STRATEGIES: Final = ("exact", "normalized")


class SettingsError(ValueError):
    """A setting that cannot be used; the sentence names the field and the value."""


@dataclass(frozen=True)
class ComparisonRules:
    """`spec.comparisonConfig`, with the defaults of the API."""

    strategy: str = "normalized"
    tolerance: Decimal = Decimal("0.0001")
    relative_tolerance: Decimal = Decimal(0)
    ignore_timestamps: bool = True
    ignore_execution_count: bool = True
    ignore_output_types: tuple[str, ...] = ()
    timestamp_patterns: tuple[str, ...] = ()
    normalizers: tuple[str, ...] = ()

    @staticmethod
    def from_data(data: dict[str, Any]) -> ComparisonRules:
        where = "comparison"
        patterns = _texts(data, "customTimestampPatterns", where)
        for number, pattern in enumerate(patterns):
            try:
                re.compile(pattern)
            except re.error as error:
                raise SettingsError(
                    f'{where}.customTimestampPatterns[{number}] "{pattern}" is no regular expression: {error}'
                ) from None
        normalizers = _texts(data, "normalizers", where)
        for name in normalizers:
            if name not in NORMALIZERS:
                raise SettingsError(f'{where}.normalizers has "{name}"; there are {", ".join(NORMALIZERS)}')
        return ComparisonRules(
            strategy=_choice(data, "strategy", where, STRATEGIES, "normalized"),
            tolerance=_tolerance(data, "floatingPointTolerance", where, "0.0001"),
            relative_tolerance=_tolerance(data, "relativeTolerance", where, "0"),
            ignore_timestamps=_flag(data, "ignoreTimestamps", where, True),
            ignore_execution_count=_flag(data, "ignoreExecutionCount", where, True),
            ignore_output_types=_texts(data, "ignoreOutputTypes", where),
            timestamp_patterns=patterns,
            normalizers=normalizers,
        )


@dataclass(frozen=True)
class ExpectedOutput:
    """One of `spec.validationConfig.expectedOutputs`."""

    cell: int
    type: str = ""
    shape: tuple[int, ...] = ()
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    not_empty: bool = False

    @staticmethod
    def from_data(data: dict[str, Any], where: str) -> ExpectedOutput:
        cell = data.get("cell")
        if not isinstance(cell, int) or isinstance(cell, bool) or cell < 0:
            raise SettingsError(f"{where}.cell is {json.dumps(cell)}; the index of a cell is needed, from 0 on")
        shape = str(data.get("shape") or "")
        try:
            sizes = tuple(int(part) for part in shape.strip("() ").rstrip(",").split(",")) if shape else ()
        except ValueError:
            raise SettingsError(f'{where}.shape "{shape}" is no shape such as -1,10') from None
        return ExpectedOutput(
            cell=cell,
            type=str(data.get("type") or ""),
            shape=sizes,
            minimum=_decimal(data, "minValue", where),
            maximum=_decimal(data, "maxValue", where),
            not_empty=_flag(data, "notEmpty", where, False),
        )


@dataclass(frozen=True)
class ValidationRules:
    """`spec.validationConfig`, with the defaults of the API."""

    level: str = "development"
    strict_mode: bool = False
    fail_on_stderr: bool = False
    fail_on_warnings: bool = False
    require_explicit_exit_codes: bool = False
    check_output_types: bool = False
    verify_assertions: bool = False
    detect_silent_failures: bool = True
    expected_outputs: tuple[ExpectedOutput, ...] = ()

    @staticmethod
    def from_data(data: dict[str, Any]) -> ValidationRules:
        where = "validation"
        expected = data.get("expectedOutputs") or []
        if not isinstance(expected, list) or not all(isinstance(each, dict) for each in expected):
            raise SettingsError(f"{where}.expectedOutputs is no list of objects")
        return ValidationRules(
            level=_choice(data, "level", where, LEVELS, "development"),
            strict_mode=_flag(data, "strictMode", where, False),
            fail_on_stderr=_flag(data, "failOnStderr", where, False),
            fail_on_warnings=_flag(data, "failOnWarnings", where, False),
            require_explicit_exit_codes=_flag(data, "requireExplicitExitCodes", where, False),
            check_output_types=_flag(data, "checkOutputTypes", where, False),
            verify_assertions=_flag(data, "verifyAssertions", where, False),
            detect_silent_failures=_flag(data, "detectSilentFailures", where, True),
            expected_outputs=tuple(
                ExpectedOutput.from_data(each, f"{where}.expectedOutputs[{number}]")
                for number, each in enumerate(expected)
            ),
        )


@dataclass(frozen=True)
class RunnerSettings:
    """One run."""

    notebook: str
    golden: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    timeout_seconds: float = 1800.0
    cell_timeout_seconds: float | None = None
    comparison: ComparisonRules = ComparisonRules()
    validation: ValidationRules = ValidationRules()
    output: str = ""

    @staticmethod
    def from_json(text: str | bytes) -> RunnerSettings:
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"the settings are no JSON: {error}") from None
        if not isinstance(data, dict) or not isinstance(data.get("notebook"), str) or not data["notebook"]:
            raise SettingsError("the settings name no notebook; give the path of one as notebook")
        parameters = _object(data, "parameters")
        for name in parameters:
            if not name.isidentifier() or iskeyword(name):
                raise SettingsError(f'parameters has "{name}", which is no name of a Python variable; rename it')
        return RunnerSettings(
            notebook=data["notebook"],
            golden=str(data.get("golden") or ""),
            parameters=parameters,
            timeout_seconds=_seconds(data, "timeoutSeconds", 1800.0),
            cell_timeout_seconds=_seconds(data, "cellTimeoutSeconds", 0.0) or None,
            comparison=ComparisonRules.from_data(_object(data, "comparison")),
            validation=ValidationRules.from_data(_object(data, "validation")),
            output=str(data.get("output") or ""),
        )


def _object(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SettingsError(f"{name} is no object")
    return found


def _seconds(data: dict[str, Any], name: str, default: float) -> float:
    found = data.get(name)
    if found is None:
        return default
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not found > 0:
        raise SettingsError(f"{name} is {json.dumps(found)}; give a number of seconds above 0")
    return float(found)


def _choice(data: dict[str, Any], name: str, where: str, choices: tuple[str, ...], default: str) -> str:
    found = data.get(name) or default
    if found not in choices:
        raise SettingsError(f'{where}.{name} is "{found}"; there are {", ".join(choices)}')
    return str(found)


def _flag(data: dict[str, Any], name: str, where: str, default: bool) -> bool:
    found = data.get(name)
    if found is None:
        return default
    if not isinstance(found, bool):
        raise SettingsError(f"{where}.{name} is {json.dumps(found)}; true or false is needed")
    return found


def _texts(data: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    found = data.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise SettingsError(f"{where}.{name} is no list of texts")
    return tuple(found)


def _decimal(data: dict[str, Any], name: str, where: str) -> Decimal | None:
    found = data.get(name)
    if found is None or found == "":
        return None
    try:
        value = Decimal(str(found))
    except InvalidOperation:
        raise SettingsError(f'{where}.{name} "{found}" is no number') from None
    if not value.is_finite():
        raise SettingsError(f'{where}.{name} "{found}" is no finite number')
    return value


def _tolerance(data: dict[str, Any], name: str, where: str, default: str) -> Decimal:
    found = _decimal(data, name, where)
    if found is None:
        return Decimal(default)
    if found < 0:
        raise SettingsError(f'{where}.{name} "{found}" is below 0')
    return found
