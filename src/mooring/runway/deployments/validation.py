"""What is refused in a deployment, whatever its provider. Messages go on after the name of the field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mooring.kube.errors import QuantityError
from mooring.kube.images import image_tag
from mooring.kube.names import (
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_label_value,
    is_qualified_name,
)
from mooring.kube.quantities import parse_quantity
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.models.catalogue import RETIRED, all_models, find_catalog_model, image_models
from mooring.runway.problems import Problem, nearest

__all__ = ["MAX_GPUS", "MAX_NODES", "MAX_REPLICAS", "config_problems"]

MAX_REPLICAS: Final = 10
MAX_NODES: Final = 64
MAX_GPUS: Final = 64
# The Service in front of vLLM has the name of the deployment with -vllm after it, and 63 characters at most.
_MAX_NAME: Final = 58
_HUGGING_FACE_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII).fullmatch
_GGUF_FILE: Final = re.compile(r"(?:[\w][\w.-]*/)*[\w][\w.-]*\.gguf", re.ASCII).fullmatch
_ARGUMENT: Final = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*").fullmatch
_SERVED_NAME: Final = re.compile(r"[A-Za-z0-9][\w.:/-]*", re.ASCII).fullmatch
# What is set by fields of their own.
_OWN_ARGUMENTS: Final = {
    "model": "modelId",
    "tensor-parallel-size": "resources.gpu",
    "pipeline-parallel-size": "nodes",
    "served-model-name": "servedModelName",
    "max-model-len": "maxModelLen",
    "trust-remote-code": "trustRemoteCode",
    "enforce-eager": "enforceEager",
    "enable-prefix-caching": "enablePrefixCaching",
}


def config_problems(config: DeploymentConfig) -> list[Problem]:
    """Everything that is wrong, field by field."""
    return [*_names(config), *_numbers(config), *_selector(config), *_model(config), *_serving(config)]


def _names(config: DeploymentConfig) -> Iterator[Problem]:
    if texts := is_dns1035_label(config.name):
        yield Problem("name", f'"{config.name}" is not allowed: {texts[0]}')
    elif len(config.name) > _MAX_NAME:
        yield Problem("name", f"has {len(config.name)} characters, {_MAX_NAME} is the most: a Service is called by it")
    if texts := is_dns1123_label(config.namespace):
        yield Problem("namespace", f'"{config.namespace}" is not allowed: {texts[0]}')
    if config.hf_token_secret and (texts := is_dns1123_subdomain(config.hf_token_secret)):
        yield Problem("hfTokenSecret", f'"{config.hf_token_secret}" is no name of a Secret: {texts[0]}')
    if config.image_ref and not _is_image(config.image_ref):
        yield Problem("imageRef", f'"{config.image_ref}" is no reference of an image, such as example.com/model:1')
    if config.served_model_name and not _SERVED_NAME(config.served_model_name):
        yield Problem("servedModelName", f'"{config.served_model_name}" may have letters, digits and . _ - / : only')


def _is_image(reference: str) -> bool:
    return bool(image_tag(reference)) or "@sha256:" in reference


def _numbers(config: DeploymentConfig) -> Iterator[Problem]:
    yield from _within("replicas", config.replicas, MAX_REPLICAS)
    if config.model_source == "preset" and config.replicas > 1:
        yield Problem(
            "replicas", f"a preset is one replica, not {config.replicas}; choose modelSource vllm for several"
        )
    yield from _within("nodes", config.nodes, MAX_NODES)
    if config.resources.gpu is not None:
        yield from _within("resources.gpu", config.resources.gpu, MAX_GPUS)
    for field, tokens in (("maxModelLen", config.max_model_len), ("contextLength", config.context_length)):
        if tokens is not None and tokens < 1:
            yield Problem(field, f"must be at least 1, not {tokens}")
    for field, text in (("resources.cpu", config.resources.cpu), ("resources.memory", config.resources.memory)):
        if text:
            yield from _quantity(field, text)


def _within(field: str, number: int, most: int) -> Iterator[Problem]:
    if not 1 <= number <= most:
        yield Problem(field, f"must be between 1 and {most}, not {number}")


def _quantity(field: str, text: str) -> Iterator[Problem]:
    try:
        if parse_quantity(text).milli_value > 0:
            return
    except QuantityError:
        pass
    yield Problem(field, f'"{text}" is no quantity above zero, such as {"4" if field == "resources.cpu" else "16Gi"}')


def _selector(config: DeploymentConfig) -> Iterator[Problem]:
    for key, value in config.label_selector.items():
        if texts := is_qualified_name(key):
            yield Problem("labelSelector", f'"{key}" is no key of a label: {texts[0]}')
        elif texts := is_label_value(value):
            yield Problem(f"labelSelector[{key}]", f'"{value}" is no value of a label: {texts[0]}')


def _model(config: DeploymentConfig) -> Iterator[Problem]:
    match config.model_source:
        case "premade":
            yield from _premade(config)
        case "huggingface":
            if not _HUGGING_FACE_ID(config.model_id):
                yield _no_id(config.model_id)
            if not config.gguf_file:
                yield Problem(
                    "ggufFile",
                    "is needed with modelSource huggingface: the file of weights, such as model.Q4_K_M.gguf",
                )
            elif not _GGUF_FILE(config.gguf_file):
                yield Problem("ggufFile", f'"{config.gguf_file}" is no path of a .gguf file in a repository')
        case "vllm" | "preset":
            yield from _served_model(config)


def _premade(config: DeploymentConfig) -> Iterator[Problem]:
    name = config.premade_model
    if not name:
        yield Problem("premadeModel", "is needed with modelSource premade, such as llama3.2:1b")
    elif name not in image_models():
        yield Problem("premadeModel", f"Unknown premade model: {name}{nearest(name, image_models())}")


def _served_model(config: DeploymentConfig) -> Iterator[Problem]:
    name = config.model_id
    if name.lower() in RETIRED or name.lower().rpartition("/")[2] in RETIRED:
        yield Problem("modelId", f"{name} is retired and no longer supported{nearest('phi-4', _served())}")
    elif not name:
        yield Problem("modelId", f"is needed with modelSource {config.model_source}, such as microsoft/phi-4")
    elif find_catalog_model(name) is None and (config.model_source == "preset" or not _HUGGING_FACE_ID(name)):
        yield _no_id(name)


def _no_id(name: str) -> Problem:
    """An id of Hugging Face has a slash; what has none can only be a name of the catalogue."""
    if not name:
        return Problem("modelId", "is needed: the id of a model on Hugging Face, such as microsoft/phi-4")
    return Problem("modelId", f'there is no model "{name}" in the catalogue{nearest(name, _served())}')


def _served() -> list[str]:
    return [name for model in all_models() if model.source == "vllm" for name in (model.id, model.alias) if name]


def _serving(config: DeploymentConfig) -> Iterator[Problem]:
    if config.engine is not None and config.engine != config.served_by:
        text = f"{config.engine} does not serve modelSource {config.model_source}; {config.served_by} does"
        yield Problem("engine", text)
    if config.mode != "aggregated":
        yield Problem("mode", "disaggregated serving is not supported; leave the field out")
    if config.router_mode != "none":
        yield Problem("routerMode", f"{config.router_mode} is not supported; leave the field out")
    if config.served_by != "vllm" and config.engine_args:
        yield Problem("engineArgs", f"has no effect with modelSource {config.model_source}; leave the field out")
    for key in config.engine_args:
        name = key.replace("_", "-")
        if not _ARGUMENT(key):
            yield Problem(
                "engineArgs", f'"{key}" is no argument of vLLM; write it without leading dashes, such as dtype'
            )
        elif name in _OWN_ARGUMENTS:
            yield Problem(f"engineArgs[{key}]", f"is set by {_OWN_ARGUMENTS[name]}")
