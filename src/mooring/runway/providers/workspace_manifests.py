"""The Workspace of a deployment, and the Service that leads to vLLM in it."""

from __future__ import annotations

from typing import Final

from mooring.features.workspaces.api import API_VERSION, KIND, NAME_LABEL
from mooring.kube.objects import Object
from mooring.runway.deployments.config import GPU_LABEL, DeploymentConfig
from mooring.runway.providers.labels import metadata
from mooring.runway.providers.pod_templates import VLLM_PORT, llama_cpp_template, vllm_template

__all__ = ["GPU_NODES", "LINUX_NODES", "vllm_service", "workspace"]

GPU_NODES: Final = {GPU_LABEL: "true"}
LINUX_NODES: Final = {"kubernetes.io/os": "linux"}


def workspace(config: DeploymentConfig, gpu_nodes: dict[str, str]) -> Object:
    """A Workspace has no spec: what it needs and what it runs stand at its top. `gpu_nodes` is the default for GPUs."""
    default = gpu_nodes if config.needs_gpu else LINUX_NODES
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata(config),
        "resource": {
            # A preset is one replica on as many nodes; the pods of a template are replicas, one on each.
            "count": config.nodes if config.model_source == "preset" else config.replicas or 1,
            "labelSelector": {"matchLabels": dict(config.label_selector or default)},
        },
        "inference": _inference(config),
    }


def _inference(config: DeploymentConfig) -> Object:
    if config.model_source == "preset":
        preset: Object = {"name": config.model_id}
        if config.hf_token_secret:
            preset["presetOptions"] = {"modelAccessSecret": config.hf_token_secret}
        return {"preset": preset}
    template = vllm_template(config) if config.model_source == "vllm" else llama_cpp_template(config)
    return {"template": template}


def vllm_service(config: DeploymentConfig, selector: dict[str, str] | None = None) -> Object:
    """The Workspace's own Service leads to port 5000, where vLLM does not listen."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(config, f"{config.name}-vllm"),
        "spec": {
            "selector": selector or {NAME_LABEL: config.name},
            "ports": [{"name": "http", "port": VLLM_PORT, "targetPort": VLLM_PORT, "protocol": "TCP"}],
        },
    }
