"""The StatefulSet of a Workspace: pods that serve a preset, or pods from a template that its author wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.features.workspaces import api
from mooring.features.workspaces.api import Preset, Workspace
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.features.workspaces.sizing.models import Model
from mooring.features.workspaces.workload.commands import WEIGHTS_PATH, local_weights_path, serving_command
from mooring.features.workspaces.workload.ports import CACHE_EVENTS_PORT, DECODE_PORT, SERVING_PORT, serving_port
from mooring.features.workspaces.workload.probes import probes
from mooring.kube.objects import Object

__all__ = ["NVME_STORAGE_CLASS", "preset_stateful_set", "runs_benchmark", "template_stateful_set"]

NVME_STORAGE_CLASS: Final = "kaito-local-nvme-disk"
_IMAGE: Final = "mcr.microsoft.com/aks/kaito/kaito-base:0.5.0"
_SIDECAR_IMAGE: Final = "mcr.microsoft.com/oss/v2/llm-d/llm-d-routing-sidecar:v0.8.0"
_CUDA: Final = "/opt/kaito/cuda/129"
_CUDA_VOLUME: Final = "cuda-toolkit-hostpath"
_WEIGHTS_VOLUME: Final = "model-weights-volume"
_ROLES: Final = ("prefill", "decode")


def preset_stateful_set(
    workspace: Workspace,
    preset: Preset,
    model: Model,
    node: NodeGpus,
    nodes: int,
    labels: Mapping[str, str],
    settings: Settings,
    owner: Object,
    *,
    claims_nvme: bool,
) -> Object:
    """`labels` are those of the selector; `claims_nvme`: weights go to a claim on the node's own fast disks."""
    name = workspace.metadata.name
    local = local_weights_path(workspace, preset.name)
    downloads = not local
    selector = _pod_labels(workspace)
    pod = _pod(workspace, preset, model, node, nodes, local)
    pod["tolerations"] = _tolerations(settings)
    if wanted := _node_labels(workspace, labels, settings):
        pod["affinity"] = _affinity(wanted)
    spec: Object = {
        "replicas": nodes,
        "podManagementPolicy": "Parallel",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
        "selector": {"matchLabels": selector},
        "serviceName": f"{name}-headless",
        "template": {"metadata": {"labels": selector}, "spec": pod},
    }
    if downloads and claims_nvme:
        spec["volumeClaimTemplates"] = [_weights_claim(workspace, model)]
    elif downloads:
        pod["volumes"].append({"name": _WEIGHTS_VOLUME, "emptyDir": {}})
    revision = workspace.metadata.annotations.get(api.REVISION, "1")
    return {"metadata": {**_metadata(workspace, owner), "annotations": {api.REVISION: revision}}, "spec": spec}


def template_stateful_set(
    workspace: Workspace, template: Object, nodes: int, labels: Mapping[str, str], settings: Settings, owner: Object
) -> Object:
    """Pods as their author wrote them, but for the nodes that they go to."""
    metadata = template.get("metadata") or {}
    selector = _pod_labels(workspace)
    pod = {**(template.get("spec") or {})}
    pod.pop("affinity", None)
    if wanted := _node_labels(workspace, labels, settings):
        pod["affinity"] = _affinity(wanted)
    pod["tolerations"] = [*(pod.get("tolerations") or ()), *_tolerations(settings)]
    spec = {
        "replicas": nodes,
        "serviceName": "",
        "selector": {"matchLabels": selector},
        "template": {"metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **selector}}, "spec": pod},
    }
    return {"metadata": _metadata(workspace, owner), "spec": spec}


def runs_benchmark(workspace: Workspace) -> bool:
    """Whether the first start of the model is also a measurement of it."""
    annotations = workspace.metadata.annotations
    return annotations.get(api.DISABLE_BENCHMARK) != "true" and annotations.get(api.RUNTIME) != api.TRANSFORMERS


def _pod(workspace: Workspace, preset: Preset, model: Model, node: NodeGpus, nodes: int, local: str) -> Object:
    is_vllm = workspace.metadata.annotations.get(api.RUNTIME) != api.TRANSFORMERS
    volumes, mounts = _volumes(workspace, model, local)
    gpus = {"nvidia.com/gpu": str(node.gpus)}
    port = serving_port(workspace)
    ports: list[Object] = [{"name": "http", "containerPort": port}]
    if is_vllm:
        ports.append({"name": "kv-events", "containerPort": CACHE_EVENTS_PORT})
    container: Object = {
        "name": workspace.metadata.name,
        "image": _IMAGE,
        "command": serving_command(workspace, preset.name, model, node, nodes),
        "resources": {"requests": gpus, "limits": gpus},
        "ports": ports,
        "env": _environment(workspace, preset, model, nodes, local, is_vllm=is_vllm),
        "volumeMounts": mounts,
        **probes(workspace, model, nodes=nodes if is_vllm else 1, benchmark=runs_benchmark(workspace)),
    }
    containers = [container] if port == SERVING_PORT else [container, _routing_sidecar()]
    pod: Object = {"containers": containers, "volumes": volumes}
    if model.cuda_toolkit:
        pod["initContainers"] = [_cuda_toolkit()]
    return pod


def _environment(
    workspace: Workspace, preset: Preset, model: Model, nodes: int, local: str, *, is_vllm: bool
) -> list[Object]:
    found: list[Object] = []
    if is_vllm:
        found.append({"name": "VLLM_USE_FLASHINFER_SAMPLER", "value": "0"})
        found.append({"name": "VLLM_USE_DEEP_GEMM", "value": "1" if model.deep_gemm else "0"})
    if model.cuda_toolkit:
        found.append({"name": "CUDA_HOME", "value": _CUDA})
    if local:
        found.append({"name": "KAITO_PROCESSOR", "value": local})
    role = workspace.metadata.labels.get(api.INFERENCE_ROLE)
    if role in _ROLES:
        found.append({"name": "KAITO_INFERENCE_ROLE", "value": role})
        found.append(_field("VLLM_NIXL_SIDE_CHANNEL_HOST", "status.podIP"))
    if secret := preset.preset_options.model_access_secret:
        key = {"name": secret, "key": "HF_TOKEN", "optional": True}
        found.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": key}})
    if is_vllm and nodes > 1:
        found.append(_field("POD_INDEX", "metadata.labels['apps.kubernetes.io/pod-index']"))
    return found


def _routing_sidecar() -> Object:
    """Stands before a server that decodes what other pods prepared, and fetches that from them."""
    flags = [f"--port={SERVING_PORT}", f"--vllm-port={DECODE_PORT}", "--secure-proxy=false"]
    return {
        "name": "llm-d-routing-sidecar",
        "image": _SIDECAR_IMAGE,
        "args": flags,
        "ports": [{"name": "sidecar", "containerPort": SERVING_PORT, "protocol": "TCP"}],
        "env": [_field("POD_IP", "status.podIP"), _field("VLLM_NIXL_SIDE_CHANNEL_HOST", "status.podIP")],
    }


def _field(name: str, path: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _volumes(workspace: Workspace, model: Model, local: str) -> tuple[list[Object], list[Object]]:
    volumes: list[Object] = []
    mounts: list[Object] = []
    config = "" if workspace.inference is None else workspace.inference.config
    if config:
        volumes.append({"name": "config-volume", "configMap": {"name": config}})
        mounts.append({"name": "config-volume", "mountPath": "/mnt/config"})
    if local:
        volumes.append({"name": "model-weights-hostpath", "hostPath": {"path": local, "type": "Directory"}})
        mounts.append({"name": "model-weights-hostpath", "mountPath": local, "readOnly": True})
    else:
        mounts.append({"name": _WEIGHTS_VOLUME, "mountPath": WEIGHTS_PATH})
    if model.cuda_toolkit:
        volumes.append({"name": _CUDA_VOLUME, "hostPath": {"path": _CUDA, "type": "DirectoryOrCreate"}})
        mounts.append({"name": _CUDA_VOLUME, "mountPath": _CUDA, "readOnly": True})
    volumes.append({"name": "dshm", "emptyDir": {"medium": "Memory"}})
    mounts.append({"name": "dshm", "mountPath": "/dev/shm"})
    return volumes, mounts


def _cuda_toolkit() -> Object:
    """Installs the compiler on a node that lacks it, one pod at a time."""
    return {
        "name": "cuda-toolkit-provisioner",
        "image": _IMAGE,
        "command": ["/bin/sh", "-c", 'flock "$1" /workspace/cuda-provision.sh "$1"', "sh", _CUDA],
        "volumeMounts": [{"name": _CUDA_VOLUME, "mountPath": _CUDA}],
    }


def _weights_claim(workspace: Workspace, model: Model) -> Object:
    return {
        "metadata": {"name": _WEIGHTS_VOLUME, "labels": {api.NAME_LABEL: workspace.metadata.name}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": NVME_STORAGE_CLASS,
            "resources": {"requests": {"storage": f"{model.disk_gib}Gi"}},
        },
    }


def _pod_labels(workspace: Workspace) -> dict[str, str]:
    carried = (api.INFERENCE_SET, api.MULTI_ROLE, api.INFERENCE_ROLE)
    labels = workspace.metadata.labels
    return {api.NAME_LABEL: workspace.metadata.name, **{key: labels[key] for key in carried if key in labels}}


def _node_labels(workspace: Workspace, labels: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Pods go where nodes count: with auto-provisioning those of another type do not."""
    wanted = workspace.resource.instance_type
    return {**labels, INSTANCE_TYPE_LABEL: wanted} if settings.provisions and wanted else dict(labels)


def _affinity(labels: Mapping[str, str]) -> Object:
    terms = [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(labels.items())]
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _tolerations(settings: Settings) -> list[Object]:
    found: list[Object] = [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    ]
    if settings.cloud_provider == "azure":
        spot = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot"}
        found.append({**spot, "effect": "NoSchedule"})
    return found


def _metadata(workspace: Workspace, owner: Object) -> Object:
    metadata = workspace.metadata
    return {"name": metadata.name, "namespace": metadata.namespace, "ownerReferences": [owner]}
