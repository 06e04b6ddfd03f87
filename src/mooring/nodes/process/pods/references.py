"""What an event of the node is about: the node, a pod, or one container of it."""

from __future__ import annotations

from typing import Any

from mooring.nodes.process.pods.specs import init_containers
from mooring.runtime.events.recorder import ObjectReference

__all__ = ["reference_to"]


def reference_to(about: dict[str, Any], kind: str, container: str = "") -> ObjectReference:
    meta = about["metadata"]
    path = ""
    if container:
        is_init = any(each["name"] == container for each in init_containers(about))
        path = f"spec.{'initContainers' if is_init else 'containers'}{{{container}}}"
    return ObjectReference("v1", kind, meta.get("namespace", ""), meta["name"], meta.get("uid", ""), path)
