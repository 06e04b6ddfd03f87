"""Reads a deployment from what a client sent or a person typed: every field on its own, so that all mistakes are told.

`preferredNodes` is accepted and has no effect: older clients send it, and nodes are chosen by labels alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, get_args

import msgspec

from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.deployments.validation import config_problems
from mooring.runway.models.catalogue import find_catalog_model
from mooring.runway.problems import DeploymentError, Problem, nearest

__all__ = ["ConfigReading", "read_config"]

_PREFERRED_NODES: Final = (
    "preferredNodes has no effect: nodes are chosen by labelSelector alone; "
    "label the nodes and select them by that label"
)
# Fields that clients of other providers send, and no provider here has a use for.
_WITHOUT_EFFECT: Final = frozenset({"prefillReplicas", "decodeReplicas", "prefillGpus", "decodeGpus"})
_FIELDS: Final = {each.encode_name: each for each in msgspec.structs.fields(DeploymentConfig)}


class ConfigReading(NamedTuple):
    config: DeploymentConfig
    warnings: tuple[str, ...]


def read_config(value: Any, *, provider: str, namespace: str) -> ConfigReading:
    """A deployment that can be made, with provider and namespace where it names none. Raises DeploymentError."""
    if not isinstance(value, Mapping):
        raise DeploymentError([Problem("body", "must be an object with the fields of a deployment")])
    given, problems, warnings = _converted(value)
    if problems:
        raise DeploymentError(problems)
    config = _completed(DeploymentConfig(**_with_source(given)), provider, namespace)
    if problems := config_problems(config):
        raise DeploymentError(problems)
    return ConfigReading(config, tuple(warnings))


def _converted(value: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem], list[str]]:
    given: dict[str, Any] = {}
    problems, warnings = list[Problem](), list[str]()
    for key, item in value.items():
        if key == "preferredNodes":
            warnings.append(_PREFERRED_NODES)
        elif key in _WITHOUT_EFFECT:
            warnings.append(f"{key} has no effect: every replica answers whole requests")
        elif key not in _FIELDS:
            problems.append(Problem(str(key) or '""', f"is no field of a deployment{nearest(str(key), _FIELDS)}"))
        elif item is not None:
            field = _FIELDS[key]
            try:
                given[field.name] = msgspec.convert(item, field.type)
            except msgspec.ValidationError as error:
                problems.append(_problem(key, item, field.type, error))
    if "name" not in given and not any(problem.field == "name" for problem in problems):
        problems.append(Problem("name", "is needed: the deployment, its pods and its Service are called by it"))
    return given, problems, warnings


def _with_source(given: dict[str, Any]) -> dict[str, Any]:
    """Without a source, a model of the catalogue has its usual one, and a file of weights is fetched."""
    if "model_source" in given:
        return given
    if given.get("gguf_file"):
        return {**given, "model_source": "huggingface"}
    found = find_catalog_model(given.get("premade_model") or given.get("model_id") or "")
    return given if found is None else {**given, "model_source": found.source}


def _problem(key: str, item: Any, wanted: Any, error: msgspec.ValidationError) -> Problem:
    """msgspec writes "Expected `int`, got `str` - at `$.gpu`", and does not say which words it would take."""
    if isinstance(item, str) and (choices := [each for each in _choices(wanted) if isinstance(each, str)]):
        return Problem(key, f'"{item}" is none of {", ".join(choices)}')
    text, _, path = str(error).partition(" - at `$")
    inner = path.rstrip("`")
    sentence = text.replace("`", "")
    return Problem(f"{key}{inner}" if not inner.startswith("[...]") else key, sentence[:1].lower() + sentence[1:])


def _choices(wanted: Any) -> tuple[Any, ...]:
    """The words of a Literal, also of one that may be null."""
    return tuple(choice for each in get_args(wanted) for choice in (get_args(each) or (each,)))


def _completed(config: DeploymentConfig, provider: str, namespace: str) -> DeploymentConfig:
    """With the provider, the namespace, and the full id of a model that was named by its short name."""
    replace = msgspec.structs.replace
    config = replace(config, provider=config.provider or provider, namespace=config.namespace or namespace)
    if config.model_source == "premade" and not config.premade_model:
        config = replace(config, premade_model=config.model_id)
    if config.model_source in ("vllm", "preset"):
        found = find_catalog_model(config.model_id)
        if found is not None and found.source == "vllm":
            config = replace(config, model_id=found.id)
    return config
