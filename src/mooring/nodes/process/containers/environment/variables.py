"""The environment of a container: what its spec says, out of values, fields of the pod, ConfigMaps and Secrets."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.expansion import expand
from mooring.nodes.process.containers.environment.fields import FieldRefError, NodeFields, field_value, resource_value

__all__ = ["ConfigError", "Sources", "command_of", "environment", "references"]

# From a kind and a name in the pod's namespace to the object; None when there is none.
Sources = Callable[[str, str], Object | None]

_NAME: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch


class ConfigError(Exception):
    """The container cannot be made out of its spec; the text is the kubelet's."""


def references(container: Object) -> set[tuple[str, str]]:
    """The ConfigMaps and Secrets that the environment of a container is made of, by kind and name."""
    found = set()
    for source in container.get("envFrom") or ():
        for kind, reference in (("ConfigMap", source.get("configMapRef")), ("Secret", source.get("secretRef"))):
            if reference:
                found.add((kind, reference.get("name", "")))
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        for kind, reference in (("ConfigMap", source.get("configMapKeyRef")), ("Secret", source.get("secretKeyRef"))):
            if reference:
                found.add((kind, reference.get("name", "")))
    return found


def environment(
    pod: Object,
    container: Object,
    sources: Sources,
    node_fields: NodeFields,
    services: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The variables that the spec names, later ones over earlier ones, `$(VAR)` replaced by what stands before it.

    All of them stand over those of `services`.
    """
    found: dict[str, str] = dict(services or {})
    for source in container.get("envFrom") or ():
        found |= _all_of(pod, source, sources)
    for variable in container.get("env") or ():
        value = _value(pod, container, variable, found, sources, node_fields)
        if value is not None:
            found[variable["name"]] = value
    return found


def command_of(container: Object, variables: Mapping[str, str]) -> list[str]:
    """The words to run, empty when there is no command: the image that would have one is not looked at."""
    command = container.get("command") or []
    if not command:
        return []
    return [expand(word, variables) for word in (*command, *(container.get("args") or ()))]


def _all_of(pod: Object, source: Object, sources: Sources) -> dict[str, str]:
    kind, reference = ("ConfigMap", source["configMapRef"]) if source.get("configMapRef") else ("Secret", None)
    reference = reference or source.get("secretRef") or {}
    name = reference.get("name", "")
    found = sources(kind, name)
    if found is None:
        if reference.get("optional"):
            return {}
        raise ConfigError(f'{kind.lower()} "{name}" not found')
    prefix = source.get("prefix") or ""
    values = {f"{prefix}{key}": text for key, text in _texts(kind, found).items()}
    # What no program could read as a variable is left out.
    return {key: text for key, text in values.items() if _NAME(key)}


def _value(
    pod: Object,
    container: Object,
    variable: Object,
    before: Mapping[str, str],
    sources: Sources,
    node_fields: NodeFields,
) -> str | None:
    source = variable.get("valueFrom")
    if not source:
        return expand(variable.get("value") or "", before)
    try:
        if reference := source.get("fieldRef"):
            return field_value(pod, reference["fieldPath"], node_fields)
        if reference := source.get("resourceFieldRef"):
            return resource_value(pod, reference, container, node_fields)
    except FieldRefError as error:
        raise ConfigError(str(error)) from None
    if reference := source.get("configMapKeyRef"):
        return _key(pod, "ConfigMap", reference, sources)
    if reference := source.get("secretKeyRef"):
        return _key(pod, "Secret", reference, sources)
    raise ConfigError(f"env {variable['name']}: valueFrom has no source that the process node knows")


def _key(pod: Object, kind: str, reference: Object, sources: Sources) -> str | None:
    name, key = reference.get("name", ""), reference["key"]
    found = sources(kind, name)
    if found is None:
        if reference.get("optional"):
            return None
        raise ConfigError(f'{kind.lower()} "{name}" not found')
    texts = _texts(kind, found)
    if key not in texts:
        if reference.get("optional"):
            return None
        raise ConfigError(f"couldn't find key {key} in {kind} {pod['metadata']['namespace']}/{name}")
    return texts[key]


def _texts(kind: str, found: Object) -> dict[str, str]:
    data = found.get("data") or {}
    if kind == "ConfigMap":
        return dict(data)
    return {key: base64.b64decode(text).decode(errors="surrogateescape") for key, text in data.items()}
