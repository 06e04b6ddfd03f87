"""How many replicas a metric asks for: the numbers that kube-controller-manager's own tests hold it to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from mooring.api.core.views import Pod
from mooring.builtin.podautoscaler.replica_count import (
    MetricError,
    PodMetric,
    ReplicaCount,
    Tolerances,
    by_usage,
    by_utilization,
    requests_of,
)
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
JUST_NOW = NOW - timedelta(seconds=20)


def member(
    name: str, *, start: datetime = LONG_AGO, ready: bool = True, phase: str = "Running", deleting: bool = False,
    request: str | None = "1", containers: tuple[str, ...] = ("app",), **spec: Any,
) -> Pod:  # fmt: skip
    resources = {"requests": {"cpu": request}} if request else {}
    obj: Object = {
        "metadata": {"name": name} | ({"deletionTimestamp": timestamp(NOW)} if deleting else {}),
        "spec": {"containers": [{"name": each, "resources": resources} for each in containers], **spec},
        "status": {
            "phase": phase,
            "startTime": timestamp(start),
            "conditions": [
                {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": timestamp(start)}
            ],
        },
    }
    return msgspec.convert(obj, Pod)


def pods(marks: str, requests: tuple[str, ...] = ()) -> list[Pod]:
    """A pod for each mark: `r`eady, `u`nready, `h`ot since its start, `f`ailed, `p`ending, `d`eleted."""
    made = []
    for index, mark in enumerate(marks):
        made.append(
            member(
                f"p{index}",
                start=JUST_NOW if mark == "h" else LONG_AGO,
                ready=mark not in "uf",
                phase={"f": "Failed", "p": "Pending"}.get(mark, "Running"),
                deleting=mark == "d",
                request=requests[index] if requests else "1",
            )
        )
    return made


def levels(*values: int) -> dict[str, PodMetric]:
    return {f"p{index}": PodMetric(value, NOW, timedelta(seconds=30)) for index, value in enumerate(values)}


USUAL = Tolerances()


@pytest.mark.parametrize(
    ("why", "marks", "used", "target", "expected"),
    [
        ("usage above the target adds", "rrr", (300, 500, 700), 30, (5, 50)),
        ("an unready pod is taken to use nothing", "urr", (300, 500, 700), 30, (4, 60)),
        ("so is one that is hot from its start", "hrr", (300, 500, 700), 30, (4, 60)),
        ("unready pods can take the reason away", "ruu", (400, 500, 700), 30, (3, 40)),
        ("failed pods are no pods", "rrff", (500, 700), 30, (4, 60)),
        ("deleted pods are no pods", "rrdd", (500, 700), 30, (4, 60)),
        ("usage below the target takes away", "rrrrr", (100, 300, 500, 250, 250), 50, (3, 28)),
        ("unready pods are left out of it", "rrruu", (100, 300, 500, 250, 250), 50, (2, 30)),
        ("hot pods are left out of it", "rrrhh", (100, 300, 500, 250, 250), 50, (2, 30)),
        ("pods that wait for a node are left out of it", "rpppp", (100,), 50, (1, 10)),
        ("a metric of a pod that is gone does not count", "rrrr", (4000, 9500, 3000, 7000, 3200, 2000), 100, (24, 587)),
        ("a pod without metrics uses all on the way down", "rrrr", (400, 95), 100, (3, 24)),
        ("a pod without metrics holds what is on target", "rr", (1000,), 100, (2, 100)),
        ("a pod without metrics holds what is above", "rr", (1900,), 100, (2, 190)),
        ("a pod without metrics holds what is below", "rr", (600,), 100, (2, 60)),
        ("an unready pod and one without metrics hold", "urr", (100, 450), 50, (3, 45)),
        ("an unready pod and one without metrics slow the way up", "urr", (100, 2000), 50, (4, 200)),
        ("an unready pod and one without metrics slow the way down", "urrr", (100, 100, 100), 50, (3, 10)),
        ("above 100 % a pod without metrics is on target", "rrrr", (600, 1000), 200, (3, 80)),
    ],
)
def test_utilization_asks_for_replicas(
    why: str, marks: str, used: tuple[int, ...], target: int, expected: tuple[int, int]
) -> None:
    current = len(marks.replace("f", "").replace("d", ""))
    found = by_utilization(current, target, "cpu", USUAL, pods(marks), levels(*used), "", NOW)
    assert (found.replicas, found.utilization) == expected


def test_a_little_above_the_target_is_within_the_tolerance() -> None:
    made = pods("rrr", ("0.9", "1.0", "1.1"))
    metrics = levels(1010, 1030, 1020)
    assert by_utilization(3, 100, "cpu", USUAL, made, metrics, "", NOW) == ReplicaCount(3, 1020, 102)
    assert by_utilization(3, 100, "cpu", Tolerances(0.1, 0.01), made, metrics, "", NOW).replicas == 4


def test_unready_pods_that_use_nothing_can_bring_the_average_within_the_tolerance() -> None:
    metrics = levels(300, 800, 800)
    assert by_utilization(3, 50, "cpu", USUAL, pods("urr"), metrics, "", NOW) == ReplicaCount(3, 800, 80)
    assert by_utilization(3, 50, "cpu", Tolerances(0.1, 0.01), pods("urr"), metrics, "", NOW).replicas == 4


@pytest.mark.parametrize(
    ("tolerances", "used", "expected"),
    [
        (Tolerances(0.0, 0.0), (909, 1010, 1111), 4),
        (Tolerances(0.1, 2.0), (1890, 1910, 1900), 3),
        (Tolerances(2.0, 0.08), (1100, 1080, 1090), 4),
        (Tolerances(0.36, 0.1), (660, 640, 650), 3),
        (Tolerances(0.34, 0.1), (660, 640, 650), 2),
    ],
)
def test_each_direction_has_its_tolerance(tolerances: Tolerances, used: tuple[int, ...], expected: int) -> None:
    assert by_utilization(3, 100, "cpu", tolerances, pods("rrr"), levels(*used), "", NOW).replicas == expected


def test_memory_counts_from_the_start() -> None:
    made = [member("p0", start=JUST_NOW, ready=False)]
    found = by_usage(1, 100_000, "memory", USUAL, made, levels(300_000), NOW)
    assert found == ReplicaCount(3, 300_000)


@pytest.mark.parametrize(
    ("why", "used", "current", "target", "expected"),
    [
        ("above", (20_000, 10_000, 30_000), 3, 15_000, ReplicaCount(4, 20_000)),
        ("below", (12_000, 12_000, 12_000, 12_000, 12_000), 5, 20_000, ReplicaCount(3, 12_000)),
        ("a little above", (20_000, 21_000, 21_000), 3, 20_000, ReplicaCount(3, 20_666)),
        ("on target with a pod that is not measured", (1_000, 1_000), 3, 1_000, ReplicaCount(3, 1_000)),
        ("above with a pod that is not measured", (2_000, 2_000), 3, 1_000, ReplicaCount(4, 2_000)),
    ],
)
def test_a_target_for_the_average_pod_asks_for_replicas(
    why: str, used: tuple[int, ...], current: int, target: int, expected: ReplicaCount
) -> None:
    assert by_usage(current, target, "", USUAL, pods("r" * current), levels(*used), NOW) == expected


@pytest.mark.parametrize(
    ("made", "metrics", "problem"),
    [
        ([], levels(1), "no pods returned by selector while calculating replica count"),
        (pods("u"), levels(100), "did not receive metrics for targeted pods (pods might be unready)"),
        (pods("r"), {"older": PodMetric(100, NOW, timedelta(0))}, "no metrics returned matched known pods"),
        ([member("p0", request=None)], levels(1), "missing request for cpu in container app of Pod p0"),
    ],
)
def test_what_cannot_be_computed_says_why(made: list[Pod], metrics: dict[str, PodMetric], problem: str) -> None:
    with pytest.raises(MetricError) as caught:
        by_utilization(max(1, len(made)), 100, "cpu", USUAL, made, metrics, "", NOW)
    assert str(caught.value) == problem


def test_requests_are_those_of_the_pod_its_containers_or_one_of_them() -> None:
    two = member("p", request="100m", containers=("app", "sidecar"))
    assert requests_of([two], "", "cpu") == {"p": 200}
    assert requests_of([two], "sidecar", "cpu") == {"p": 100}
    whole = member("p", request=None, resources={"requests": {"cpu": "800m"}})
    assert requests_of([whole], "", "cpu") == {"p": 800}
    always = [{"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}}, {"name": "once"}]
    assert requests_of([member("p", request="100m", initContainers=always)], "", "cpu") == {"p": 150}
    with pytest.raises(MetricError, match="container gone not found in Pod p"):
        requests_of([two], "gone", "cpu")
