"""What the pods of an operator tell of it: whether one is ready, and which version it is."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.kube.images import image_tag
from mooring.kube.objects import Object

__all__ = ["running", "version_of"]


def running(pods: Iterable[Object]) -> bool:
    return any(_is_ready(pod) for pod in pods)


def version_of(pods: Iterable[Object]) -> str:
    """By the tag of the first container's image, which charts give the version of the operator."""
    for pod in pods:
        containers = (pod.get("spec") or {}).get("containers") or ()
        if containers:
            return image_tag(str(containers[0].get("image") or "")).removeprefix("v")
    return ""


def _is_ready(pod: Object) -> bool:
    status = pod.get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    return status.get("phase") == "Running" and conditions.get("Ready") == "True"
