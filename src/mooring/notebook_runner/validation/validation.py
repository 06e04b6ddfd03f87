"""Which rules a level and its switches turn on, and which findings fail a notebook rather than warn.

| level | silent failures | exit codes | assertions | warnings | standard error | kinds of outputs |
|---|---|---|---|---|---|---|
| learning | warn | warn | warn | warn | warn | - |
| development | fail | - | warn | - | - | - |
| staging | fail | fail | warn | warn | - | - |
| production, strictMode | fail | fail | fail | fail | fail | fail |

A switch that is on fails at every level. `detectSilentFailures: false` turns that one rule off below production.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mooring.notebook_runner.settings import ValidationRules
from mooring.notebook_runner.validation.expected_outputs import expected_findings
from mooring.notebook_runner.validation.finding import RuleFinding
from mooring.notebook_runner.validation.output_types import output_type_findings
from mooring.notebook_runner.validation.silent_failures import silent_findings
from mooring.notebook_runner.validation.source_checks import assertion_findings, exit_code_findings
from mooring.notebook_runner.validation.standard_error import stderr_findings, warning_findings

__all__ = ["validated"]

_OFF: Final = 0
_WARN: Final = 1
_FAIL: Final = 2


def validated(
    executed: dict[str, Any], reached: int, rules: ValidationRules, reference: dict[str, Any]
) -> tuple[list[RuleFinding], list[RuleFinding]]:
    """Findings that fail the notebook, and those that only warn, each in the order of cells.

    `reference` is the golden notebook, otherwise the source as it was saved.
    """
    failures: list[RuleFinding] = list(expected_findings(executed, reached, rules.expected_outputs))
    warnings: list[RuleFinding] = []
    for weight, findings in _checks(executed, reached, rules, reference):
        if weight == _FAIL:
            failures += findings
        elif weight == _WARN:
            warnings += findings
    return sorted(failures, key=_place), sorted(warnings, key=_place)


def _checks(
    executed: dict[str, Any], reached: int, rules: ValidationRules, reference: dict[str, Any]
) -> Iterator[tuple[int, Iterator[RuleFinding]]]:
    strict = rules.strict_mode or rules.level == "production"
    learning, staging = rules.level == "learning" and not strict, rules.level == "staging"
    silent = _WARN if learning else _FAIL
    if not rules.detect_silent_failures and not strict:
        silent = _OFF
    yield silent, silent_findings(executed, reached)
    exits = _FAIL if strict or staging or rules.require_explicit_exit_codes else _WARN if learning else _OFF
    yield exits, exit_code_findings(executed, reached)
    yield _FAIL if strict or rules.verify_assertions else _WARN, assertion_findings(executed, reached)
    noise = _WARN if learning or staging else _OFF
    yield _FAIL if strict or rules.fail_on_warnings else noise, warning_findings(executed, reached)
    noise = _WARN if learning else _OFF
    yield _FAIL if strict or rules.fail_on_stderr else noise, stderr_findings(executed, reached)
    types = _FAIL if strict or rules.check_output_types else _OFF
    yield types, output_type_findings(executed, reached, reference)


def _place(finding: RuleFinding) -> int:
    return -1 if finding.cell is None else finding.cell
