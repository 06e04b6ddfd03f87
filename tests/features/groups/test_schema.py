"""Our definition of LeaderWorkerSets fills in, drops and refuses what upstream's does on a real API server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mooring.catalog import CATALOG
from mooring.features.groups.feature import GROUPS
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START
from tests.features.groups.record import RECORDED, written
from tests.features.groups.schema_cases import CASES

REAL: dict[str, Object] = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def registry() -> Registry:
    made = Registry(now=START)
    kind = made.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for definition in CATALOG.definitions(GROUPS.names):
        made.create(kind, definition, now=START)
    return made


def answered(registry: Registry, case: Any) -> Object:
    warnings: list[str] = []
    resource = registry.resource("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    try:
        made = registry.create(
            resource, written(case), now=START, dry_run=True, field_validation="Warn", warnings=warnings
        )
    except ApiError as error:
        return {"code": error.code, "message": str(error)}
    return {"code": 201, "spec": made["spec"]} | ({"warnings": warnings} if warnings else {})


def test_every_case_was_recorded() -> None:
    assert set(REAL) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_schema_says_what_upstreams_says(registry: Registry, name: str) -> None:
    assert answered(registry, CASES[name]) == REAL[name]
