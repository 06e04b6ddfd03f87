"""Forms of single values in v1beta1 and v1beta2: references, durations, numbers within bounds."""

from __future__ import annotations

import re
from typing import Any, Final

from mooring.features.machines.api.parts import DOMAIN
from mooring.features.machines.api.v1beta1.moves import Form
from mooring.kube.objects import Object

__all__ = [
    "between",
    "container",
    "domains_to_list",
    "domains_to_map",
    "filled",
    "node_to_name",
    "node_to_reference",
    "other_than",
    "reference_to_group",
    "reference_to_version",
    "seconds_to_text",
    "text_to_seconds",
]

# The version by which v1beta1 writes a group that v1beta2 names alone; all providers of today have it.
_PROVIDER_VERSION: Final = "v1beta1"
_INT32_MAX: Final = 2**31 - 1
_FAILURE_DOMAINS_MAX: Final = 100
_FAILURE_DOMAIN_NAME_MAX: Final = 256
_NODE_NAME_MAX: Final = 253
_HOUR: Final = 3600
_MINUTE: Final = 60
_duration = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,10})s)?").fullmatch
_node_name = re.compile(DOMAIN).fullmatch


def container(value: Any) -> Object | None:
    """An object that must be there even when it holds nothing."""
    return {} if isinstance(value, dict) else None


def filled(value: Any) -> Any:
    """A list or text, unless it is empty."""
    return value or None


def between(lowest: int, highest: int) -> Form:
    return lambda value: value if isinstance(value, int) and lowest <= value <= highest else None


def other_than(refused: str) -> Form:
    return lambda value: None if value == refused else value


def reference_to_group(reference: Any) -> Object | None:
    """An ObjectReference as group, kind and name."""
    if not isinstance(reference, dict):
        return None
    made = {name: reference[name] for name in ("kind", "name") if name in reference}
    if isinstance(version := reference.get("apiVersion"), str):
        made["apiGroup"] = version.partition("/")[0]
    return made or None


def reference_to_version(reference: Any) -> Object | None:
    if not isinstance(reference, dict):
        return None
    made = {name: reference[name] for name in ("kind", "name") if name in reference}
    given = reference.get("apiGroup") or reference.get("apiVersion")
    if isinstance(given, str):
        made["apiVersion"] = given if "/" in given else f"{given}/{_PROVIDER_VERSION}"
    return made or None


def node_to_name(reference: Any) -> Object | None:
    name = reference.get("name") if isinstance(reference, dict) else None
    valid = isinstance(name, str) and len(name) <= _NODE_NAME_MAX and _node_name(name)
    return {"name": name} if valid else None


def node_to_reference(reference: Any) -> Object | None:
    name = reference.get("name") if isinstance(reference, dict) else None
    return None if name is None else {"apiVersion": "v1", "kind": "Node", "name": name}


def text_to_seconds(text: Any) -> int | None:
    """A duration as Go writes it, if it is a whole number of seconds."""
    found = _duration(text) if isinstance(text, str) and text else None
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = hours * _HOUR + minutes * _MINUTE + seconds
    return total if total <= _INT32_MAX else None


def seconds_to_text(seconds: Any) -> str | None:
    """As Go writes it: 90 seconds are 1m30s."""
    if not isinstance(seconds, int) or seconds < 0:
        return None
    hours, rest = divmod(seconds, _HOUR)
    minutes, left = divmod(rest, _MINUTE)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"


def domains_to_list(domains: Any) -> list[Object] | None:
    """Failure domains by name, as a list."""
    if not isinstance(domains, dict) or not 0 < len(domains) <= _FAILURE_DOMAINS_MAX:
        return None
    if not all(0 < len(name) <= _FAILURE_DOMAIN_NAME_MAX for name in domains):
        return None
    return [{**(domain or {}), "name": name} for name, domain in sorted(domains.items())]


def domains_to_map(domains: Any) -> Object | None:
    if not isinstance(domains, list):
        return None
    return {
        each["name"]: {key: value for key, value in each.items() if key != "name"}
        for each in domains
        if isinstance(each, dict) and "name" in each
    }
