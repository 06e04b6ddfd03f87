"""Definitions of other projects, made from types, are theirs in all but words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.kube.objects import Object
from tests.api.upstream import BYO_HOSTS, WORKSPACES
from tests.api.upstream_notebooks import NOTEBOOK_VALIDATION_JOBS
from tests.features.upstream import differences

UPSTREAM = Path(__file__).parents[3] / "shared/upstream/crds"
# What our types leave out, because it says nothing new.
LEFT_OUT = {
    "workspaces": {".tuning"},
    "byohosts": set(),
    "notebookvalidationjobs": {
        ".spec.modelValidation",
        ".spec.podConfig.affinity",
        ".spec.podConfig.buildConfig",
        ".spec.podConfig.credentials",
        ".spec.podConfig.env",
        ".spec.podConfig.envFrom",
        ".spec.podConfig.nodeSelector",
        ".spec.podConfig.resources",
        ".spec.podConfig.volumeMounts",
        ".spec.podConfig.volumes[].persistentVolumeClaim",
        ".spec.podConfig.volumes[].secret",
        ".status.buildStatus",
        ".status.comparisonResult",
        ".status.modelValidationResult",
    },
}


def version(whole: Object, name: str) -> Object:
    found: Object = next(each for each in whole["spec"]["versions"] if each["name"] == name)
    return found


def columns(each: Object) -> Iterator[Object]:
    for column in each["additionalPrinterColumns"]:
        yield {key: value for key, value in column.items() if key != "description"}


@pytest.mark.parametrize("resource", [WORKSPACES, BYO_HOSTS, NOTEBOOK_VALIDATION_JOBS], ids=lambda each: each.plural)
def test_what_types_say_is_what_upstream_says(resource: CustomResource) -> None:
    path = UPSTREAM / f"{resource.group}_{resource.plural}.yaml"
    if not path.is_file():
        pytest.skip("upstream's definition is not here")
    theirs = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    ours = definition(resource)
    assert ours["spec"]["names"] == theirs["spec"]["names"]
    assert ours["spec"]["scope"] == theirs["spec"]["scope"]
    mine, other = (version(each, resource.hub.name) for each in (ours, theirs))
    found = set(differences(mine["schema"]["openAPIV3Schema"], other["schema"]["openAPIV3Schema"]))
    assert found == LEFT_OUT[resource.plural]
    assert mine["subresources"] == other["subresources"]
    assert list(columns(mine)) == list(columns(other))
