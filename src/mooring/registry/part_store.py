"""The parts that stored objects share: labels, tolerations, containers and the like, each held once.

Parts with the same JSON are one part, which more than halves what a pod weighs. That is safe because stored objects are
never mutated.
"""

from typing import Any, Final

import msgspec

from mooring.kube.interning import intern
from mooring.kube.objects import Object

__all__ = ["PartStore", "fingerprint"]

fingerprint: Final = msgspec.json.Encoder().encode
_MAX_PARTS: Final = 4096
_METADATA: Final = ("labels", "annotations", "ownerReferences", "finalizers")


class PartStore:
    """The parts that objects share, found by their JSON."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Any] = {}

    def one(self, part: Any) -> Any:
        """The held part that equals this one; this one if there is none."""
        key = fingerprint(part)
        found = self._parts.get(key)
        return intern(self._parts, key, part, _MAX_PARTS) if found is None else found

    def share(self, obj: Object) -> None:
        """Replace the parts of a new object, which belongs to the registry, by shared ones."""
        metadata, spec = obj["metadata"], obj.get("spec")
        for name in _METADATA:
            if name in metadata:
                metadata[name] = self.one(metadata[name])
        if isinstance(spec, dict):
            for name, value in spec.items():
                if value.__class__ is dict or value.__class__ is list:
                    spec[name] = self.one(value)
