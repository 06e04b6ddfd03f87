"""The nodes of a plan: every bound pod starts, however many are due at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.plan import nodes
from mooring.plan.planner import PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.testing import node
from mooring.testing.workloads import deployment


def test_pods_that_are_due_at_once_all_start_at_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "MAX_WRITES_PER_PASS", 3)
    cluster = SimulatedCluster([node("n1", cpu="64")])
    plan = make_plan(cluster, [PlannedWorkload(deployment("web", 10), "")], "default", timedelta(hours=1))
    assert [pod.running for pod in plan.pods] == [timedelta(seconds=1)] * 10
