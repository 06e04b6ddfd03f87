"""Revisions hold one canonical form, byte by byte that of upstream's, whatever the spelling of a template."""

from __future__ import annotations

import json

import msgspec
import pytest

from mooring.features.groups.api import (
    UNIQUE_SELECTOR,
    UNIQUE_TOLERATION_EFFECT,
    UNIQUE_TOLERATION_KEY,
    LeaderWorkerSet,
)
from mooring.features.groups.revision_data import canonical_data, data_of
from mooring.features.groups.revisions import data_hash
from mooring.kube.go_json import go_json
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.features.groups.cases import pods
from tests.features.groups.record_revisions import RECORDED, stored
from tests.features.groups.revision_cases import ALL, DIFFERENT, SAME

UPSTREAM: dict[str, dict[str, str]] = json.loads(RECORDED.read_text(encoding="utf-8"))
KEY = "example.com/node-group"


def held(case: Object) -> Object:
    return data_of(msgspec.convert(stored(case), LeaderWorkerSet))


def test_every_case_was_recorded() -> None:
    assert set(UPSTREAM) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_revision_is_byte_by_byte_the_one_that_upstream_makes(name: str) -> None:
    made = held(ALL[name])
    assert go_json(made).decode() == UPSTREAM[name]["data"]
    assert data_hash(made) == UPSTREAM[name]["hash"]


@pytest.mark.parametrize("name", ALL)
def test_the_canonical_form_of_a_revision_is_itself(name: str) -> None:
    theirs = json.loads(UPSTREAM[name]["data"])
    assert canonical_data(theirs) == theirs


@pytest.mark.parametrize("name", SAME)
def test_two_spellings_of_one_thing_are_one_revision(name: str) -> None:
    first, *others = map(held, SAME[name])
    assert [first] * len(others) == others


@pytest.mark.parametrize("name", DIFFERENT)
def test_saying_nothing_is_not_always_saying_that_there_is_nothing(name: str) -> None:
    nothing, empty = map(held, DIFFERENT[name])
    assert nothing != empty


def test_a_field_of_a_newer_kubernetes_stays_and_counts() -> None:
    template = {"spec": {"containers": [{"name": "main", "newer": {"a": []}, "gone": None}], "newest": 0}}
    data = canonical_data({"spec": {"leaderWorkerTemplate": {"workerTemplate": template}}})
    spec = data["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    assert spec == {"containers": [{"name": "main", "newer": {"a": []}, "resources": {}}], "newest": 0}


def test_a_policy_and_its_annotations_are_one_revision() -> None:
    """So a set that upstream's controller ran with the annotations that our webhook wrote is not replaced by ours."""
    notes = {UNIQUE_SELECTOR: KEY, UNIQUE_TOLERATION_KEY: KEY, UNIQUE_TOLERATION_EFFECT: "NoSchedule"}
    templates = {name: {"metadata": {"annotations": notes}, **pods()} for name in ("leaderTemplate", "workerTemplate")}
    both = {name: pods() for name in templates}
    asked = held(leader_worker_set(unique=KEY, template=both))
    assert asked == held(leader_worker_set(template=templates))
    assert asked == held(leader_worker_set(unique=KEY, template=templates))
    assert asked != held(leader_worker_set(template=both))
    assert asked != held(leader_worker_set(unique="example.com/another", template=both))


def test_revisions_of_before_that_hold_the_policy_itself_are_the_same() -> None:
    lws = stored(leader_worker_set(unique=KEY))
    old = {name: lws["spec"][name] for name in ("leaderWorkerTemplate", "networkConfig")}
    assert canonical_data({"spec": old}) == held(leader_worker_set(unique=KEY))
