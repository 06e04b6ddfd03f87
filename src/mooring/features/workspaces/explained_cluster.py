"""The cluster of an explanation as validation and estimates ask about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec

from mooring.api.core.views import Node
from mooring.kube.objects import Object
from mooring.placement.snapshot import to_object
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.placement.workloads.node_readiness import with_readiness

__all__ = ["ExplainedCluster"]


class ExplainedCluster:
    """ConfigMaps are those that stand in the manifests beside the Workspace: snapshots hold none."""

    def __init__(self, known: KnownCluster) -> None:
        self._known = known

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(msgspec.convert(with_readiness(to_object(node)), Node) for node in self._known.nodes())

    def config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        for each in self._known.objects("v1", "ConfigMap"):
            metadata = each["metadata"]
            if (metadata.get("namespace"), metadata.get("name")) == (namespace, name):
                data: Object = each.get("data") or {}
                return data
        return None

    def has_csi_driver(self, name: str) -> bool:
        return False
