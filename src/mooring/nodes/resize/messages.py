"""The events of a resize, in the kubelet's words: what each container is to have, as JSON."""

from __future__ import annotations

import json
from typing import Any

from mooring.api.core.types import Container, Pod, ResourceRequirements

__all__ = ["requirements", "resize_message"]


def resize_message(what: str, pod: Pod, generation: int, error: str = "") -> str:
    """`what` is completed, started, error, Deferred or Infeasible."""
    told: dict[str, Any] = {}
    for key, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
        if containers:
            told[key] = [_told(each) for each in containers]
    told["generation"] = generation
    if error:
        told["error"] = error
    return f"Pod resize {what}: {json.dumps(told, separators=(',', ':'), ensure_ascii=False)}"


def requirements(resources: ResourceRequirements) -> dict[str, Any]:
    """Resources as they stand in a status; what is empty is left out."""
    sides = (("limits", resources.limits), ("requests", resources.requests))
    return {side: amounts for side, amounts in sides if amounts}


def _told(container: Container) -> dict[str, Any]:
    sides = requirements(container.resources)
    return {"name": container.name, "resources": {side: dict(sorted(sides[side].items())) for side in sides}}
