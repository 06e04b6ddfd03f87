"""From what metrics ask for to what is done: windows, rates and bounds, by the numbers of kube-controller-manager."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from mooring.api.autoscaling.views import AutoscalerSpec
from mooring.builtin.podautoscaler.normalization import Recommendation, ReplicaChange, ScalingHistory, normalized
from mooring.kube.objects import Object

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def recommended(*pairs: tuple[int, float]) -> ScalingHistory:
    return ScalingHistory(tuple(Recommendation(replicas, ago(seconds)) for replicas, seconds in pairs))


def changed(*pairs: tuple[int, float]) -> ScalingHistory:
    return ScalingHistory((), tuple(ReplicaChange(by, ago(seconds)) for by, seconds in pairs))


def pods(value: int, seconds: int = 60) -> Object:
    return {"type": "Pods", "value": value, "periodSeconds": seconds}


def percent(value: int, seconds: int = 60) -> Object:
    return {"type": "Percent", "value": value, "periodSeconds": seconds}


NONE = ScalingHistory()
UP = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [pods(4, 15), percent(100, 15)]}
DOWN = {"selectPolicy": "Max", "policies": [percent(100, 15)]}


def spec(least: int = 1, most: int = 1000, up: Object | None = None, down: Object | None = None) -> AutoscalerSpec:
    behavior = {"scaleUp": {**UP, **(up or {})}, "scaleDown": {**DOWN, **(down or {})}}
    bounds: Object = {"minReplicas": least, "maxReplicas": most}
    return msgspec.convert(
        bounds | ({"behavior": behavior} if up is not None or down is not None else {}), AutoscalerSpec
    )


@pytest.mark.parametrize(
    ("why", "wanted", "current", "desired", "history", "expected"),
    [
        ("four pods, or twice as many, in a step", spec(), 1, 40, NONE, (4, "ScaleUpLimit")),
        ("twice as many from three on", spec(), 10, 40, NONE, (20, "ScaleUpLimit")),
        ("no more than the maximum", spec(most=12), 10, 40, NONE, (12, "TooManyReplicas")),
        ("no fewer than the minimum", spec(least=3), 5, 1, NONE, (3, "TooFewReplicas")),
        ("the most of the last five minutes", spec(), 8, 2, recommended((6, 299)), (6, "DesiredWithinRange")),
        ("and nothing older", spec(), 8, 2, recommended((6, 301)), (2, "DesiredWithinRange")),
        ("the usual behavior adds as much", spec(up={}), 1, 40, NONE, (5, "ScaleUpLimit")),
        ("what was added in the period counts", spec(up={"policies": [pods(6)]}), 10, 40, changed((4, 30)),
         (12, "ScaleUpLimit")),
        ("what was added before it does not", spec(up={"policies": [pods(6)]}), 10, 40, changed((4, 61)),
         (16, "ScaleUpLimit")),
        ("what was taken away gives room", spec(up={"policies": [pods(6)]}), 10, 40, changed((-3, 30)),
         (19, "ScaleUpLimit")),
        ("more than allowed was added already", spec(up={"policies": [pods(2)]}), 10, 40, changed((4, 30)),
         (10, "ScaleUpLimit")),
        ("the smaller of two policies", spec(up={"selectPolicy": "Min", "policies": [pods(2), percent(100)]}), 10, 40,
         NONE, (12, "ScaleUpLimit")),
        ("the larger of two policies", spec(up={"policies": [pods(2), percent(100)]}), 10, 40, NONE,
         (20, "ScaleUpLimit")),
        ("a percentage is rounded up", spec(up={"policies": [percent(10)]}), 1, 40, NONE, (2, "ScaleUpLimit")),
        ("adding is off", spec(up={"selectPolicy": "Disabled"}), 10, 40, NONE, (10, "ScaleUpLimit")),
        ("taking away by pods", spec(down={"policies": [pods(3)]}), 10, 1, NONE, (7, "ScaleDownLimit")),
        ("taking away by percent", spec(down={"policies": [percent(25)]}), 10, 1, NONE, (7, "ScaleDownLimit")),
        ("taking away the least", spec(down={"selectPolicy": "Min", "policies": [pods(3), percent(50)]}), 10, 1,
         NONE, (7, "ScaleDownLimit")),
        ("what was taken away in the period counts", spec(down={"policies": [pods(5)]}), 10, 1, changed((-4, 30)),
         (9, "ScaleDownLimit")),
        ("taking away is off", spec(down={"selectPolicy": "Disabled"}), 10, 1, NONE, (10, "ScaleDownLimit")),
        ("a window for adding takes the least of it", spec(up={"stabilizationWindowSeconds": 60}), 5, 9,
         recommended((6, 30)), (6, "DesiredWithinRange")),
        ("a window of nothing takes the last", spec(down={"stabilizationWindowSeconds": 0}), 9, 2,
         recommended((9, 1)), (2, "DesiredWithinRange")),
        ("without a window it is five minutes", spec(down={}), 9, 2, recommended((9, 299)), (9, "DesiredWithinRange")),
        ("between two windows nothing moves", spec(up={"stabilizationWindowSeconds": 300}, down={}), 5, 5,
         recommended((2, 10), (9, 10)), (5, "DesiredWithinRange")),
    ],
)  # fmt: skip
def test_what_is_allowed(
    why: str, wanted: AutoscalerSpec, current: int, desired: int, history: ScalingHistory, expected: tuple[int, str]
) -> None:
    found = normalized(wanted, current, desired, history, NOW)
    assert (found.replicas, found.reason) == expected


def test_what_is_remembered_ends_with_the_longest_window() -> None:
    history = ScalingHistory().recommending(3, ago(3601)).recommending(4, ago(10)).recommending(5, NOW)
    assert [each.replicas for each in history.recommendations] == [4, 5]
    assert ScalingHistory().changing(1, ago(3601)).changing(2, NOW).changes == (ReplicaChange(2, NOW),)
