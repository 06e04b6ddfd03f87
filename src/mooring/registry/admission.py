"""The admission chain: functions that may change or refuse a write before it is stored.

Mutating functions run first and in order, each seeing what the one before made; then the object is validated; then the
validating ones run. A function has no I/O and no clock: what it may know is in the request and the view. It returns a
new object, or None to leave it as it is; objects it is given are shared and must not be mutated. To refuse, it raises
an ApiError. When any but a built-in function has changed the object, the built-in ones look at it once more.

Whoever has to be asked over a network is `remote`. It cannot answer at once, and nothing here waits: it raises, nothing
is written, and the same write is tried again when the answer is there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from mooring.kube.objects import Object
from mooring.registry.requests import Options
from mooring.registry.resources import Resource

__all__ = [
    "Admission",
    "AdmissionRequest",
    "Chain",
    "ClusterView",
    "Complete",
    "Naming",
    "Operation",
    "Remote",
    "request_of",
]

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
# Takes an object and what somebody made of it; gives the latter as the API would read it, with its defaults.
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

    def about(self, obj: Object) -> "AdmissionRequest":
        """The same request with another object."""
        return self._replace(object=obj)


Admission = Callable[[AdmissionRequest, ClusterView], Object | None]


class Naming(Protocol):
    """Gives uids and generated names; every attempt at one write must get the same ones."""

    def uid(self) -> str: ...

    def name(self, prefix: str) -> str: ...


class Remote(Protocol):
    """Who is asked about one write beside the functions. Raises where its answer is not there yet."""

    @property
    def naming(self) -> Naming: ...

    def mutate(self, request: AdmissionRequest, complete: Complete, *, again: bool) -> Object | None:
        """The changed object, complete, or None. `again` says that this is the second look."""

    def validate(self, request: AdmissionRequest) -> None: ...


@dataclass(slots=True)
class Chain:
    """The functions in force. `builtin` and `late` ones give objects that need no second round of defaults.

    The late ones come after all others that change objects: they hand out what others must not change any more.
    `builtin_validating` ones come before the other validating ones. `mutating_again` are those of the mutating ones
    that want to see an object again that was changed in the first round.
    """

    builtin: list[Admission] = field(default_factory=list)
    mutating: list[Admission] = field(default_factory=list)
    mutating_again: list[Admission] = field(default_factory=list)
    late: list[Admission] = field(default_factory=list)
    builtin_validating: list[Admission] = field(default_factory=list)
    validating: list[Admission] = field(default_factory=list)
    remote: Remote | None = None

    @contextmanager
    def asking(self, remote: Remote) -> Iterator[None]:
        """Ask `remote` about the write that is made inside. There is one writer at a time."""
        self.remote = remote
        try:
            yield
        finally:
            self.remote = None

    @contextmanager
    def unasked(self) -> Iterator[None]:
        """Ask nobody about what the server makes itself, in the middle of a write that somebody is asked about."""
        remote, self.remote = self.remote, None
        try:
            yield
        finally:
            self.remote = remote

    def mutate(self, request: AdmissionRequest, view: ClusterView, complete: Complete) -> Object:
        """The object that a creation or a change is about, as admission wants it."""
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
        """Let everybody refuse what is about to be stored."""
        for admit in self.builtin_validating:
            admit(request, view)
        for admit in self.validating:
            admit(request, view)
        if self.remote is not None:
            self.remote.validate(request)

    def check_deletion(self, request: AdmissionRequest, view: ClusterView) -> None:
        """Let everybody refuse a deletion; those who change objects are asked too, and have nothing to change."""
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
        operation=operation,
        resource=resource,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        object=obj,
        old_object=old,
        subresource=subresource,
        user=options.user,
        groups=options.groups,
        dry_run=options.dry_run,
        warnings=options.warnings,
    )
