"""The deployment that the options of `mooring deploy` ask for, with the fields that REST has."""

from __future__ import annotations

import re
from typing import Any, Final

from mooring.kube.errors import InputError

__all__ = ["asked_deployment", "default_name"]

_MAX_NAME: Final = 40


def asked_deployment(
    model: str,
    *,
    name: str,
    provider: str,
    namespace: str,
    gpus: int | None,
    replicas: int | None,
    selector: tuple[str, ...],
    fields: tuple[str, ...],
) -> dict[str, Any]:
    """`fields` are further ones as FIELD=VALUE; those of a part have a dot: resources.memory=16Gi."""
    body: dict[str, Any] = {"modelId": model, "name": name or default_name(model), "namespace": namespace}
    for text in fields:
        _set(body, *_pair("--set", text, "FIELD=VALUE, such as maxModelLen=8192"))
    if provider:
        body["provider"] = provider
    if replicas is not None:
        body["replicas"] = replicas
    if gpus is not None:
        body["computeType"] = "gpu"
        _set(body, "resources.gpu", str(gpus))
    if selector:
        body["labelSelector"] = dict(_pair("--selector", text, "KEY=VALUE") for text in selector)
    return body


def default_name(model: str) -> str:
    """The last part of a model's id as a name of Kubernetes."""
    name = re.sub(r"[^a-z0-9]+", "-", model.rpartition("/")[2].lower())[:_MAX_NAME].strip("-")
    return name if name[:1].isalpha() else f"model-{name}".rstrip("-")


def _pair(option: str, text: str, wanted: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f'{option} "{text}" must be {wanted}')
    return key, value


def _set(body: dict[str, Any], path: str, text: str) -> None:
    from mooring.manifests.loader import load

    *parts, last = path.split(".")
    for part in parts:
        body = body.setdefault(part, {})
        if not isinstance(body, dict):
            raise InputError(f"--set {path}: {part} is set to a plain value already")
    body[last] = load(text)
