"""Taints and tolerations: whether a toleration matches a taint, and which taints keep a pod off a node."""

from __future__ import annotations

from mooring.api.core.types import Taint, Toleration

UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""What a cordoned node counts as: a pod that tolerates it may be scheduled there."""


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def tolerated(tolerations: tuple[Toleration, ...], taint: Taint) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...]) -> list[Taint]:
    """The taints that keep a pod off a node, in the node's order."""
    return [t for t in taints if t.effect in ("NoSchedule", "NoExecute") and not tolerated(tolerations, t)]
