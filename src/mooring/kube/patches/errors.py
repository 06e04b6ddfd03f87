"""The error of a patch that cannot be applied."""

from mooring.kube.errors import MooringError

__all__ = ["PatchError"]


class PatchError(MooringError):
    """A patch that cannot be applied, in the API's words; `code` is the HTTP status the API answers with."""

    def __init__(self, message: str, code: int = 422) -> None:
        super().__init__(message)
        self.code = code
