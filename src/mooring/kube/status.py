"""The API's refusals as exceptions: code, reason, message and details exactly as a Status object carries them.

Whatever refuses raises one of these; an HTTP server writes `status()`, a client in the same process catches the class.
The sentences are the API server's, because people search for them and clients compare them.

    ApiError
    +- BadRequestError 400      +- UnauthorizedError 401   +- ForbiddenError 403     +- NotFoundError 404
    +- MethodNotAllowedError 405
    +- AlreadyExistsError 409   +- ConflictError 409       +- ExpiredError 410      +- InvalidError 422
    +- TooManyRequestsError 429 +- InternalError 500       +- UnknownError 500
    +- ServiceUnavailableError 503                         +- TooLargeVersionError 504
    +- InsufficientStorageError 507
"""

from collections.abc import Sequence
from typing import Any, Final

from mooring.kube.errors import FieldError, MooringError, go_quote, invalid_message, one_line, paragraphs

__all__ = [
    "AlreadyExistsError",
    "ApiError",
    "BadRequestError",
    "ConflictError",
    "ExpiredError",
    "ForbiddenError",
    "InsufficientStorageError",
    "InternalError",
    "InvalidError",
    "MethodNotAllowedError",
    "NotFoundError",
    "RejectedPatchError",
    "ServiceUnavailableError",
    "TooLargeVersionError",
    "TooManyRequestsError",
    "UnauthorizedError",
    "UnknownError",
    "error_from_status",
    "qualified",
]


def qualified(name: str, group: str) -> str:
    """A resource or kind with its group, as the API prints it: `deployments.apps`, `pods`."""
    return f"{name}.{group}" if group else name


class ApiError(MooringError):
    """A request that the API refuses.

    The message has no control characters, whatever input it repeats, but may have several lines: conflicts of an apply
    do, and what webhooks say.
    """

    code: int = 500
    reason: str = "InternalError"

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(paragraphs(message))
        self.details = details or {}

    @property
    def retry_after(self) -> int | None:
        """Seconds after which the same request may succeed."""
        seconds: int | None = self.details.get("retryAfterSeconds")
        return seconds

    def status(self) -> dict[str, Any]:
        """The Status object an HTTP server answers with."""
        answer: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            answer["reason"] = self.reason
        if self.details:
            answer["details"] = self.details
        answer["code"] = self.code
        return answer


def _details(resource: str, group: str, name: str, **more: Any) -> dict[str, Any]:
    fields = {"name": name, "group": group, "kind": resource, **more}
    return {key: value for key, value in fields.items() if value}


class BadRequestError(ApiError):
    """The request cannot be read; `message` is the whole sentence, on one line."""

    code = 400
    reason = "BadRequest"

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(one_line(message), details)


class UnauthorizedError(ApiError):
    code = 401
    reason = "Unauthorized"


class ForbiddenError(ApiError):
    code = 403
    reason = "Forbidden"

    @classmethod
    def of(
        cls, resource: str, group: str, name: str, why: str, causes: Sequence[dict[str, str]] = ()
    ) -> "ForbiddenError":
        shown = f"{qualified(resource, group)} {go_quote(name)}" if name else qualified(resource, group)
        return cls(f"{shown} is forbidden: {why}", _details(resource, group, name, causes=list(causes)))


class NotFoundError(ApiError):
    code = 404
    reason = "NotFound"

    @classmethod
    def of(cls, resource: str, group: str, name: str) -> "NotFoundError":
        return cls(f"{qualified(resource, group)} {go_quote(name)} not found", _details(resource, group, name))


class MethodNotAllowedError(ApiError):
    code = 405
    reason = "MethodNotAllowed"

    @classmethod
    def of(cls, resource: str, group: str, verb: str) -> "MethodNotAllowedError":
        message = f"{verb} is not supported on resources of kind {go_quote(qualified(resource, group))}"
        return cls(message, _details(resource, group, ""))


class AlreadyExistsError(ApiError):
    code = 409
    reason = "AlreadyExists"

    @classmethod
    def of(cls, resource: str, group: str, name: str) -> "AlreadyExistsError":
        return cls(f"{qualified(resource, group)} {go_quote(name)} already exists", _details(resource, group, name))


class ConflictError(ApiError):
    code = 409
    reason = "Conflict"

    @classmethod
    def of(cls, resource: str, group: str, name: str, why: str) -> "ConflictError":
        message = f"Operation cannot be fulfilled on {qualified(resource, group)} {go_quote(name)}: {why}"
        return cls(message, _details(resource, group, name))

    @classmethod
    def stale(cls, resource: str, group: str, name: str) -> "ConflictError":
        """The object has moved on since the caller read it."""
        why = "the object has been modified; please apply your changes to the latest version and try again"
        return cls.of(resource, group, name, why)


class ExpiredError(ApiError):
    """A version of the past that is no longer kept. `continue_` may carry a token that goes on without consistency."""

    code = 410
    reason = "Expired"

    def __init__(self, message: str, details: dict[str, Any] | None = None, continue_: str = "") -> None:
        super().__init__(message, details)
        self.continue_ = continue_

    def status(self) -> dict[str, Any]:
        answer = super().status()
        if self.continue_:
            answer["metadata"] = {"continue": self.continue_}
        return answer

    @classmethod
    def too_old(cls, wanted: int, oldest: int) -> "ExpiredError":
        return cls(f"too old resource version: {wanted} ({oldest})")


class InvalidError(ApiError):
    """An object with field errors; `errors` holds them in the API's order."""

    code = 422
    reason = "Invalid"

    def __init__(self, kind: str, group: str, name: str, errors: Sequence[FieldError]) -> None:
        causes = [
            {"reason": error.cause, "message": paragraphs(error.body), "field": one_line(error.path)}
            for error in errors
        ]
        message = invalid_message(one_line(qualified(kind, group)), name, errors)
        super().__init__(message, _details(kind, group, name, causes=causes))
        self.errors = tuple(errors)
        self.path = errors[0].path if errors else ""


_REASONS: Final = {400: "BadRequest", 413: "RequestEntityTooLarge", 415: "UnsupportedMediaType", 422: "Invalid"}


class RejectedPatchError(ApiError):
    """A patch that cannot be applied, or not in this form; `code` is 400, 413, 415 or 422."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
        self.reason = _REASONS.get(code, "BadRequest")


class TooManyRequestsError(ApiError):
    code = 429
    reason = "TooManyRequests"


class ServiceUnavailableError(ApiError):
    code = 503
    reason = "ServiceUnavailable"


class InternalError(ApiError):
    @classmethod
    def of(cls, why: str) -> "InternalError":
        return cls(f"Internal error occurred: {why}", {"causes": [{"message": paragraphs(why)}]})


class UnknownError(ApiError):
    """A failure that the API has no reason for; it answers with its sentence and nothing else."""

    reason = ""


class TooLargeVersionError(ApiError):
    """A version of the future: the caller has read from a server that was ahead of this one."""

    code = 504
    reason = "Timeout"

    @classmethod
    def of(cls, wanted: int, current: int) -> "TooLargeVersionError":
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        message = f"Timeout: Too large resource version: {wanted}, current: {current}"
        return cls(message, {"causes": causes, "retryAfterSeconds": 1})


class InsufficientStorageError(ApiError):
    """A write for which the server has no room; nothing of it was made, and nothing else has ended."""

    code = 507
    reason = "InsufficientStorage"


_CLASSES: Final[dict[tuple[int, str], type[ApiError]]] = {
    (cls.code, cls.reason): cls
    for cls in (
        BadRequestError,
        UnauthorizedError,
        ForbiddenError,
        NotFoundError,
        MethodNotAllowedError,
        AlreadyExistsError,
        ConflictError,
        ExpiredError,
        InvalidError,
        TooManyRequestsError,
        InternalError,
        InsufficientStorageError,
    )
}


def error_from_status(status: dict[str, Any], code: int = 0, retry_after: int | None = None) -> ApiError:
    """What a client raises for a Status that it was answered with.

    `code` is the answer's, for a Status that has none; `retry_after` is the header of that name in seconds.
    """
    code = status.get("code") or code or 500
    reason = status.get("reason", "")
    details = dict(status.get("details") or {})
    if retry_after is not None:
        details.setdefault("retryAfterSeconds", retry_after)
    cls = _class_for(code, reason, details)
    # The message is whole already; the constructors would make it of its parts.
    error = cls.__new__(cls)
    ApiError.__init__(error, status.get("message") or f"the server answered {code}", details)
    error.code, error.reason = code, reason or cls.reason
    if isinstance(error, InvalidError):
        error.errors = ()
        error.path = next((cause["field"] for cause in details.get("causes") or () if cause.get("field")), "")
    if isinstance(error, ExpiredError):
        error.continue_ = (status.get("metadata") or {}).get("continue", "")
    return error


def _class_for(code: int, reason: str, details: dict[str, Any]) -> type[ApiError]:
    found = _CLASSES.get((code, reason))
    if found is not None:
        return found
    if any(cause.get("reason") == "ResourceVersionTooLarge" for cause in details.get("causes") or ()):
        return TooLargeVersionError
    # Proxies and old servers answer without a reason, or with another one.
    return next((cls for (known, _), cls in _CLASSES.items() if known == code and code != 409), ApiError)
