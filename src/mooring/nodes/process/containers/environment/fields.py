"""What a pod may ask about itself: `fieldRef` and `resourceFieldRef`, in variables and in downward API files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.kube.quantities import milli_value, parse_quantity, value
from mooring.nodes.process.pods.specs import container_named

__all__ = ["FieldRefError", "NodeFields", "field_value", "resource_value"]


_SUBSCRIPT: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]").fullmatch


class FieldRefError(Exception):
    """A field that cannot be read; the text says which."""


class NodeFields(NamedTuple):
    """What the node adds to what the pod says of itself. `allocatable` is what counts where no limit is set."""

    node: str
    address: str
    allocatable: Mapping[str, str]


def field_value(pod: Object, path: str, node_fields: NodeFields) -> str:
    meta, spec = pod["metadata"], pod["spec"]
    if (match := _SUBSCRIPT(path)) is not None:
        return str((meta.get(match.group(1)) or {}).get(match.group(2), ""))
    match path:
        case "metadata.name" | "metadata.namespace" | "metadata.uid":
            return str(meta[path.partition(".")[2]])
        case "metadata.labels" | "metadata.annotations":
            return _lines(meta.get(path.partition(".")[2]) or {})
        case "spec.nodeName":
            return node_fields.node
        case "spec.serviceAccountName":
            return str(spec.get("serviceAccountName") or "")
        case "status.hostIP" | "status.hostIPs" | "status.podIP" | "status.podIPs":
            return node_fields.address
    raise FieldRefError(f"field label not supported: {path}")


def _lines(pairs: Mapping[str, str]) -> str:
    escaped = {key: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for key, text in pairs.items()}
    return "\n".join(f'{key}="{escaped[key]}"' for key in sorted(escaped))


def resource_value(pod: Object, reference: Object, container: Object | None, node_fields: NodeFields) -> str:
    """A request or limit in units of the divisor, rounded up. What is not limited is limited by the node."""
    named = reference.get("containerName")
    if named:
        container = container_named(pod, named)
    if container is None:
        raise FieldRefError("resourceFieldRef needs a containerName")
    which, _, name = str(reference["resource"]).partition(".")
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    amount = limits.get(name) if which == "limits" else requests.get(name, limits.get(name))
    if amount is None:
        amount = node_fields.allocatable.get(name, "0") if which == "limits" else "0"
    divisor = reference.get("divisor") or "1"
    if not parse_quantity(divisor).mantissa:
        divisor = "1"
    if name == "cpu":
        return str(-(-milli_value(amount) // milli_value(divisor)))
    return str(-(-value(amount) // value(divisor)))
