"""The errors that a client gets because of a webhook, in the API's words."""

from typing import Final

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, BadRequestError, InternalError

__all__ = ["call_failure", "denial", "dry_run_refusal"]

_LAST_HTTP_CODE: Final = 999


def denial(name: str, status: Object | None) -> ApiError:
    """The error of a request that a webhook denied."""
    status = status or {}
    head, message, reason = f"admission webhook {go_quote(name)} denied the request", "", status.get("reason") or ""
    if status.get("message") or reason:
        message = f"{head}: {status.get('message') or reason}"
    error = ApiError(message or f"{head} without explanation", status.get("details"))
    code = status.get("code")
    error.code = code if isinstance(code, int) and code >= 400 else 400
    if error.code > _LAST_HTTP_CODE:
        error.code = 500
    error.reason = reason
    return error


def dry_run_refusal(name: str) -> ApiError:
    return BadRequestError(f"admission webhook {go_quote(name)} does not support dry run")


def call_failure(name: str, why: str) -> InternalError:
    """The error of a request whose webhook could not be called."""
    return InternalError.of(f"failed calling webhook {go_quote(name)}: {why}")
