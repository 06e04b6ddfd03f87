"""The catalogue of models: those that Workspaces know as presets, and images of llama.cpp with the weights inside.

Sizes of the first come from the table of Workspaces, so that a preview and a Workspace never disagree.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pkgutil import get_data
from typing import Final, Literal

import msgspec

from mooring.features.workspaces.sizing import models as presets
from mooring.features.workspaces.sizing.models import GIB
from mooring.runway.models.sizing import REFERENCE_NODE, Recommended, memory_gib, recommended

__all__ = [
    "RETIRED",
    "CatalogModel",
    "GpuNeed",
    "ModelFit",
    "ModelSource",
    "all_models",
    "find_catalog_model",
    "image_models",
]

ModelSource = Literal["premade", "huggingface", "vllm", "preset"]

# Upstream has no preset of these any more.
RETIRED: Final = presets.DEPRECATED_PRESETS
_PARAMETERS: Final = re.compile(r"(?<![A-Za-z0-9.])(?:\d+x)?\d+(?:\.\d+)?B(?![A-Za-z])", re.IGNORECASE)


class GpuNeed(msgspec.Struct, frozen=True, rename="camel"):
    """GPUs that hold the weights and one request; none for a model that runs on CPUs.

    `recommended` is for nodes with eight GPUs of 80 GiB.
    """

    memory_gib: int = msgspec.field(name="memoryGiB")
    recommended: Recommended


class ModelFit(msgspec.Struct, frozen=True):
    """Whether a cluster holds the model, and with how many GPUs on how many nodes.

    `full` says that nodes would hold it and too many of their GPUs are taken; `unknown` that no label tells the memory
    of the GPUs there are.
    """

    verdict: Literal["fits", "full", "exceeds", "unknown"]
    gpus: int
    nodes: int


class CatalogModel(msgspec.Struct, frozen=True, rename="camel"):
    """One model. `sources` are the ways to deploy it, the usual one first."""

    id: str
    name: str
    description: str
    weights_gib: float = msgspec.field(name="weightsGiB")
    context_length: int
    engines: tuple[str, ...]
    sources: tuple[ModelSource, ...]
    gpu: GpuNeed
    # As its makers write it, such as 8B; empty where its name does not tell.
    parameters: str = ""
    # The shorter name that manifests use.
    alias: str = ""
    # How it fits the cluster that was asked about, if one was.
    fit: ModelFit | msgspec.UnsetType = msgspec.UNSET

    @property
    def source(self) -> ModelSource:
        return self.sources[0]


class _ImageModel(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: str
    parameters: str
    weights_gib: float = msgspec.field(name="weightsGiB")
    context_length: int


def find_catalog_model(name: str) -> CatalogModel | None:
    """A model by its id or its shorter name; case does not matter."""
    return _by_name().get(name.lower())


def all_models() -> tuple[CatalogModel, ...]:
    """Every model, by id."""
    return tuple(sorted({model.id: model for model in _by_name().values()}.values(), key=lambda each: each.id.lower()))


@cache
def image_models() -> dict[str, CatalogModel]:
    """The models that are images: their ids are the ends of the names of these."""
    data = get_data("mooring.runway.models", "data/images.json")
    assert data is not None, "The package has lost its file images.json."
    return {each.id: _of_image(each) for each in msgspec.json.decode(data, type=list[_ImageModel])}


@cache
def _by_name() -> dict[str, CatalogModel]:
    known = [*map(_of_preset, presets.all_models()), *image_models().values()]
    return {name.lower(): model for model in known for name in (model.id, model.alias) if name}


def _of_preset(preset: presets.Model) -> CatalogModel:
    gib = round(float(preset.weight_bytes / GIB), 2)
    found = _PARAMETERS.search(preset.id)
    quantized = f", quantised ({preset.quantization})" if preset.quantization else ""
    return CatalogModel(
        preset.id,
        preset.id.rpartition("/")[2],
        f"{gib:g} GiB of weights{quantized}, contexts of up to {preset.context_limit:,} tokens; needs GPUs.",
        gib,
        preset.context_limit,
        ("vllm",),
        ("vllm", "preset"),
        GpuNeed(memory_gib(preset), recommended(preset, REFERENCE_NODE)),
        found[0].upper().replace("X", "x") if found else "",
        preset.alias,
    )


def _of_image(image: _ImageModel) -> CatalogModel:
    return CatalogModel(
        image.id,
        image.name,
        f"{image.weights_gib:g} GiB of quantised weights in an image of llama.cpp; runs on CPUs, faster on one GPU.",
        image.weights_gib,
        image.context_length,
        ("llamacpp",),
        ("premade",),
        GpuNeed(math.ceil(image.weights_gib * 1.2), Recommended(0, 1)),
        image.parameters,
    )
