"""Validation of pods, once per spec: a pod whose spec was found valid before is checked only in what is its own.

Ten thousand pods of one template have one spec, and its rules cost more than the rest of a write.
"""

from collections.abc import Callable
from typing import Final

from mooring.api.core.validation.meta import check_metadata
from mooring.api.core.validation.pods import validate_decoded_pod
from mooring.kube.errors import FieldError
from mooring.kube.interning import intern
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain, is_valid_name
from mooring.kube.objects import Object
from mooring.registry.part_store import fingerprint

__all__ = ["validate_pod_once"]

Errors = list[FieldError]

_MAX_VALID: Final = 4096
_VALID: Final[dict[bytes, None]] = {}
# Fields in which pods of one template differ and that can be checked alone, each with its check.
_OF_ONE_POD: Final[dict[str, Callable[[str], list[str]]]] = {
    "hostname": is_dns1123_label,
    "nodeName": is_dns1123_subdomain,
}


def _any_volume_named_after_pod(spec: Object) -> bool:
    return any("ephemeral" in volume for volume in spec.get("volumes", ()))


def validate_pod_once(pod: Object, rules: Callable[[Object], list[FieldError]] = validate_decoded_pod) -> Errors:
    """The errors of the rules; a spec that passed before, with the same annotations, passes again."""
    metadata, spec = pod["metadata"], pod["spec"]
    given = {name: "x" for name, texts in _OF_ONE_POD.items() if (text := spec.get(name)) and not texts(text)}
    key = fingerprint(({**spec, **given} if given else spec, metadata.get("annotations")))
    if key in _VALID:
        errors: Errors = []
        check_metadata(errors, metadata, lambda name, prefix: is_valid_name(name, prefix=prefix), namespaced=True)
        return errors
    errors = rules(pod)
    if not errors and rules is validate_decoded_pod and not _any_volume_named_after_pod(spec):
        intern(_VALID, key, None, _MAX_VALID)
    return errors
