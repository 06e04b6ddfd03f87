"""Refusals look on the wire as the API server writes them."""

from __future__ import annotations

import pytest

from mooring.kube.errors import invalid, required
from mooring.kube.status import (
    AlreadyExistsError,
    ApiError,
    BadRequestError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    InternalError,
    InvalidError,
    NotFoundError,
    TooLargeVersionError,
    TooManyRequestsError,
    UnauthorizedError,
    error_from_status,
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


ERRORS = [
    BadRequestError("no"),
    UnauthorizedError("Unauthorized"),
    ForbiddenError.of("pods", "", "p", "no"),
    NotFoundError.of("deployments", "apps", "web"),
    AlreadyExistsError.of("pods", "", "p"),
    ConflictError.stale("pods", "", "p"),
    ExpiredError("too old", continue_="token"),
    InvalidError("Pod", "", "p", [required("spec.containers", "")]),
    TooManyRequestsError("slow down", {"retryAfterSeconds": 3}),
    InternalError.of("oh"),
    TooLargeVersionError.of(9, 5),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_client_raises_what_the_server_raised(error: ApiError) -> None:
    found = error_from_status(error.status())
    assert type(found) is type(error)
    assert (str(found), found.code, found.status()) == (str(error), error.code, error.status())
    assert (found.path, found.retry_after) == (error.path, error.retry_after)


def test_an_answer_without_a_reason_is_told_by_its_code() -> None:
    assert type(error_from_status({"message": "gone", "reason": "Gone"}, 410)) is ExpiredError
    assert type(error_from_status({}, 403)) is ForbiddenError
    assert error_from_status({"message": "who knows"}).code == 500
    # A conflict may be either of two things, and which one matters.
    assert type(error_from_status({}, 409)) is ApiError
    unavailable = error_from_status({"message": ""}, 503, 5)
    assert (unavailable.code, unavailable.retry_after, str(unavailable)) == (503, 5, "the server answered 503")


def test_input_in_a_message_cannot_break_the_line_or_steer_a_terminal() -> None:
    hostile = "a\r\nWarning: 299\x1b[2J\x9b"
    shown = r"a\r\nWarning: 299\x1b[2J\u009b"
    assert str(BadRequestError(f"field label not supported: {hostile}")) == f"field label not supported: {shown}"
    refused = InvalidError(hostile, "example.com", "w", [invalid(f"spec[{hostile}]", "", "must be set")])
    assert str(refused) == f'{shown}.example.com "w" is invalid: spec[{shown}]: Invalid value: "": must be set'
    assert refused.details["causes"][0]["field"] == f"spec[{shown}]"


def test_several_lines_stay_several_where_the_api_writes_them() -> None:
    text = 'Apply failed with 2 conflicts: conflicts with "m":\n- .data.a\n- .data.b\x1b[2J'
    assert str(ConflictError(text)) == text.replace("\x1b", r"\x1b")
