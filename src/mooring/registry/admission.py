"""The admission chain: functions that may change or refuse a write before it is stored.

Mutating functions run first and in order, each seeing what the one before made; then the object is validated; then the
validating ones run. A function has no I/O and no clock: what it may know is in the request and the view. It returns a
new object, or None to leave it as it is; objects it is given are shared and must not be mutated. To refuse, it raises
an ApiError.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from mooring.registry.resources import Resource

__all__ = ["Admission", "AdmissionRequest", "Chain", "ClusterView", "Operation"]

Object = dict[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


class ClusterView(Protocol):
    """What an admission function may read."""

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """The object, or None."""

    def all(self, api_version: str, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """Every object of a kind."""


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """One write. `object` is None for a deletion, `old_object` for a creation."""

    operation: Operation
    resource: Resource
    namespace: str
    name: str
    object: Object | None
    old_object: Object | None = None
    subresource: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)


Admission = Callable[[AdmissionRequest, ClusterView], Object | None]


@dataclass(slots=True)
class Chain:
    """The functions in force. `builtin` ones give objects that need no second round of defaults."""

    builtin: list[Admission] = field(default_factory=list)
    mutating: list[Admission] = field(default_factory=list)
    validating: list[Admission] = field(default_factory=list)
