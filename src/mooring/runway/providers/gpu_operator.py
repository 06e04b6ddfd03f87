"""NVIDIA's GPU Operator: what labels GPU nodes and gives their GPUs to pods, installed with Helm.

No provider of models: it makes nodes fit for them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.runway.providers.installable import Installable
from mooring.runway.providers.provider import HelmRepository, OperatorPods
from mooring.runway.settings import RunwaySettings

__all__ = ["GPU_OPERATOR", "OPERATOR_PODS", "POLICY_KIND"]

_ID: Final = "gpu-operator"
_REPOSITORY: Final = "nvidia"
# The operator waits for drivers to be built on every GPU node.
_TIMEOUT_SECONDS: Final = 1200
OPERATOR_PODS: Final = OperatorPods(_ID, f"app={_ID}")
# The kind that the operator takes its orders from; where it is served, the chart has been there.
POLICY_KIND: Final = ("nvidia.com/v1", "ClusterPolicy")


def _installation(settings: RunwaySettings) -> Object:
    repository = HelmRepository(_REPOSITORY, settings.gpu_operator_repository)
    chart = HelmChart(
        name=_ID,
        chart=f"{_REPOSITORY}/{_ID}",
        version=settings.gpu_operator_version,
        namespace=_ID,
        create_namespace=True,
    )
    return {
        "apiVersion": API_VERSION,
        "kind": "Installation",
        "metadata": {"name": _ID},
        "spec": {
            "repository": msgspec.to_builtins(repository),
            "charts": [{key: value for key, value in msgspec.to_builtins(chart).items() if value is not None}],
            "crds": "Missing",
            "timeoutSeconds": _TIMEOUT_SECONDS,
        },
    }


GPU_OPERATOR: Final = Installable(id=_ID, name="GPU Operator", installation=_installation)
