"""The admission chain: functions that may change or refuse a write before it is stored.

Mutating functions run first and in order, each seeing what the one before made; then the object is validated; then the
validating ones run. A function has no I/O and no clock: what it may know is in the request and the view. It returns a
new object, or None to leave it as it is; objects it is given are shared and must not be mutated. To refuse, it raises
an ApiError. When any but a built-in function has changed the object, the built-in ones look at it once more.

Webhooks are called by `remote`. It has no response at once, and nothing here waits: it raises, nothing is written, and
the same write is repeated when the response is there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from mooring.kube.objects import Object
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options, UserExtra

__all__ = [
    "Admission",
    "AdmissionChain",
    "AdmissionRequest",
    "ClusterView",
    "Complete",
    "Naming",
    "Operation",
    "RemoteAdmission",
    "request_of",
]

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
# Takes an object and the object that admission changed it to; returns the latter, decoded and with defaults.
Complete = Callable[[Object, Object], Object]


class ClusterView(Protocol):
    """What an admission function may read."""

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """The object, or None."""

    def all(self, api_version: str, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """Every object of a kind."""


class AdmissionRequest(NamedTuple):
    """One write. `object` is None for a deletion, `old_object` for a creation."""

    operation: Operation
    resource: Resource
    namespace: str
    name: str
    object: Object | None
    old_object: Object | None
    subresource: str
    user: str
    groups: tuple[str, ...]
    dry_run: bool
    warnings: list[str]
    user_uid: str = ""
    user_extra: UserExtra = ()
    # For the audit log; None where none is written.
    annotations: dict[str, str] | None = None

    def about(self, obj: Object) -> "AdmissionRequest":
        """The same request with another object."""
        return self._replace(object=obj)


Admission = Callable[[AdmissionRequest, ClusterView], Object | None]


class Naming(Protocol):
    """Gives uids and generated names; every attempt at one write must get the same ones."""

    def uid(self) -> str: ...

    def name(self, prefix: str) -> str: ...


class RemoteAdmission(Protocol):
    """Admission of one write outside of the process. Raises while a response is missing."""

    @property
    def naming(self) -> Naming: ...

    def mutate(self, request: AdmissionRequest, complete: Complete, *, again: bool) -> Object | None:
        """The changed object, with defaults, or None. `again` is true in the second round."""

    def validate(self, request: AdmissionRequest) -> None: ...


@dataclass(slots=True)
class AdmissionChain:
    """The admission functions in force. Objects from `builtin` and `late` functions need no second round of defaults.

    `late` functions run after all other mutating ones: they allocate what others must not change any more.
    `builtin_validating` run before the other validating ones. `mutating_again` are the mutating functions that see an
    object again that was changed in the first round (reinvocationPolicy IfNeeded).
    """

    builtin: list[Admission] = field(default_factory=list)
    mutating: list[Admission] = field(default_factory=list)
    mutating_again: list[Admission] = field(default_factory=list)
    late: list[Admission] = field(default_factory=list)
    builtin_validating: list[Admission] = field(default_factory=list)
    validating: list[Admission] = field(default_factory=list)
    remote: RemoteAdmission | None = None

    @contextmanager
    def with_webhooks(self, remote: RemoteAdmission) -> Iterator[None]:
        """Let `remote` admit the write that is made inside. There is one writer at a time."""
        self.remote = remote
        try:
            yield
        finally:
            self.remote = None

    @contextmanager
    def without_webhooks(self) -> Iterator[None]:
        """Write an object of the server's own, without remote admission, in the middle of another write."""
        remote, self.remote = self.remote, None
        try:
            yield
        finally:
            self.remote = remote

    def mutate(self, request: AdmissionRequest, view: ClusterView, complete: Complete) -> Object:
        """The object of a create or an update after mutating admission."""
        obj, changed = self._round(request, view, complete, again=False)
        return self._round(request.about(obj), view, complete, again=True)[0] if changed else obj

    def _round(
        self, request: AdmissionRequest, view: ClusterView, complete: Complete, *, again: bool
    ) -> tuple[Object, bool]:
        for admit in self.builtin:
            made = admit(request, view)
            if made is not None:
                request = request.about(made)
        obj: Object = request.object or {}
        changed = False
        for admit in self.mutating_again if again else self.mutating:
            made = admit(request, view)
            if made is not None and made is not obj:
                obj, changed = complete(obj, made), True
                request = request.about(obj)
        if self.remote is not None:
            made = self.remote.mutate(request, complete, again=again)
            if made is not None:
                obj, changed = made, True
        return obj, changed

    def validate(self, request: AdmissionRequest, view: ClusterView) -> None:
        """Run validating admission on the object that is about to be stored."""
        for admit in self.builtin_validating:
            admit(request, view)
        for admit in self.validating:
            admit(request, view)
        if self.remote is not None:
            self.remote.validate(request)

    def check_deletion(self, request: AdmissionRequest, view: ClusterView) -> None:
        """Run admission on a deletion. Mutating webhooks are called too, but have nothing to change."""
        if self.remote is not None:
            self.remote.mutate(request, lambda _, made: made, again=False)
        for admit in (*self.builtin_validating, *self.validating):
            admit(request, view)
        if self.remote is not None:
            self.remote.validate(request)


def request_of(
    operation: Operation, resource: Resource, obj: Object | None, old: Object | None, subresource: str, options: Options
) -> AdmissionRequest:
    """The request that admission is asked about, for one write."""
    metadata = (obj or old or {})["metadata"]
    return AdmissionRequest(
        operation,
        resource,
        metadata.get("namespace", ""),
        metadata["name"],
        obj,
        old,
        subresource,
        options.user,
        options.groups,
        options.dry_run,
        options.warnings,
        options.user_uid,
        options.user_extra,
        options.annotations,
    )
