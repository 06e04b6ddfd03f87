"""What a reconcile decides: writes in four stages, events, and what to remember.

The stages run in order and the writes of one stage together; the first failure stops the later stages. So whatever
prefix of a decision was carried out before a crash, running again ends in the same place: intent is recorded before
children exist, status says only what was seen, and a finalizer goes last.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from mooring.api.kinds import HasMeta, Key, Kind, key_of, key_of_object
from mooring.kube.objects import Object
from mooring.runtime.controllermetrics import Sample
from mooring.runtime.effects import Run
from mooring.runtime.folds import Fold


class Create(NamedTuple):
    """Make a child. Its name follows from its owner and slot or revision, never from `generateName`."""

    kind: Kind[Any]
    object: Object

    @property
    def key(self) -> Key:
        return key_of_object(self.object)


class Apply(NamedTuple):
    """Server-side apply of everything this controller wants of an object."""

    kind: Kind[Any]
    object: Object

    @property
    def key(self) -> Key:
        return key_of_object(self.object)


class Patch(NamedTuple):
    """A merge patch, for what people or other controllers edit too, and for status."""

    kind: Kind[Any]
    key: Key
    body: Object
    subresource: str = ""


class Delete(NamedTuple):
    kind: Kind[Any]
    key: Key
    propagation: Literal["Foreground", "Background", "Orphan"] | None = None
    grace: int | None = None


class Bind(NamedTuple):
    """Put a pod on a node."""

    kind: Kind[Any]
    key: Key
    node: str


class Evict(NamedTuple):
    """Ask for a pod to be deleted as its disruption budgets allow. While they do not, it is asked again later."""

    kind: Kind[Any]
    key: Key
    grace: int | None = None


class Scale(NamedTuple):
    """Set the replicas of any kind that has the scale sub-resource, wherever it keeps them."""

    kind: Kind[Any]
    key: Key
    replicas: int


class ApplyStatus(NamedTuple):
    """Server-side apply of everything this controller says in an object's status; what it no longer says goes.

    For kinds whose status several write, each its own conditions or fields.
    """

    kind: Kind[Any]
    key: Key
    status: Object


Write = Create | Apply | ApplyStatus | Patch | Scale | Delete | Evict | Bind


class Event(NamedTuple):
    """Something to tell about an object. Losing one never fails a decision.

    `after` names the object whose write it tells of: it is told only when that write was carried out. `action` is what
    was done or tried, in a word: the scheduler says `Binding`; most of Kubernetes' own controllers say nothing.
    `labels` are those of the Event object, by which watchers select.
    """

    kind: Kind[Any]
    key: Key
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    after: tuple[Kind[Any], Key] | None = None
    action: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class Assume(NamedTuple):
    """What a fold shall hold of this decision until it is seen, in the fold's own terms."""

    fold: Fold[Any]
    assumptions: tuple[Any, ...]


class Decision(NamedTuple):
    """Writes by stage. An empty decision means that all is as it should be."""

    intent: tuple[Write, ...] = ()
    children: tuple[Write, ...] = ()
    status: tuple[Write, ...] = ()
    release: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    # What is to be done outside the API for as long as decisions say so; started once every stage went well.
    effects: tuple[Run, ...] = ()
    # Written by the runtime: the ids of effects that are about to start.
    records: tuple[Patch, ...] = ()
    # Handed to the next run of the same key, of the type that the controller declares; may be lost at any time.
    memory: Any = None
    # Numbers to publish.
    metrics: tuple[Sample, ...] = ()
    # Lines for the log of the process that carries it out, once every stage went well.
    log: tuple[str, ...] = ()
    # Says that nothing is decided on what these writes change, so that seeing them is no reason to run again.
    final: bool = False
    # Held by folds until the writes are seen, or until the key runs again.
    assumes: tuple[Assume, ...] = ()

    @property
    def stages(self) -> tuple[tuple[Write, ...], ...]:
        return self.intent, self.children, self.status, self.records, self.release

    @property
    def empty(self) -> bool:
        return not (self.intent or self.children or self.status or self.records or self.release)


def status(kind: Kind[Any], obj: HasMeta, body: Object) -> Patch:
    """A new status for an object; only what is named in `body` changes."""
    return Patch(kind, key_of(obj), {"status": body}, "status")
