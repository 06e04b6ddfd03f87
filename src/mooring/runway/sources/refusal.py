"""An error for a request that the API server refused, in a sentence that says what was tried."""

from __future__ import annotations

from mooring.kube.errors import InputError
from mooring.kube.status import ApiError, ForbiddenError, UnauthorizedError

__all__ = ["ServerRefusal", "refusal"]


class ServerRefusal(InputError):
    """`error` is the server's own answer."""

    def __init__(self, message: str, error: ApiError) -> None:
        super().__init__(message)
        self.error = error


def refusal(server: str, doing: str, error: ApiError) -> ServerRefusal:
    if isinstance(error, UnauthorizedError):
        return ServerRefusal(
            f"{server} does not accept these credentials ({error}); they may have expired: log in again, "
            "or choose others with --kubeconfig and --context",
            error,
        )
    if isinstance(error, ForbiddenError):
        return ServerRefusal(f"{server} does not let you {doing}: {error}", error)
    return ServerRefusal(f"{server} did not let itself be asked to {doing}: {error}", error)
