"""The kinds of metrics.k8s.io, for discovery and routing; they are in no store."""

from typing import Final

from mooring.registry import Resource

__all__ = ["GROUP", "METRICS", "NODE_METRICS", "POD_METRICS"]

GROUP: Final = "metrics.k8s.io"
NODE_METRICS: Final = Resource(GROUP, "v1beta1", "NodeMetrics", "nodes", False, "", list_kind="NodeMetricsList")
POD_METRICS: Final = Resource(GROUP, "v1beta1", "PodMetrics", "pods", True, "", list_kind="PodMetricsList")
METRICS: Final = (NODE_METRICS, POD_METRICS)
