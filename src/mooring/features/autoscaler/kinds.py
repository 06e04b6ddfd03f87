"""Pods, nodes and DaemonSets as the autoscaler follows them: wider views, and only where there are pools to scale."""

from __future__ import annotations

from typing import Any, Final

from mooring.api.kinds import Kind
from mooring.features.autoscaler.views import AutoscalerDaemonSet, AutoscalerNode, AutoscalerPod

__all__ = ["SCALED_DAEMON_SET", "SCALED_NODE", "SCALED_POD"]

SCALED_POD: Final[Kind[Any]] = Kind("v1", "Pod", AutoscalerPod, on_demand=True)
SCALED_NODE: Final[Kind[Any]] = Kind("v1", "Node", AutoscalerNode, on_demand=True)
SCALED_DAEMON_SET: Final[Kind[Any]] = Kind("apps/v1", "DaemonSet", AutoscalerDaemonSet, on_demand=True)
