"""The pods that serve a model: one container called `model`. Arguments are a list, so that no shell reads a name."""

from __future__ import annotations

import re
from typing import Final

from mooring.kube.objects import Object
from mooring.runway.deployments.config import GPU_RESOURCE, DeploymentConfig

__all__ = ["BASE_IMAGE", "PREMADE_IMAGES", "RUNNER_IMAGE", "llama_cpp_template", "vllm_arguments", "vllm_template"]

BASE_IMAGE: Final = "mcr.microsoft.com/aks/kaito/kaito-base:0.1.1"
PREMADE_IMAGES: Final = "ghcr.io/kaito-project/aikit/"
RUNNER_IMAGE: Final = "docker.io/sozercan/runner:latest"
BUILT_IMAGES: Final = "localhost:30500/aikit-"
LLAMA_CPP_PORT: Final = 5000
VLLM_PORT: Final = 8000
# Weights take minutes to load; until then vLLM answers nothing.
_LOADING_SECONDS: Final = 600
_QUANTIZATION: Final = re.compile(r"(?<![A-Z0-9])(I?Q\d(?:_[A-Z0-9]+)*|F16|F32|BF16)(?![A-Z0-9])")
_MAX_REPOSITORY: Final = 63


def llama_cpp_template(config: DeploymentConfig) -> Object:
    """llama.cpp with the weights in its image, or fetched by a runner at its start."""
    arguments = [f"--address=:{LLAMA_CPP_PORT}"]
    if config.model_source == "huggingface" and config.gguf_run_mode == "direct":
        image, first = RUNNER_IMAGE, f"huggingface://{config.model_id}/{config.gguf_file}"
    elif config.model_source == "huggingface":
        image, first = config.image_ref or _built_image(config), "run"
    else:
        image, first = config.image_ref or f"{PREMADE_IMAGES}{config.premade_model}", "run"
    container: Object = {
        "name": "model",
        "image": image,
        "args": [first, *arguments],
        "ports": [{"containerPort": LLAMA_CPP_PORT, "protocol": "TCP"}],
    }
    if resources := _resources(config, gpus_are_requests=False):
        container["resources"] = resources
    if config.hf_token_secret:
        container["env"] = [_token(config)]
    return {"spec": {"containers": [container]}}


def vllm_template(config: DeploymentConfig, image: str = BASE_IMAGE) -> Object:
    """vLLM on the GPUs of one node."""
    probe = {"httpGet": {"path": "/health", "port": VLLM_PORT}, "periodSeconds": 10, "failureThreshold": 3}
    container: Object = {
        "name": "model",
        "image": config.image_ref or image,
        "command": ["python"],
        "args": ["-m", "vllm.entrypoints.openai.api_server", "--model", config.model_id, *vllm_arguments(config)],
        "ports": [{"containerPort": VLLM_PORT, "protocol": "TCP"}],
        "resources": _resources(config, gpus_are_requests=True),
        "livenessProbe": {**probe, "initialDelaySeconds": _LOADING_SECONDS},
        "readinessProbe": {**probe, "initialDelaySeconds": 30},
        "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],
    }
    if config.hf_token_secret:
        container["env"] = [_token(config)]
    # GPUs of one pod talk to each other through shared memory.
    return {"spec": {"containers": [container], "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]}}


def vllm_arguments(config: DeploymentConfig) -> list[str]:
    """The arguments of vLLM after the model."""
    arguments = ["--tensor-parallel-size", str(config.gpus)]
    if config.trust_remote_code:
        arguments.append("--trust-remote-code")
    if config.token_limit:
        arguments += ["--max-model-len", str(config.token_limit)]
    if config.served_model_name:
        arguments += ["--served-model-name", config.served_model_name]
    if config.enforce_eager:
        arguments.append("--enforce-eager")
    if config.enable_prefix_caching:
        arguments.append("--enable-prefix-caching")
    for name, value in sorted(config.engine_args.items()):
        if value is not False:
            arguments.append(f"--{name}" if value is True else f"--{name}={value}")
    return arguments


def _resources(config: DeploymentConfig, *, gpus_are_requests: bool) -> Object:
    requests: Object = {}
    if config.resources.cpu:
        requests["cpu"] = config.resources.cpu
    if config.resources.memory:
        requests["memory"] = config.resources.memory
    gpus = {GPU_RESOURCE: str(config.gpus)} if config.gpus else {}
    if gpus_are_requests:
        requests |= gpus
    return {name: amounts for name, amounts in (("requests", requests), ("limits", gpus)) if amounts}


def _token(config: DeploymentConfig) -> Object:
    return {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": config.hf_token_secret, "key": "HF_TOKEN"}}}


def _built_image(config: DeploymentConfig) -> str:
    """The image that a build of this file is pushed as."""
    name = re.sub(r"[^a-z0-9-]+", "-", config.model_id.lower())
    name = re.sub(r"-+", "-", name).strip("-")[:_MAX_REPOSITORY].rstrip("-")
    found = _QUANTIZATION.search(config.gguf_file.upper())
    return f"{BUILT_IMAGES}{name}:{found[0] if found else 'custom'}"
