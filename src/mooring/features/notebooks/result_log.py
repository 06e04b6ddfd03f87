"""The result of a run, read from the log of its pod: whole or not at all.

Reading a log is an effect. What it found stands in the job's status: the cells and the comparison as the API has them,
and the verdict in the record of the effect. A log that cannot be read for now is read again, a few times.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from mooring.api.core.types import View as Typed
from mooring.api.kinds import key_of
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.status import CellDiff, CellResult, ComparisonResult
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB, ValidationPod
from mooring.features.notebooks.validation_pod.names import VALIDATOR
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.notebook_runner.frames import RESULT, FrameError, decode
from mooring.notebook_runner.result import EXIT_CODES, PASSED
from mooring.runtime.effects import Effect, PodLog, Report, Run
from mooring.runtime.view import View

__all__ = ["NO_RESULT", "READ_RESULT", "Reading", "RunVerdict", "read_result", "result_report"]

NO_RESULT: Final = "NoResult"
# A result takes 140 lines at most, and it comes last.
_LOG_LINES: Final = 400
_MAX_RESULT_BYTES: Final = 512 << 10
_FORMAT: Final = 1
_TIMEOUT: Final = timedelta(seconds=30)
# A node that is away for a moment is back by then; after the last one the result is given up.
_MAX_READS: Final = 6
_FIRST_RETRY: Final = timedelta(seconds=5)
_MODEL_DURATION: Final = timedelta(seconds=1)


_Index = Annotated[int, msgspec.Meta(ge=0)]


# As the API has them, and held against its enums: a status that it refuses would be lost with the whole report.
class _Cell(CellResult, frozen=True, omit_defaults=True):
    cell_index: _Index
    status: Literal["Success", "Failure", "Skipped"]


class _Diff(CellDiff, frozen=True, omit_defaults=True):
    cell_index: _Index
    cell_type: Literal["code", "markdown"]
    diff_type: Literal["output_mismatch", "execution_error", "missing_cell", "extra_cell"]
    severity: Literal["minor", "major", "critical"]


class _Comparison(ComparisonResult, frozen=True, omit_defaults=True):
    strategy: Literal["exact", "normalized", "fuzzy", "semantic"]
    result: Literal["matched", "failed", "skipped"]
    total_cells: _Index
    matched_cells: _Index
    mismatched_cells: _Index
    diffs: tuple[_Diff, ...] = ()


class _Result(Typed, frozen=True):
    """What the runner writes."""

    format: int
    outcome: str
    reason: str
    message: str
    results: tuple[_Cell, ...] = ()
    comparison_result: _Comparison | None = None


class RunVerdict(NamedTuple):
    """What a result says. Without one, `outcome` is NO_RESULT and the reason says what is wrong with the log."""

    outcome: str
    reason: str
    message: str


class Reading(NamedTuple):
    """The verdict, if it is there; the log that is to be read; and why it is given up."""

    verdict: RunVerdict | None = None
    runs: tuple[Run, ...] = ()
    given_up: str = ""


def read_result(view: View, job: NotebookValidationJob, pod: ValidationPod, effect: Effect[PodLog]) -> Reading:
    """How far the reading of a pod's log is."""
    uid = pod.metadata.uid
    record = job.status.effects.get(effect.name)
    pod_uid, _, number = ("", "", "0") if record is None else record.id.rpartition("/")
    if record is None or pod_uid != uid:
        return Reading(runs=(_run(job, pod, effect, 0),))
    reads = int(number) + 1
    if record.phase == "Succeeded":
        outcome, _, reason = record.output.partition("/")
        return Reading(RunVerdict(outcome, reason, record.message))
    if record.phase == "Started":
        began = _moment(record.started_at, view.now)
        # A reader that went without a report leaves its record behind.
        if not view.reached(began + 2 * effect.timeout):
            return Reading(runs=(_run(job, pod, effect, reads - 1),))
        ended, problem = began + 2 * effect.timeout, "reading it takes too long"
    else:
        ended, problem = _moment(record.finished_at, view.now), record.message
    if reads >= _MAX_READS:
        return Reading(given_up=f"the log of pod {pod.metadata.name} could not be read {reads} times: {problem}")
    if not view.reached(ended + _FIRST_RETRY * 2 ** (reads - 1)):
        return Reading()
    return Reading(runs=(_run(job, pod, effect, reads),))


def _run(job: NotebookValidationJob, pod: ValidationPod, effect: Effect[PodLog], number: int) -> Run:
    log = PodLog(pod.metadata.namespace, pod.metadata.name, VALIDATOR, _LOG_LINES)
    return Run(effect, NOTEBOOK_VALIDATION_JOB, key_of(job), f"{pod.metadata.uid}/{number}", log)


def _moment(text: str | None, otherwise: datetime) -> datetime:
    return moment(text) if text else otherwise


def result_report(log: PodLog, text: str, problem: str) -> Report:
    """What a log says. `problem` is why it could not be read."""
    if problem:
        return Report("Failed", message=problem)
    where = f"pod {log.namespace}/{log.pod}"
    try:
        found = msgspec.json.decode(decode(text, RESULT, _MAX_RESULT_BYTES), type=_Result)
    except (FrameError, msgspec.MsgspecError) as error:
        return _nothing(f"{where} ended without a readable result: {error}")
    if found.format != _FORMAT or found.outcome not in EXIT_CODES:
        return _nothing(f"the result of {where} has format {found.format} and outcome {found.outcome}, not known here")
    # By way of JSON, which has lists and no tuples.
    written = {"results": found.results, "comparisonResult": found.comparison_result}
    status: Object = msgspec.json.decode(msgspec.json.encode(written))
    verdict = f"{found.outcome}/{found.reason}"
    return Report("Succeeded", EXIT_CODES[found.outcome], verdict, found.message, status)


def _nothing(text: str) -> Report:
    """The log was read, and reading it again would find the same."""
    return Report("Succeeded", output=f"{NO_RESULT}/ResultMissing", message=text)


def _model(log: PodLog) -> tuple[timedelta, Report]:
    """In a plan nothing runs, so that there is nothing to be read."""
    return _MODEL_DURATION, _nothing(f"pod {log.namespace}/{log.pod} was simulated")


def is_passed(verdict: RunVerdict, exit_code: int) -> bool:
    """Only a runner that says so and ended so has passed a notebook."""
    return verdict.outcome == PASSED and exit_code == EXIT_CODES[PASSED]


READ_RESULT: Final = Effect("read-result", "pod-log", PodLog, _TIMEOUT, _model, parse=result_report)
