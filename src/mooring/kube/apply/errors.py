"""The errors of server-side apply, worded as the API words them."""

from typing import NamedTuple

from mooring.kube.apply.fieldsets import path_text
from mooring.kube.apply.managers import ManagerIdentity, printed
from mooring.kube.errors import MooringError

__all__ = ["ApplyConflict", "ApplyError", "Conflict"]


class ApplyError(MooringError):
    """Something that cannot be applied; `code` is the HTTP status the API answers with."""

    def __init__(self, message: str, code: int = 500) -> None:
        super().__init__(message)
        self.code = code


class Conflict(NamedTuple):
    """A field that another manager owns with another value."""

    manager: ManagerIdentity
    path: tuple[str, ...]

    @property
    def field(self) -> str:
        """The field as it stands in the causes of a Status."""
        return path_text(self.path)

    @property
    def message(self) -> str:
        """The words that go with the field in the causes of a Status."""
        return f"conflict with {printed(self.manager)}"


class ApplyConflict(ApplyError):
    """An apply that would change fields of others; `conflicts` says which, and whose."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        super().__init__(_message(conflicts), 409)
        self.conflicts = tuple(conflicts)


def _message(conflicts: list[Conflict]) -> str:
    if len(conflicts) == 1:
        return f"Apply failed with 1 conflict: {conflicts[0].message}: {conflicts[0].field}"
    lines: list[str] = []
    for manager in sorted({conflict.manager for conflict in conflicts}, key=lambda each: each.spelt):
        lines.append(f"conflicts with {printed(manager)}:")
        lines += [f"- {conflict.field}" for conflict in conflicts if conflict.manager == manager]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
