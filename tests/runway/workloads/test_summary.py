"""What is said of a workload whose pods the API refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mooring.runway.fleet.records import FleetPod
from mooring.runway.workloads.records import workload_record
from mooring.runway.workloads.summary import workload_summary

REFUSED = 'pods "web-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1'


def summarized(*conditions: dict[str, Any], pods: Sequence[FleetPod] = ()) -> tuple[str, str]:
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "uid": "1"},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": 1, "conditions": list(conditions)},
    }
    found = workload_summary(workload_record(obj), 2, pods)
    return found.state, found.message


def test_a_refusal_is_told_before_anything_else() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": REFUSED}
    assert summarized(failure) == ("Pending", REFUSED)


def test_a_refusal_that_is_over_is_not_told() -> None:
    failure = {"type": "ReplicaFailure", "status": "False", "reason": "", "message": REFUSED}
    assert REFUSED not in summarized(failure)[1]


@pytest.mark.parametrize(
    "reason", ["CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError", ""]
)
def test_a_workload_whose_pod_cannot_run_has_failed_and_says_why(reason: str) -> None:
    broken = FleetPod("default", "web-1", "2", "", False, {}, None, "n1", "Running", False, 3, reason, "", 0, 0, {})
    assert summarized(pods=[broken]) == (("Failed", reason) if reason else ("Progressing", "1 of 2 pods are ready"))
