"""What `explain` knows of a ModelServer: its pods, before there is one."""

from __future__ import annotations

import msgspec

from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.kinds import WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster
from tests.features.sample.api import GROUP, ModelImage, ModelImageSpec, ModelServer
from tests.features.sample.controller import pod_of


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    """The image does not matter to where pods land."""
    server = msgspec.convert(value, ModelServer)
    home, name = server.metadata.namespace or namespace, server.metadata.name
    image = ModelImage(spec=ModelImageSpec(server.spec.model))
    pods = [{"apiVersion": "v1", "kind": "Pod", **_pod(server, image, home, i)} for i in range(server.spec.replicas)]
    return Expansion("ModelServer", home, name, pods, template_path="")


def _pod(server: ModelServer, image: ModelImage, namespace: str, slot: int) -> Object:
    made = pod_of(server, image, f"{server.metadata.name}-{slot}")
    metadata = {name: value for name, value in made["metadata"].items() if name in ("name", "labels")}
    return {**made, "metadata": {**metadata, "namespace": namespace}}


MODEL_SERVER_PODS = WorkloadKind(f"{GROUP}/v1", "ModelServer", "modelservers", "ms", ModelServer, expand=_expand)
