"""The tolerations that admission gives every pod: a node that is not ready keeps its pods for five minutes.

They stand apart from the defaults of a pod, because an API server that is told to leaves them out.
"""

from __future__ import annotations

from typing import Any, Final

from mooring.kube.objects import Object

__all__ = ["NOT_READY", "UNREACHABLE", "with_default_tolerations"]

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_SECONDS: Final = 300


def with_default_tolerations(spec: Object) -> Object:
    """The same spec where it says itself how long the pod stays."""
    tolerations: list[Any] = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
        for key in (NOT_READY, UNREACHABLE)
        if not any(
            each.get("key", "") in (key, "") and each.get("effect", "") in ("NoExecute", "") for each in tolerations
        )
    ]
    return {**spec, "tolerations": [*tolerations, *added]} if added else spec
