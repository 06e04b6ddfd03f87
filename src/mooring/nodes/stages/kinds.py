"""Stages, and pods and nodes as whole objects, which a Stage may ask anything of.

The whole objects are a second view of kinds that everybody reads. They are followed only while there are Stages.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.kinds import Kind
from mooring.api.meta import Condition, Meta
from mooring.kube.objects import Object


class StageStatus(View, frozen=True):
    conditions: tuple[Condition, ...] = ()


class Stage(View, frozen=True):
    metadata: Meta = Meta()
    spec: Object = msgspec.field(default_factory=dict)
    status: StageStatus = StageStatus()


class WholeMeta(Meta, frozen=True):
    generate_name: str = ""
    annotations: Labels = msgspec.field(default_factory=dict)


class Whole(View, frozen=True):
    metadata: WholeMeta = WholeMeta()
    spec: Object = msgspec.field(default_factory=dict)
    status: Object = msgspec.field(default_factory=dict)

    def as_object(self, kind: Kind[Any]) -> Object:
        """The object as the API has it, without what only a server cares for."""
        metadata = {
            name: value for name, value in msgspec.to_builtins(self.metadata).items() if value not in (None, "")
        }
        for name in ("labels", "annotations", "finalizers", "ownerReferences"):
            if not metadata[name]:
                del metadata[name]
        named = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        return {**named, "spec": self.spec, "status": self.status}


STAGE: Final = Kind("kwok.x-k8s.io/v1alpha1", "Stage", Stage, optional=True)
WHOLE_POD: Final = Kind("v1", "Pod", Whole, on_demand=True)
WHOLE_NODE: Final = Kind("v1", "Node", Whole, on_demand=True)
