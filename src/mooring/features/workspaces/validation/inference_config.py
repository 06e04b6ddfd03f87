"""The inference configuration: a ConfigMap whose text sets arguments of vLLM."""

from __future__ import annotations

import re
from typing import Any, Final

from mooring.features.workspaces.api import API_VERSION, INFERENCE_CONFIG, RUNTIME, TRANSFORMERS, Workspace
from mooring.features.workspaces.sizing.models import find_model
from mooring.features.workspaces.validation.facts import ClusterFacts
from mooring.kube.errors import FieldError, invalid, not_found, plainly, required
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load

__all__ = ["inference_config_errors"]

OPERATOR_NAMESPACE: Final = "kaito-workspace"
_OLD_CONFIG: Final = "inference-params-template"
_CONTEXT: Final = "max-model-len"
_NUMBER: Final = re.compile(r"[+-]?\d+").fullmatch


def inference_config_errors(workspace: Workspace, facts: ClusterFacts) -> list[FieldError]:
    inference = workspace.inference
    if inference is None or workspace.metadata.annotations.get(RUNTIME) == TRANSFORMERS:
        return []
    namespace, name = workspace.metadata.namespace, inference.config
    if not name:
        if not workspace.is_old:
            return []
        # v1alpha1 reads its defaults from the operator's own namespace.
        namespace, name = OPERATOR_NAMESPACE, _OLD_CONFIG
    data = facts.config_map(namespace, name)
    if data is None and not inference.config:
        lack = f"v1alpha1 takes its defaults from ConfigMap {name} in namespace {namespace}, which is not there"
        return [plainly("config", f"{lack}; write this Workspace as {API_VERSION}")]
    if data is None:
        return [not_found("config", f"ConfigMap {name} in namespace {namespace}")]
    text = data.get(INFERENCE_CONFIG)
    if text is None:
        return [required(f"{INFERENCE_CONFIG} in ConfigMap", f"ConfigMap {name} has no key {INFERENCE_CONFIG}")]
    try:
        vllm = _vllm_arguments(text)
    except (ManifestError, TypeError) as error:
        return [plainly(INFERENCE_CONFIG, f"{INFERENCE_CONFIG} cannot be read: {' '.join(str(error).split())}")]
    model = None if inference.preset is None else find_model(inference.preset.name)
    context = vllm.get(_CONTEXT, "")
    if not context or model is None:
        return []
    if not _NUMBER(context):
        return [invalid(_CONTEXT, context, "a whole number is expected")]
    if int(context) > model.context_limit:
        return [invalid(_CONTEXT, int(context), f"the longest context of {model.id} is {model.context_limit}")]
    return []


def _vllm_arguments(text: str) -> dict[str, str]:
    """The arguments as text. Raises TypeError where one is no plain value."""
    found: Any = load(text) or {}
    if not isinstance(found, dict):
        raise TypeError("a map is expected")
    arguments = found.get("vllm") or {}
    if not isinstance(arguments, dict):
        raise TypeError("vllm must be a map")
    for name, value in arguments.items():
        if isinstance(value, dict | list):
            raise TypeError(f"vllm.{name} must be a plain value")
    return {name: _as_written(name, value, text) for name, value in arguments.items() if value is not None}


def _as_written(name: str, value: Any, text: str) -> str:
    """A number in the digits that stand in the text: vLLM is given those, and reads no 0x800."""
    if not isinstance(value, int | float):
        return str(value)
    found = re.search(rf"{re.escape(name)}['\"]?\s*:\s*['\"]?([^\s'\",}}#]+)", text)
    return str(value) if found is None else found[1]
