"""Jobs, and a registry in memory that knows them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mooring.catalog import CATALOG
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.features.notebooks.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.kube.patches import merge_patch
from mooring.registry import Registry
from mooring.runtime.webhooks.direct import install

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SAMPLES = Path(__file__).parents[3] / "config" / "samples"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GIT: Object = {"url": "https://git.example.com/ml/notebooks.git", "ref": "main"}


def typed(obj: Object) -> NotebookValidationJob:
    metadata = {"namespace": "default", "uid": "7d5f6c0e-0000-4000-8000-000000000000", **obj["metadata"]}
    return msgspec.convert({**obj, "metadata": metadata}, NotebookValidationJob)


def with_fields(obj: Object, change: Object) -> Object:
    made: Object = merge_patch(obj, change)
    return made


def sample(name: str) -> Object:
    found: Object = yaml.safe_load((SAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def registry_with_notebooks(*objects: Object) -> Registry:
    """Definitions and webhooks as `mooring up` has them."""
    registry = Registry(now=NOW)
    kind = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for definition in CATALOG.definitions(NOTEBOOKS.names):
        registry.create(kind, definition, now=NOW)
    install(registry, WEBHOOKS, clock=lambda: NOW)
    for obj in objects:
        create(registry, obj)
    return registry


def create(registry: Registry, obj: Object, **options: Any) -> Object:
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
    return registry.create(resource, obj, now=NOW, namespace=namespace, **options)


def node_affinity(*expressions: Object, fields: tuple[Object, ...] = ()) -> Object:
    """A podConfig whose nodes must meet these conditions."""
    term = {"matchExpressions": list(expressions), "matchFields": list(fields)}
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}
