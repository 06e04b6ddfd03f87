"""Every error in one shape, with the API server's own sentence where it refused: `{"error": {message, statusCode}}`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import msgspec

from mooring.client.transport import UnknownOutcome, Unreachable
from mooring.kube.errors import InvalidObjectError, MooringError
from mooring.kube.status import ApiError
from mooring.runway.explain.asked_pods.cluster_pods import MissingObject
from mooring.runway.explain.asked_pods.manifest_pods import message_of
from mooring.runway.problems import DeploymentError
from mooring.runway.rest.mirror.follower import FirstListOverdue
from mooring.runway.shown import Shown
from mooring.runway.sources.refusal import ServerRefusal

__all__ = ["ErrorDetail", "ErrorShown", "ErrorText", "RestError", "error_shown"]

_log = logging.getLogger(__name__)


class ErrorDetail(Shown, frozen=True):
    """One field and what is wrong with it."""

    field: str
    message: str


class ErrorText(Shown, frozen=True):
    message: str
    status_code: int
    details: tuple[ErrorDetail, ...] | None = None


class ErrorShown(Shown, frozen=True):
    error: ErrorText


class RestError(MooringError):
    """A request that is answered with this status."""

    def __init__(self, status: int, message: str, details: Sequence[ErrorDetail] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.details = tuple(details)


def error_shown(error: BaseException) -> ErrorShown:
    """What is not meant for people is logged and not shown."""
    status, details = _status(error), tuple(_details(error))
    if status is None:
        _log.error("a request failed", exc_info=error)
        return ErrorShown(ErrorText("Something went wrong on our side; the log of the server has more.", 500))
    message = message_of(error) if isinstance(error, msgspec.ValidationError) else str(error)
    return ErrorShown(ErrorText(message, status, details or None))


def _status(error: BaseException) -> int | None:
    match error:
        case RestError():
            return error.status
        case ServerRefusal():
            return error.error.code
        case ApiError():
            return error.code
        case DeploymentError():
            return 400
        case MissingObject():
            return 404
        case UnknownOutcome() | FirstListOverdue():
            return 504
        case Unreachable():
            return 503
        case msgspec.ValidationError() | msgspec.DecodeError():
            return 400
        case MooringError():
            return 422
    return None


def _details(error: BaseException) -> Iterable[ErrorDetail]:
    match error:
        case RestError():
            return error.details
        case DeploymentError():
            return [ErrorDetail(each.field, each.message) for each in error.problems]
        case ServerRefusal():
            return _causes(error.error)
        case ApiError():
            return _causes(error)
        case InvalidObjectError():
            return [ErrorDetail(each.path, each.body) for each in error.errors]
        case msgspec.ValidationError():
            field, _, problem = message_of(error).rpartition(": ")
            return [ErrorDetail(field, problem)] if field else ()
        case MooringError() if error.path:
            return [ErrorDetail(error.path, error.message)]
    return ()


def _causes(error: ApiError) -> Iterable[ErrorDetail]:
    for cause in error.details.get("causes") or ():
        if cause.get("field"):
            yield ErrorDetail(cause["field"], cause.get("message", ""))
