"""Equal parts are one part, and what was found out about one holds for all.

A cluster holds thousands of pods stamped out of a few templates. Parts with the same JSON are stored once, which more
than halves what a pod weighs, and a pod whose spec was found valid before is not checked word by word again. Both are
bounded: when full they start anew, which costs time and never correctness.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from mooring.api.core.validation.meta import check_metadata
from mooring.api.core.validation.pods import validate_decoded_pod
from mooring.kube.errors import FieldError
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain, is_valid_name
from mooring.kube.objects import Object

__all__ = ["PartStore", "fingerprint", "validate_pod_once"]

Errors = list[FieldError]

fingerprint: Final = msgspec.json.Encoder().encode
_MAX_ENTRIES: Final = 4096
_METADATA: Final = ("labels", "annotations", "ownerReferences", "finalizers")


class PartStore:
    """The parts that objects share, found by their JSON."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Any] = {}

    def one(self, part: Any) -> Any:
        """The first part that looked like this one."""
        key = fingerprint(part)
        found = self._parts.get(key)
        if found is None:
            if len(self._parts) >= _MAX_ENTRIES:
                self._parts.clear()
            found = self._parts[key] = part
        return found

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


_VALID: Final[set[bytes]] = set()
# Fields in which pods of one template differ and that stand for themselves, with what is wrong with their texts.
_OF_ONE_POD: Final[dict[str, Callable[[str], list[str]]]] = {
    "hostname": is_dns1123_label,
    "nodeName": is_dns1123_subdomain,
}


def _any_volume_named_after_pod(spec: Object) -> bool:
    return any("ephemeral" in volume for volume in spec.get("volumes", ()))


def validate_pod_once(pod: Object, rules: Callable[[Object], list[FieldError]] = validate_decoded_pod) -> Errors:
    """What the rules say; a spec that passed before, with the same annotations, passes again."""
    metadata, spec = pod["metadata"], pod["spec"]
    given = {name: "x" for name, texts in _OF_ONE_POD.items() if (text := spec.get(name)) and not texts(text)}
    key = fingerprint(({**spec, **given} if given else spec, metadata.get("annotations")))
    if key in _VALID:
        errors: Errors = []
        check_metadata(errors, metadata, lambda name, prefix: is_valid_name(name, prefix=prefix), namespaced=True)
        return errors
    errors = rules(pod)
    if not errors and rules is validate_decoded_pod and not _any_volume_named_after_pod(spec):
        if len(_VALID) >= _MAX_ENTRIES:
            _VALID.clear()
        _VALID.add(key)
    return errors
