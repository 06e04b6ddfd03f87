"""The definition of Workspaces has upstream's fields, defaults, rules, names and columns, in both versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import definition
from mooring.features.workspaces.definition import WORKSPACES
from mooring.kube.objects import Object
from mooring.kube.schemas import structural_schema
from tests.features.upstream import columns, differences

UPSTREAM = Path(__file__).parents[4] / "shared/upstream/crds/kaito.sh_workspaces.yaml"
# Upstream says the same twice.
SAID_TWICE = {
    ".resource.partition.mode allOf: None and not [{'enum': ['mig', 'accelerator']}, {'enum': ['mig', 'accelerator']}]",
    ".resource.partition.mode enum: ['mig', 'accelerator'] and not None",
}
CONDITIONS = ["ResourceReady", "InferenceReady", "JobStarted", "WorkspaceSucceeded"]


def versions(whole: Object) -> dict[str, Object]:
    return {each["name"]: each for each in whole["spec"]["versions"]}


def schema(version: Object) -> Object:
    found: Object = version["schema"]["openAPIV3Schema"]
    return found


OURS = definition(WORKSPACES)


@pytest.mark.parametrize("name", versions(OURS))
def test_the_schema_is_structural_and_describes_its_fields(name: str) -> None:
    whole = schema(versions(OURS)[name])
    assert structural_schema(whole).properties["resource"].required
    assert [path for path, child in fields(whole) if not child.get("description")] == [".metadata"]


def fields(part: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    for name, child in (part.get("properties") or {}).items():
        yield f"{path}.{name}", child
        # Kubernetes describes these.
        if name not in ("labelSelector", "conditions", "metadata"):
            yield from fields(child, f"{path}.{name}")


def test_columns_tell_type_conditions_target_and_state() -> None:
    old, new = ([name for name, _, _ in columns(each)] for each in versions(OURS).values())
    assert old == ["Instance", *CONDITIONS, "Age"]
    assert new == ["Instance", *CONDITIONS, "TargetNodeCount", "State", "Age"]


@pytest.mark.skipif(not UPSTREAM.is_file(), reason="upstream's definition is not here")
def test_everything_but_descriptions_is_upstreams() -> None:
    theirs = yaml.load(UPSTREAM.read_bytes(), Loader=yaml.CSafeLoader)
    mine, others = versions(OURS), versions(theirs)
    assert list(mine) == list(others)
    for name, other in others.items():
        expected = SAID_TWICE if name == "v1beta1" else set()
        assert set(differences(schema(mine[name]), schema(other))) == expected
        assert columns(mine[name]) == columns(other)
        for key in ("served", "storage", "subresources"):
            assert mine[name][key] == other[key]
    assert OURS["spec"]["names"] == theirs["spec"]["names"]
