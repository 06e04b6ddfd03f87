"""What a RuntimeClass makes of a pod's spec."""

from __future__ import annotations

import pytest

from mooring.api.node.admission import check_overhead, merge_tolerations, with_runtime_class
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

EXISTS = {"key": "gpu", "operator": "Exists"}
EQUAL = {"key": "gpu", "operator": "Equal", "value": "a"}
BARE = {"key": "gpu", "value": "a"}


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ([], [], []),
        ([EQUAL], [EQUAL], [EQUAL]),
        ([EQUAL], [EXISTS], [EXISTS]),
        ([EXISTS], [EQUAL], [EXISTS]),
        ([BARE], [EQUAL], [BARE]),
        ([EQUAL], [{"operator": "Exists"}], [{"operator": "Exists"}]),
        ([{**EQUAL, "effect": "NoExecute"}], [EQUAL], [EQUAL]),
        ([{**EXISTS, "effect": "NoSchedule"}], [EQUAL], [{**EXISTS, "effect": "NoSchedule"}, EQUAL]),
        (
            [{**EXISTS, "effect": "NoExecute", "tolerationSeconds": 9}],
            [{**EQUAL, "effect": "NoExecute", "tolerationSeconds": 5}],
            [{**EXISTS, "effect": "NoExecute", "tolerationSeconds": 9}],
        ),
    ],
)
def test_a_toleration_that_another_covers_is_left_out(
    first: list[Object], second: list[Object], merged: list[Object]
) -> None:
    assert merge_tolerations(first, second) == merged


def test_amounts_are_compared_and_not_their_spelling() -> None:
    found = {"overhead": {"podFixed": {"cpu": "250m"}}}
    assert with_runtime_class({"overhead": {"cpu": "0.25"}}, found)["overhead"] == {"cpu": "250m"}
    with pytest.raises(MooringError, match="doesn't match"):
        with_runtime_class({"overhead": {"cpu": "1"}}, found)


def test_only_a_class_with_overhead_gives_a_pod_some() -> None:
    check_overhead({}, None)
    with pytest.raises(MooringError, match="without corresponding RuntimeClass"):
        check_overhead({"overhead": {"cpu": "1"}}, {"overhead": None})


def test_a_contradiction_in_selectors_is_named() -> None:
    found = {"scheduling": {"nodeSelector": {"runtime": "kata"}}}
    with pytest.raises(MooringError, match=r"nodeSelector\[runtime\] = kata; pod.spec.nodeSelector\[runtime\] = runc"):
        with_runtime_class({"nodeSelector": {"runtime": "runc"}}, found)
