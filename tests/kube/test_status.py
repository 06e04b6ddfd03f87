"""Refusals look on the wire as the API server writes them."""

from __future__ import annotations

from mooring.kube.errors import required
from mooring.kube.status import (
    ExpiredError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TooLargeVersionError,
    TooManyRequestsError,
    qualified,
)


def test_a_refusal_is_a_status_object() -> None:
    assert NotFoundError.of("deployments", "apps", "web").status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "web" not found',
        "reason": "NotFound",
        "details": {"name": "web", "group": "apps", "kind": "deployments"},
        "code": 404,
    }


def test_an_invalid_object_lists_its_causes() -> None:
    error = InvalidError("Pod", "", "p", [required("spec.containers", "")])
    assert error.path == "spec.containers"
    assert error.status()["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers"}
    ]


def test_a_refusal_without_a_name_names_the_resource() -> None:
    assert str(ForbiddenError.of("pods", "", "", "no")) == "pods is forbidden: no"
    assert qualified("pods", "") == "pods"


def test_some_refusals_say_when_to_come_back() -> None:
    assert TooManyRequestsError("slow down", {"retryAfterSeconds": 3}).retry_after == 3
    assert TooLargeVersionError.of(9, 5).retry_after == 1
    assert NotFoundError("x").retry_after is None


def test_an_expired_page_carries_the_way_on() -> None:
    assert ExpiredError("too old", continue_="token").status()["metadata"] == {"continue": "token"}
