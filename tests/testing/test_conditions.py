"""How tests ask for a condition: it is there, it is True unless another status is asked for, and has the reason."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.testing.conditions import has_condition

READY: Object = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Fine"}]}}
BROKEN: Object = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Lost"}]}}


@pytest.mark.parametrize(
    ("obj", "is_ready", "is_broken"),
    [(READY, True, False), (BROKEN, False, True), ({}, False, False), (None, False, False)],
)
def test_a_condition_has_a_status(obj: Object | None, is_ready: bool, is_broken: bool) -> None:
    assert has_condition(obj, "Ready") is is_ready
    assert has_condition(obj, "Ready", "False") is is_broken
    assert has_condition(obj, "Ready", reason="Fine") is is_ready
    assert not has_condition(obj, "Ready", reason="Other")
    assert not has_condition(obj, "Known")
