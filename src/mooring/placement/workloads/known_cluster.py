"""What an expansion may ask of the cluster that a workload would be in, and of the settings of its controllers.

Most workloads come to the same pods everywhere. One that chooses its nodes itself does not: how many pods it makes, and
what each asks for, depends on the nodes that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from mooring.api.core.types import Node
from mooring.kube.objects import Object

__all__ = ["KnownCluster", "NodeSelection", "UncountedNode"]


def _no_nodes() -> Sequence[Node]:
    return ()


def _no_objects(api_version: str, kind: str) -> Sequence[Object]:
    return ()


class KnownCluster(NamedTuple):
    # Pods that are there, as "namespace/name".
    taken: Container[str] = ()
    nodes: Callable[[], Sequence[Node]] = _no_nodes
    # All objects of a kind, by its apiVersion and name; none where they are not known.
    objects: Callable[[str, str], Sequence[Object]] = _no_objects
    # Feature gates and flags that were given; what is not here has its default.
    gates: Mapping[str, bool] = {}
    settings: Mapping[str, str] = {}


class UncountedNode(NamedTuple):
    """A node that matches and is of no use, and why: "is not ready (KubeletNotReady)"."""

    name: str
    reason: str


class NodeSelection(NamedTuple):
    """The nodes that a workload chooses by their labels, before any of its pods is placed."""

    # The labels, as "key=value, ...".
    labels: str
    # How many nodes must be there, and what follows from: 0 where it cannot be told, and then why not. Without a reason
    # there is no such number.
    required: int
    reason: str
    matching: tuple[str, ...]
    counted: tuple[str, ...]
    uncounted: tuple[UncountedNode, ...]
    # How many nodes more are asked for, and of which type; nothing where none ever are.
    claims: int = 0
    claimed_type: str = ""
    # What the nodes are that count.
    counted_as: str = "ready"
