"""Taints and labels that state facts about a node, which are not to be edited to get a pod in.

The node controller sets condition taints while a node is unwell, and takes them away when it is well again. Labels that
identify a node say what machine it is and where it stands.
"""

from __future__ import annotations

from mooring.api.core.defaults.tolerations import NOT_READY, UNREACHABLE
from mooring.api.core.types import Taint

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
HOSTNAME = "kubernetes.io/hostname"

_CONDITIONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in (
        "not-ready",
        "unreachable",
        "memory-pressure",
        "disk-pressure",
        "pid-pressure",
        "network-unavailable",
        "out-of-service",
    )
) | {"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown"}

_IDENTITY = frozenset(
    {
        HOSTNAME,
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    }
)


def is_away(taint: Taint) -> bool:
    """A taint of a node whose kubelet is not ready or not heard from: it goes when the node is back."""
    return taint.key in (NOT_READY, UNREACHABLE)


def is_condition(taint: Taint) -> bool:
    return taint.key in _CONDITIONS


def is_passing(taint: Taint) -> bool:
    """A taint that a fresh node of the same kind would not have."""
    return is_condition(taint) or taint.key == UNSCHEDULABLE


def identifies(key: str) -> bool:
    return key in _IDENTITY
