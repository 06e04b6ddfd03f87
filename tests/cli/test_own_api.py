"""What our features add to the API of `mooring up`: it is shipped as data, and code is loaded when a write needs it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mooring.catalog import CATALOG
from mooring.kube.conditions import conditions_of, is_true
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.settings import DEFAULTS
from mooring.supervisor.admission import own_admission
from mooring.supervisor.declared_api import api_text
from mooring.supervisor.own_api import DATA, read_own_api

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
HOSTS = "infrastructure.cluster.x-k8s.io"
SETS = "leaderworkersets.leaderworkerset.x-k8s.io"


def started(registry: Registry | None = None) -> Registry:
    registry = registry or Registry(now=NOW)
    own_admission(CATALOG.names, DEFAULTS)(registry)
    return registry


def definition(registry: Registry, name: str = SETS) -> Object:
    found = registry.find(*KIND, "", name)
    assert found is not None
    return found


def patch(registry: Registry, change: Object) -> None:
    registry.patch(registry.resource(*KIND), "", SETS, "merge", change, now=NOW, manager="kubectl")


def test_the_data_are_what_the_features_declare() -> None:
    assert DATA.read_text(encoding="utf-8") == api_text(CATALOG.features), "run python -m scripts.crds"


def test_every_kind_is_served_from_the_first_start_with_its_own_time_and_uid() -> None:
    registry = started()
    known = [each for api in read_own_api(NOW).values() for each in api.definitions]
    stored = [definition(registry, each["metadata"]["name"]) for each in known]
    assert len(stored) == len(CATALOG.resources())
    assert all(is_true(conditions_of(each), "Established") for each in stored)
    assert len({each["metadata"]["uid"] for each in stored}) == len(stored)
    assert not [each for each in stored if "1970" in str(each["metadata"])]


def test_a_start_that_finds_everything_as_it_left_it_writes_nothing() -> None:
    registry = started()
    before = registry.revision
    started(registry)
    assert registry.revision == before


def test_what_others_changed_in_a_definition_is_undone_and_what_they_added_stays() -> None:
    registry = started()
    patch(registry, {"metadata": {"labels": {"team": "blue"}}, "spec": {"names": {"shortNames": ["boat"]}}})
    started(registry)
    assert definition(registry)["spec"]["names"]["shortNames"] == ["lws"]
    assert definition(registry)["metadata"]["labels"]["team"] == "blue"


def test_a_definition_does_not_take_a_name_that_another_one_has() -> None:
    registry = Registry(now=NOW)
    group = "leaderworkerset.x-k8s.io"
    wanted = next(
        each for api in read_own_api(NOW).values() for each in api.definitions if each["metadata"]["name"] == SETS
    )
    names = {"plural": "boats", "kind": "LeaderWorkerSet", "singular": "boat", "listKind": "BoatList"}
    meta = {"name": f"boats.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}}
    boats = {"metadata": meta, "spec": {**wanted["spec"], "names": names}}
    registry.create(registry.resource(*KIND), boats, now=NOW)
    assert not is_true(conditions_of(definition(started(registry))), "NamesAccepted")


def test_the_first_write_finds_its_webhook() -> None:
    registry = started()
    sets = registry.resource("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    template = {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}
    still = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 0}}
    spec = {"rolloutStrategy": still, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    with pytest.raises(ApiError, match=r'webhook "validation\.leaderworkerset\.mooring\.dev" denied'):
        registry.create(sets, {"metadata": {"name": "a"}, "spec": spec}, now=NOW)


def test_the_first_write_finds_its_conversion() -> None:
    registry = started()
    spec = {"clusterName": "c", "nodeDrainTimeout": "10m", "bootstrap": {"dataSecretName": "token"}}
    spec["infrastructureRef"] = {"apiVersion": f"{HOSTS}/v1beta1", "kind": "ByoMachine", "name": "m"}
    old = registry.resource("cluster.x-k8s.io/v1beta1", "Machine")
    registry.create(old, {"metadata": {"name": "m"}, "spec": spec}, now=NOW)
    (stored,) = registry.storage.items("machines.cluster.x-k8s.io")
    assert stored["spec"]["deletion"]["nodeDrainTimeoutSeconds"] == 600
