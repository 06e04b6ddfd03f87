"""What can go wrong with data on a disk: before the server starts, and while it runs."""

from mooring.kube.errors import MooringError
from mooring.kube.status import InternalError

__all__ = ["DataFolderError", "StorageFailed"]


class DataFolderError(MooringError):
    """A data folder that cannot be used. It was left as it is; the text is one line for people."""


class StorageFailed(InternalError):
    """Writes could not be made to last, or were attempted after that happened.

    Memory is ahead of the disk then, and nothing can take it back: the server answers no
    request any more and ends the process, so that the next one starts from what is on disk.
    """

    @classmethod
    def of(cls, why: str) -> "StorageFailed":
        return cls(f"Internal error occurred: {why}", {"causes": [{"message": why}]})
