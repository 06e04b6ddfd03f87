"""The models that a preset can name, and what is known of each: size, cache per token, longest context.

A model is named by its id on Hugging Face or by the shorter name that older manifests use; case does not matter.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from pkgutil import get_data
from typing import Final

import msgspec

from mooring.kube.quantities import parse_quantity

__all__ = ["DEPRECATED_PRESETS", "Model", "all_models", "find_model", "is_hugging_face_id"]

# Names that were presets once and have a refusal of their own.
DEPRECATED_PRESETS: Final = frozenset({"phi-2"})

GIB: Final = 1 << 30
# What a node needs on disk beside the weights: image, caches, logs.
_DISK_BESIDE_WEIGHTS_GIB: Final = 80
_STARTUP_SECONDS: Final = 15 * 60
_STARTUP_SECONDS_PER_GIB: Final = 18
_STARTUP_LEAST_SECONDS: Final = 30 * 60
_STARTUP_MOST_SECONDS: Final = 180 * 60


class Model(msgspec.Struct, frozen=True, rename="camel"):
    """One model. `weights` is a quantity, as upstream's catalogue has it."""

    id: str
    weights: str
    bytes_per_token: int
    context_limit: int
    alias: str = ""
    # How its weights were made smaller; empty where they were not.
    quantization: str = ""
    # Flags of vLLM that differ from those of most models.
    vllm: dict[str, str] = {}
    # Flags of Hugging Face's own runtime; without them it cannot serve the model.
    transformers: dict[str, str] = {}
    # Whether a part of the cache may go to the machine's memory.
    offloads_cache: bool = True
    deep_gemm: bool = False
    # Whether kernels are compiled at run time.
    cuda_toolkit: bool = False

    @property
    def served_name(self) -> str:
        """The name under which clients ask for the model."""
        return self.id.rpartition("/")[2].lower()

    @property
    def weight_bytes(self) -> Fraction:
        return Fraction(parse_quantity(self.weights).milli_value, 1000)

    @property
    def disk_gib(self) -> int:
        """The storage that a node for this model needs."""
        return math.floor(self.weight_bytes / GIB + _DISK_BESIDE_WEIGHTS_GIB)

    @property
    def startup_seconds(self) -> int:
        """How long the model may take to load before its pod counts as failed."""
        seconds = math.floor(_STARTUP_SECONDS + _STARTUP_SECONDS_PER_GIB * self.weight_bytes / GIB)
        return min(max(seconds, _STARTUP_LEAST_SECONDS), _STARTUP_MOST_SECONDS)


def find_model(name: str) -> Model | None:
    """The model that a preset names, or None when it is not in the catalogue."""
    return _catalogue().get(name.lower())


def all_models() -> tuple[Model, ...]:
    """Every model of the catalogue once."""
    return tuple({model.id: model for model in _catalogue().values()}.values())


def is_hugging_face_id(name: str) -> bool:
    owner, slash, model = name.partition("/")
    return bool(slash and owner and model)


@cache
def _catalogue() -> dict[str, Model]:
    data = get_data("mooring.features.workspaces.sizing", "data/models.json")
    assert data is not None, "The package has lost its file models.json."
    models = msgspec.json.decode(data, type=list[Model])
    return {name.lower(): model for model in models for name in (model.id, model.alias) if name}
