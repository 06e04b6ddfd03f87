"""One state gives phase and conditions, so that they never disagree."""

from __future__ import annotations

import pytest

from mooring.features.notebooks.api.status import ValidationStatus
from mooring.features.notebooks.conditions import FAILED, SUCCEEDED, JobState, conditions_of, moving, stalled


@pytest.mark.parametrize(
    ("state", "ready", "complete", "progressing"),
    [
        (moving(ValidationStatus(), "PodCreated", "x"), "False", "Unknown", "True"),
        (stalled(ValidationStatus(), "Unschedulable", "x"), "False", "Unknown", "False"),
        (JobState(SUCCEEDED, "ValidationComplete", "x", False), "True", "True", "False"),
        (JobState(FAILED, "NotebookExecutionFailed", "x", False), "False", "False", "False"),
    ],
)
def test_conditions_follow_from_the_state(state: JobState, ready: str, complete: str, progressing: str) -> None:
    found = conditions_of(state)
    assert [each.type for each in found] == ["Ready", "ValidationComplete", "Progressing"]
    assert [each.status for each in found] == [ready, complete, progressing]
    assert {each.reason for each in found} == {state.reason}


@pytest.mark.parametrize(
    ("phase", "landed", "shown"),
    [
        ("", False, "Initializing"),
        ("Pending", False, "Initializing"),
        ("Initializing", False, "Initializing"),
        ("Initializing", True, "ValidationRunning"),
        ("ValidationRunning", False, "ValidationRunning"),
        ("Running", False, "ValidationRunning"),
        ("Building", False, "ValidationRunning"),
        ("BuildComplete", False, "ValidationRunning"),
    ],
)
def test_a_job_runs_once_a_pod_has_landed_and_older_phases_are_read(phase: str, landed: bool, shown: str) -> None:
    assert moving(ValidationStatus(phase=phase), "PodCreated", "x", landed=landed).phase == shown
