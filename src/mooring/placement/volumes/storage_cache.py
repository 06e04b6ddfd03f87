"""Claims, volumes, classes and drivers as the scheduler sees them, and what it has decided about them and not yet seen.

A decision is assumed: a volume has the claim it was chosen for, a claim the node it was sent to. An object that is seen
anew takes the place of what was assumed of it; `take_back` restores the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Labels, NodeSelector
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import (
    ClaimReference,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    StorageClass,
    VolumeAttachment,
)
from mooring.kube.nodeselectors import NodeSelectorTerm, node_selector_term
from mooring.kube.quantities import Quantity, parse_quantity
from mooring.placement.volumes.in_tree import Takeover, source_of, translated_affinity

STORAGE_VIEWS: Final = (
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
)

_ZERO: Final = parse_quantity("0")


class VolumeWrite(NamedTuple):
    """What is written for one claim: the volume that it is given, or the node that a volume is to be made for."""

    claim: str
    volume: str = ""
    node: str = ""


class StoredVolume:
    """A PersistentVolume with what the filters read of it worked out."""

    __slots__ = ("_translated", "affinity", "class_name", "handle", "size", "takeover", "view")

    def __init__(self, view: PersistentVolume) -> None:
        self.view = view
        self.class_name = view.class_name
        self.size: Quantity = parse_quantity(view.spec.capacity.get("storage", "0"))
        required = view.spec.node_affinity.required if view.spec.node_affinity else None
        self.affinity = _terms(required)
        source = source_of(view.spec)
        self.takeover: Takeover | None = source[0] if source else None
        self.handle = source[0].handle(source[1]) if source else ""
        self._translated: tuple[NodeSelectorTerm, ...] | None = None
        if self.takeover is not None and self.takeover.topology_key:
            labels = view.metadata.labels
            self._translated = _terms(translated_affinity(required, labels, self.takeover.topology_key))
        else:
            self._translated = self.affinity

    def terms(self, *, translated: bool) -> tuple[NodeSelectorTerm, ...] | None:
        """The node affinity, as it stands or as the driver that took the volume over puts it; None for anywhere."""
        return self._translated if translated else self.affinity


def _terms(required: NodeSelector | None) -> tuple[NodeSelectorTerm, ...] | None:
    if required is None:
        return None
    return tuple(node_selector_term(msgspec.to_builtins(t)) for t in required.node_selector_terms or ())


def reaches(terms: tuple[NodeSelectorTerm, ...] | None, labels: Labels) -> bool:
    """Whether a volume of this node affinity can be used on a node of these labels; names of nodes do not count."""
    return terms is None or any(term.matches(labels, "") for term in terms)


def size_of(claim: PersistentVolumeClaim) -> Quantity:
    asked = claim.spec.resources.requests.get("storage")
    return _ZERO if asked is None else parse_quantity(asked)


class StorageCache:
    def __init__(self) -> None:
        self.claims: dict[str, PersistentVolumeClaim] = {}
        self.volumes: dict[str, StoredVolume] = {}
        self.by_class: dict[str, dict[str, StoredVolume]] = {}
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.drivers: dict[str, CSIDriver] = {}
        self.capacities: dict[str, CSIStorageCapacity] = {}
        self.attachments: dict[str, VolumeAttachment] = {}
        # How many volumes of each driver a node attaches, and what is attached to it.
        self.limits: dict[str, dict[str, int]] = {}
        self.attached_to: dict[str, dict[str, VolumeAttachment]] = {}
        self._before: dict[tuple[type[Any], str], PersistentVolume | PersistentVolumeClaim] = {}

    def set(self, view: Any) -> None:
        """Take an object in, or bring it up to date."""
        key = _key(view)
        self._before.pop((type(view), key), None)
        self._put(view, key)

    def _put(self, view: Any, key: str) -> None:
        if isinstance(view, PersistentVolume):
            stored = StoredVolume(view)
            old = self.volumes.get(key)
            if old is not None and old.class_name != stored.class_name:
                self._drop_volume(key)
            self.volumes[key] = stored
            self.by_class.setdefault(stored.class_name, {})[key] = stored
            return
        if isinstance(view, PersistentVolumeClaim):
            # An amount that cannot be read is told of when it comes, not when somebody asks.
            size_of(view)
        elif isinstance(view, CSINode):
            self.limits[key] = _limits(view)
        elif isinstance(view, VolumeAttachment):
            self._detach(key)
            self.attached_to.setdefault(view.spec.node_name, {})[key] = view
        self._table(view)[key] = view

    def remove(self, view: Any) -> None:
        key = _key(view)
        self._before.pop((type(view), key), None)
        if isinstance(view, PersistentVolume):
            self._drop_volume(key)
            return
        if isinstance(view, CSINode):
            self.limits.pop(key, None)
        elif isinstance(view, VolumeAttachment):
            self._detach(key)
        self._table(view).pop(key, None)

    def _detach(self, name: str) -> None:
        old = self.attachments.get(name)
        if old is not None:
            del self.attached_to[old.spec.node_name][name]

    def _drop_volume(self, name: str) -> None:
        old = self.volumes.pop(name, None)
        if old is not None:
            del self.by_class[old.class_name][name]

    def _table(self, view: Any) -> dict[str, Any]:
        match view:
            case PersistentVolumeClaim():
                return self.claims
            case StorageClass():
                return self.classes
            case CSINode():
                return self.csi_nodes
            case CSIDriver():
                return self.drivers
            case CSIStorageCapacity():
                return self.capacities
            case VolumeAttachment():
                return self.attachments
        raise TypeError(f"{type(view).__name__} is no kind of storage")

    def facts(self) -> object:
        """Everything that is held, to be compared."""
        volumes = {name: stored.view for name, stored in self.volumes.items()}
        drivers = dict(self.csi_nodes), dict(self.drivers), dict(self.capacities), dict(self.attachments)
        return dict(self.claims), volumes, dict(self.classes), *drivers

    # What was decided and not seen yet

    def assume(self, write: VolumeWrite) -> None:
        """Hold a decision about a claim as carried out."""
        replace = msgspec.structs.replace
        claim = self.claims[write.claim]
        if write.volume:
            volume = self.volumes[write.volume].view
            reference = ClaimReference(claim.metadata.namespace, claim.metadata.name, claim.metadata.uid)
            self._assume(replace(volume, spec=replace(volume.spec, claim_ref=reference)), volume)
        else:
            notes = replace(claim.metadata.annotations, selected_node=write.node)
            self._assume(replace(claim, metadata=replace(claim.metadata, annotations=notes)), claim)

    def _assume(self, wanted: Any, seen: Any) -> None:
        key = _key(seen)
        self._before.setdefault((type(seen), key), seen)
        self._put(wanted, key)

    @contextmanager
    def reconsidering(self, claims: Collection[str]) -> Iterator[None]:
        """What was decided about some claims is open again for the length of a `with` block, and then as before."""
        open_again = {place: seen for place, seen in self._before.items() if self._claim_at(place) in claims}
        decided = {place: self._at(place) for place in open_again}
        for (kind, key), seen in open_again.items():
            self._put(seen, key)
            del self._before[kind, key]
        others = set(self._before)
        try:
            yield
        finally:
            for kind, key in [place for place in self._before if place not in others]:
                self._put(self._before.pop((kind, key)), key)
            for place, view in decided.items():
                self._assume(view, open_again[place])

    def _at(self, place: tuple[type[Any], str]) -> PersistentVolume | PersistentVolumeClaim:
        kind, key = place
        return self.volumes[key].view if kind is PersistentVolume else self.claims[key]

    def _claim_at(self, place: tuple[type[Any], str]) -> str:
        """The claim that a decision is about."""
        view = self._at(place)
        if isinstance(view, PersistentVolumeClaim):
            return place[1]
        reference = view.spec.claim_ref
        return "" if reference is None else f"{reference.namespace}/{reference.name}"

    def take_back(self) -> None:
        """Hold everything as it was seen."""
        for (_, key), seen in self._before.items():
            self._put(seen, key)
        self._before.clear()


def _limits(node: CSINode) -> dict[str, int]:
    return {
        driver.name: driver.allocatable.count
        for driver in node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _key(view: Any) -> str:
    metadata = view.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else str(metadata.name)
