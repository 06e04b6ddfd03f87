"""A deployment as people ask for it: one model, how it is served, and on which nodes."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from mooring.runway.models.catalogue import ModelSource

__all__ = ["GPU_LABEL", "GPU_RESOURCE", "ComputeType", "DeploymentConfig", "DeploymentResources", "GgufRunMode"]

ComputeType = Literal["cpu", "gpu"]
GgufRunMode = Literal["build", "direct"]
Engine = Literal["vllm", "llamacpp", "sglang", "trtllm"]

GPU_RESOURCE: Final = "nvidia.com/gpu"
# Written by the GPU Operator, by node groups of clouds, or by hand. GPU feature discovery does not write it.
GPU_LABEL: Final = "nvidia.com/gpu.present"


class DeploymentResources(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What each pod asks for. `gpu` is 1 where GPUs are needed and no number is given."""

    gpu: int | None = None
    cpu: str = ""
    memory: str = ""


class DeploymentConfig(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Everything that a provider makes manifests of.

    `nodes` is the number of pods that serve one replica together, each on a node of its own.
    """

    name: str
    namespace: str = ""
    provider: str = ""
    model_id: str = ""
    model_source: ModelSource = "vllm"
    premade_model: str = ""
    gguf_file: str = ""
    gguf_run_mode: GgufRunMode = "direct"
    image_ref: str = ""
    compute_type: ComputeType = "cpu"
    replicas: int = 1
    nodes: int = 1
    resources: DeploymentResources = DeploymentResources()
    label_selector: dict[str, str] = msgspec.field(default_factory=dict)
    hf_token_secret: str = ""
    served_model_name: str = ""
    max_model_len: int | None = None
    context_length: int | None = None
    trust_remote_code: bool = False
    enforce_eager: bool = False
    enable_prefix_caching: bool = False
    engine_args: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)
    engine: Engine | None = None
    mode: Literal["aggregated", "disaggregated"] = "aggregated"
    router_mode: Literal["none", "kv", "round-robin"] = "none"

    @property
    def needs_gpu(self) -> bool:
        """vLLM and presets serve on GPUs only, whatever the compute type says."""
        return self.compute_type == "gpu" or self.model_source in ("vllm", "preset")

    @property
    def gpus(self) -> int:
        """GPUs of each pod."""
        return (self.resources.gpu or 1) if self.needs_gpu else 0

    @property
    def token_limit(self) -> int | None:
        """The longest context: upstream's forms call it by two names."""
        return self.max_model_len or self.context_length

    @property
    def served_by(self) -> Literal["vllm", "llamacpp"]:
        return "vllm" if self.model_source in ("vllm", "preset") else "llamacpp"

    @property
    def model(self) -> str:
        """The model by the name that people know it by."""
        return self.premade_model if self.model_source == "premade" else self.model_id
