"""How far a workload is, in words, as `plan` says of one that its horizon left on its way."""

from __future__ import annotations

import pytest

from mooring.builtin.feature import CONTROL_PLANE
from mooring.kube.objects import Object

REPLICAS = [("apps/v1", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet")]


@pytest.mark.parametrize(
    ("kind", "spec", "status", "said"),
    [
        *[(kind, {"replicas": 1200}, {"readyReplicas": 1}, "1 of 1,200 pods are ready") for kind in REPLICAS],
        *[(kind, {"replicas": 3}, {}, "0 of 3 pods are ready") for kind in REPLICAS],
        *[(kind, {"replicas": 3}, {"readyReplicas": 3}, "") for kind in REPLICAS],
        *[(kind, {"replicas": 0}, {}, "") for kind in REPLICAS],
        (("apps/v1", "DaemonSet"), {}, {"desiredNumberScheduled": 2, "numberReady": 1}, "1 of 2 pods are ready"),
        (("apps/v1", "DaemonSet"), {}, {}, ""),
        (("batch/v1", "Job"), {"completions": 5, "parallelism": 2}, {"succeeded": 4}, "4 of 5 pods have succeeded"),
        (("batch/v1", "Job"), {"parallelism": 2}, {}, "0 of 2 pods have succeeded"),
        (("batch/v1", "Job"), {}, {}, "0 of 1 pods have succeeded"),
        (("batch/v1", "Job"), {"completions": 5}, {"succeeded": 5}, ""),
    ],
)
def test_what_is_said_of_a_workload_on_its_way(kind: tuple[str, str], spec: Object, status: Object, said: str) -> None:
    assert CONTROL_PLANE.progress[kind]({"spec": spec, "status": status}) == said
