"""Scheduling fields reach the pod as they were written: order kept, nothing merged, absent and empty told apart."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from mooring.features.notebooks.api.names import API_VERSION
from mooring.features.notebooks.api.pod_config import PodConfig
from mooring.features.notebooks.api.scheduling import JobAffinity
from mooring.features.notebooks.definition import NOTEBOOK_VALIDATION_JOBS
from mooring.features.notebooks.validation_pod.scheduling import affinity_object, scheduling_fields
from mooring.kube.objects import Object
from mooring.testing.schemas import custom_objects

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
SSD_TERM = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
NEAR = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "kubernetes.io/hostname"}
NODE_REQUIRED = {REQUIRED: {"nodeSelectorTerms": [SSD_TERM]}}
NODE_PREFERRED = {PREFERRED: [{"weight": 10, "preference": SSD_TERM}]}
NEAR_REQUIRED = {REQUIRED: [NEAR]}
APART_PREFERRED = {PREFERRED: [{"weight": 100, "podAffinityTerm": NEAR}]}


def converted(**fields: Any) -> Object:
    config = msgspec.convert({"containerImage": "image", **fields}, PodConfig)
    return scheduling_fields(config)


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        (None, {}),
        ([GPU], {"tolerations": [GPU]}),
        (
            [{"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}],
            {"tolerations": [{"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}]},
        ),
        (
            [{"key": "gone", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
            {"tolerations": [{"key": "gone", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}]},
        ),
        (
            [{"key": "slow", "operator": "Exists", "effect": "PreferNoSchedule"}],
            {"tolerations": [{"key": "slow", "operator": "Exists", "effect": "PreferNoSchedule"}]},
        ),
        ([GPU, {"operator": "Exists"}, GPU], {"tolerations": [GPU, {"operator": "Exists"}, GPU]}),
        (
            [{"key": "gpu", "value": "True", "effect": ""}],
            {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "True"}]},
        ),
    ],
    ids=["none", "exists", "equal", "seconds", "prefer", "several in order", "without operator and effect"],
)
def test_tolerations(tolerations: list[Object] | None, expected: Object) -> None:
    assert converted(**({} if tolerations is None else {"tolerations": tolerations})) == expected


@pytest.mark.parametrize(
    "affinity",
    [
        None,
        {"nodeAffinity": NODE_REQUIRED},
        {"nodeAffinity": NODE_PREFERRED},
        {"podAffinity": NEAR_REQUIRED},
        {"podAntiAffinity": APART_PREFERRED},
        {
            "nodeAffinity": {**NODE_REQUIRED, **NODE_PREFERRED},
            "podAffinity": NEAR_REQUIRED,
            "podAntiAffinity": APART_PREFERRED,
        },
    ],
    ids=["none", "node, required", "node, preferred", "pod", "anti", "all of them"],
)
def test_affinity(affinity: Object | None) -> None:
    expected = {} if affinity is None else {"affinity": affinity}
    assert converted(**expected) == expected


@pytest.mark.parametrize("fields", [{"tolerations": []}, {"nodeSelector": {}}])
def test_an_empty_list_or_map_is_absent(fields: Object) -> None:
    assert converted(**fields) == {}


@pytest.mark.parametrize(
    ("given_affinity", "expected"),
    [
        ({}, {}),
        ({"nodeAffinity": {}}, {"nodeAffinity": {}}),
        ({"podAffinity": {}, "podAntiAffinity": {}}, {"podAffinity": {}, "podAntiAffinity": {}}),
        ({"podAffinity": {REQUIRED: [], PREFERRED: []}}, {"podAffinity": {}}),
        ({"nodeAffinity": {PREFERRED: []}}, {"nodeAffinity": {}}),
    ],
)
def test_an_object_that_is_given_stays_and_an_empty_list_in_it_goes(given_affinity: Object, expected: Object) -> None:
    assert converted(affinity=given_affinity) == {"affinity": expected}


@pytest.mark.parametrize("selector", ["labelSelector", "namespaceSelector"])
def test_a_selector_that_selects_everything_is_told_from_one_that_is_absent(selector: str) -> None:
    term = {"topologyKey": "zone"}
    for written in (term, {**term, selector: {}}, {**term, selector: {"matchLabels": {}, "matchExpressions": []}}):
        (made,) = converted(affinity={"podAffinity": {REQUIRED: [written]}})["affinity"]["podAffinity"][REQUIRED]
        assert made == ({**term, selector: {}} if selector in written else term)


def test_a_node_selector_is_the_same_map() -> None:
    assert converted(nodeSelector={"team": "ml", "gpu": "true"}) == {"nodeSelector": {"team": "ml", "gpu": "true"}}


@settings(max_examples=40, deadline=None)
@given(custom_objects(NOTEBOOK_VALIDATION_JOBS, API_VERSION.rpartition("/")[2]))
def test_conversion_is_total_and_changes_nothing_when_it_is_done_again(obj: Object) -> None:
    config = (obj.get("spec") or {}).get("podConfig")
    if config is None:
        return
    made = converted(**config)
    assert [each.get("key") for each in made.get("tolerations", ())] == [
        each.get("key") or None for each in config.get("tolerations") or ()
    ]
    if "affinity" in made:
        assert affinity_object(msgspec.convert(made["affinity"], JobAffinity)) == made["affinity"]
