"""The metadata of an object as controllers see it.

`resourceVersion`, `managedFields` and annotations are left out on purpose: they change with every write, and
a view that held them would wake every controller each time. The runtime keeps the resourceVersion beside the view.
"""

from __future__ import annotations

import msgspec

from mooring.api.core.types import ConditionSummary, Labels, View


class OwnerRef(View, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Meta(View, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    labels: Labels = msgspec.field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerRef, ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def controller(self) -> OwnerRef | None:
        """The owner that manages this object."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None


class Bare(View, frozen=True):
    """An object of which only the metadata matter."""

    metadata: Meta = Meta()


class AnnotatedMeta(Meta, frozen=True):
    """Metadata of a kind whose annotations a controller copies or keeps its own notes in."""

    annotations: Labels = msgspec.field(default_factory=dict)


class Condition(ConditionSummary, frozen=True):
    """A condition of any kind, with every field that some kind has, because one is written with the list of all.

    The exception is a node's `lastHeartbeatTime`: it changes every few seconds, and a view that held it would wake
    controllers each time. `mooring.api.conditions` reads and sets conditions.
    """

    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0
    last_update_time: str | None = None
    last_probe_time: str | None = None
    severity: str = ""
