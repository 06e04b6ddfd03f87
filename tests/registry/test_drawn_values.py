"""Drawn quantities, names, labels, selectors and bodies with fields twice: what kube-apiserver 1.35 makes of them.

`python -m tests.conformance.language.record values` draws and records them. What differs is in `differing_values.txt`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mooring.apiserver.messages.duplicate_fields import find_duplicate_fields
from mooring.kube.status import ApiError
from mooring.registry import Registry
from tests.conformance.language.definitions import complaints
from tests.conformance.language.recordings import read
from tests.conformance.language.replaying import hold
from tests.conformance.language.values import CONFIGS, LABELS
from tests.registry.agreement import NOW

DIFFERING = Path(__file__).with_name("differing_values.txt")


def test_values_are_read_and_refused_as_by_a_real_server() -> None:
    hold(answers(), DIFFERING)


def answers() -> Iterator[tuple[str, list[str]]]:
    registry = Registry(now=NOW, seed=1)
    for name, labels in LABELS.items():
        registry.create(registry.resource("v1", "ConfigMap"), {"metadata": {"name": name, "labels": labels}}, now=NOW)
    for number, (what, given, wanted) in enumerate(read("values"), 1):
        found = json.loads(json.dumps(_ASKED[what](registry, given)))
        lines = [] if found == wanted else [f"{given}", f"there {wanted}", f"here  {found}"]
        yield f"{number} {what}", lines


def _quantity(registry: Registry, given: Any) -> Any:
    body = {"metadata": {"name": "q"}, "spec": {"hard": {"example.com/thing": given, "limits.memory": given}}}
    try:
        made = registry.create(registry.resource("v1", "ResourceQuota"), body, now=NOW, dry_run=True)
    except ApiError as error:
        return complaints(error.code, error.status())
    return made["spec"]["hard"]


def _labels(registry: Registry, given: str) -> Any:
    return _selected(registry, label_selector=given)


def _fields(registry: Registry, given: str) -> Any:
    return _selected(registry, field_selector=given)


def _selected(registry: Registry, **selector: Any) -> Any:
    try:
        found = registry.list(registry.resource("v1", "ConfigMap"), "default", **selector).items
    except ApiError as error:
        return error.message
    return [each["metadata"]["name"] for each in found if each["metadata"]["name"] in LABELS]


def _metadata(registry: Registry, given: Any) -> Any:
    return _created(registry, ("v1", "ConfigMap"), {"metadata": given}, field_validation="Warn")


def _body(registry: Registry, given: Any) -> Any:
    base, text, way = given
    body = json.loads(text)
    twice = find_duplicate_fields(text.encode(), body)
    kind = ("v1", "ConfigMap") if base == CONFIGS else ("apps/v1", "Deployment")
    return _created(registry, kind, body, field_validation=way, duplicate_fields=twice)


def _created(registry: Registry, kind: tuple[str, str], body: Any, **options: Any) -> Any:
    warnings: list[str] = []
    wrong: Any = []
    try:
        registry.create(
            registry.resource(*kind), body, namespace="default", now=NOW, dry_run=True, warnings=warnings, **options
        )
    except ApiError as error:
        wrong = complaints(error.code, error.status())
    return [wrong, warnings]


_ASKED = {
    "quantity": _quantity,
    "labelSelector": _labels,
    "fieldSelector": _fields,
    "metadata": _metadata,
    "body": _body,
}
