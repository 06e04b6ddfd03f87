"""The command lines that serve a model: vLLM on one node or as a Ray cluster on several, or Hugging Face's runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.features.workspaces.api import (
    INFERENCE_SET,
    LOCAL_WEIGHTS,
    MULTI_ROLE,
    PERFORMANCE_MODE,
    RUNTIME,
    TRANSFORMERS,
    Workspace,
)
from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.features.workspaces.sizing.models import GIB, Model
from mooring.features.workspaces.workload.ports import LEADER_PORT, SERVING_PORT, serving_port

__all__ = ["WEIGHTS_PATH", "leader_host", "local_weights_path", "serving_command", "shell"]

WEIGHTS_PATH: Final = "/workspace/weights"
_VLLM: Final = "python3 /workspace/vllm/inference_api.py"
_RAY: Final = "/workspace/vllm/multi-node-serving.sh"
_ACCELERATE: Final = "accelerate launch --gpu_ids=all --machine_rank=0 --num_machines=1 --num_processes=1"
_TRANSFORMERS: Final = "/workspace/tfs/inference_api.py"
_CONFIG_FILE: Final = "/mnt/config/inference_config.yaml"
_LOCAL_WEIGHTS: Final = "/opt/kaito/models"
_MEMORY_UTILIZATION: Final = "0.84"
# These need more room beside the cache than others.
_MEMORY_UTILIZATION_OF: Final = {"NVIDIA A10": "0.82"}
_NO_CACHE_OFFLOADING: Final = {"kaito-kv-cache-cpu-memory-utilization": "0"}


def shell(command: str) -> list[str]:
    return ["/bin/sh", "-c", command]


def leader_host(workspace: Workspace) -> str:
    """The name under which the pods of a Workspace find the first of them."""
    name = workspace.metadata.name
    return f"{name}-0.{name}-headless.{workspace.metadata.namespace}.svc.cluster.local"


def local_weights_path(workspace: Workspace, preset: str) -> str:
    """Where nodes keep the weights, if the Workspace says that they do."""
    if workspace.metadata.annotations.get(LOCAL_WEIGHTS) != "true":
        return ""
    return f"{_LOCAL_WEIGHTS}/{preset.lower().replace('/', '-')}"


def serving_command(workspace: Workspace, preset: str, model: Model, node: NodeGpus, nodes: int) -> list[str]:
    if workspace.metadata.annotations.get(RUNTIME) == TRANSFORMERS:
        return shell(_transformers(model))
    flags = _vllm_flags(workspace, preset, model, node, nodes)
    serve = _with_flags(_VLLM, flags)
    if nodes == 1:
        return shell(serve)
    port = str(LEADER_PORT)
    lead = _with_flags(f"{_RAY} leader", {"ray_cluster_size": str(nodes), "ray_port": port})
    join = _with_flags(f"{_RAY} worker", {"ray_address": leader_host(workspace), "ray_port": port})
    return shell(f'if [ "${{POD_INDEX}}" = "0" ]; then {lead}; {serve}; else {join}; fi')


def _vllm_flags(workspace: Workspace, preset: str, model: Model, node: NodeGpus, nodes: int) -> dict[str, str]:
    labels, annotations = workspace.metadata.labels, workspace.metadata.annotations
    flags = {
        "load_format": "auto",
        "config_format": "auto",
        "tokenizer_mode": "auto",
        "trust-remote-code": "",
        "dtype": "bfloat16",
        **model.vllm,
        "served-model-name": model.served_name,
        "max-model-len": "auto",
        "gpu-memory-utilization": _MEMORY_UTILIZATION_OF.get(node.product, _MEMORY_UTILIZATION),
        "kv-events-config": "'{\"enable_kv_cache_events\":true}'",
        # This pass compiles kernels at run time, for which the image has no compiler.
        "compilation-config.pass_config.fuse_allreduce_rms": "False",
    }
    if (owner := labels.get(INFERENCE_SET)) and MULTI_ROLE not in labels:
        flags["served-model-name"] = owner
    if local := local_weights_path(workspace, preset):
        del flags["load_format"]
        flags |= {"model": local, "load-format": "runai_streamer"}
    else:
        flags |= {"model": model.id.lower(), "download-dir": WEIGHTS_PATH}
    if workspace.inference is not None and workspace.inference.config:
        flags["kaito-config-file"] = _CONFIG_FILE
    mode = annotations.get(PERFORMANCE_MODE, "balanced")
    if mode != "balanced":
        flags["performance-mode"] = mode
    if serving_port(workspace) != SERVING_PORT:
        flags["port"] = str(serving_port(workspace))
    if not model.offloads_cache or node.sliced:
        flags |= _NO_CACHE_OFFLOADING
    return flags | _parallelism(model, node, nodes)


def _parallelism(model: Model, node: NodeGpus, nodes: int) -> dict[str, str]:
    """Copies of the model where one GPU holds it twice over; else one model over all GPUs, and over all nodes."""
    if nodes == 1 and node.gpus > 1 and model.weight_bytes * node.gpus * 2 < node.memory_gib * GIB:
        return {"data-parallel-size": str(node.gpus), "tensor-parallel-size": "1", **_NO_CACHE_OFFLOADING}
    flags = {"tensor-parallel-size": str(node.gpus)}
    if nodes > 1:
        flags |= {"pipeline-parallel-size": str(nodes), "distributed-executor-backend": "ray", **_NO_CACHE_OFFLOADING}
    return flags


def _transformers(model: Model) -> str:
    flags = {
        **model.transformers,
        "served_model_name": model.served_name,
        "pretrained_model_name_or_path": model.id.lower(),
        "allow_remote_files": "",
    }
    return f"{_ACCELERATE} {_with_flags(_TRANSFORMERS, flags)}"


def _with_flags(command: str, flags: Mapping[str, str]) -> str:
    """The command with its flags in a fixed order, so that the same Workspace always gives the same text."""
    words = (f"--{name}={value}" if value else f"--{name}" for name, value in sorted(flags.items()))
    return " ".join((command, *words))
