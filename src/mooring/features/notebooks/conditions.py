"""What a job says of itself: one state gives the phase, the message and the conditions, so that they never disagree."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.api.meta import Condition
from mooring.features.notebooks.api.status import ValidationStatus

__all__ = ["FAILED", "FINAL_PHASES", "SUCCEEDED", "JobState", "conditions_of", "moving", "stalled"]

INITIALIZING: Final = "Initializing"
RUNNING: Final = "ValidationRunning"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
FINAL_PHASES: Final = frozenset({SUCCEEDED, FAILED})
# A phase that was once reached stays; the last three are what other controllers of the kind wrote.
_BEGUN: Final = frozenset({RUNNING, "Building", "BuildComplete", "Running"})

READY: Final = "Ready"
COMPLETE: Final = "ValidationComplete"
PROGRESSING: Final = "Progressing"


class JobState(NamedTuple):
    """`progressing` is False for a job that has ended, or that waits for somebody."""

    phase: str
    reason: str
    message: str
    progressing: bool


def moving(status: ValidationStatus, reason: str, message: str, *, landed: bool = False) -> JobState:
    """On its way. It runs from the moment that a pod is on a node; one that waits for a node does not."""
    return JobState(_phase(status, landed), reason, message, True)


def stalled(status: ValidationStatus, reason: str, message: str, *, landed: bool = False) -> JobState:
    """Waiting for something that will not happen by itself."""
    return JobState(_phase(status, landed), reason, message, False)


def conditions_of(state: JobState) -> tuple[Condition, Condition, Condition]:
    passed, ended = state.phase == SUCCEEDED, state.phase in FINAL_PHASES
    verdict = "True" if passed else "False" if ended else "Unknown"
    reason = COMPLETE if passed else state.reason
    return (
        Condition(READY, "True" if passed else "False", reason, state.message),
        Condition(COMPLETE, verdict, reason, state.message),
        Condition(PROGRESSING, "True" if state.progressing else "False", reason, state.message),
    )


def _phase(status: ValidationStatus, landed: bool) -> str:
    return RUNNING if landed or status.phase in _BEGUN else INITIALIZING
