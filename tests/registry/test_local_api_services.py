"""Every group and version that the server answers for itself has an APIService."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.apiserver.discovery import review_resources
from mooring.kube.objects import Object
from mooring.registry import MemoryStorage, Registry
from mooring.registry.kinds.local_api_services import BUILTIN_PRIORITIES
from mooring.registry.resources import builtin_resources
from tests.conformance.cases import read_answers
from tests.registry.agreement import NOW

LABEL = "kube-aggregator.kubernetes.io/automanaged"


class Cluster:
    def __init__(self, storage: MemoryStorage | None = None) -> None:
        self.registry = Registry(storage, now=NOW)
        self.registry.bootstrap(now=NOW, host="127.0.0.1", port=1)

    def define(self, plural: str, **served: bool) -> None:
        names = {"plural": plural, "singular": plural[:-1], "kind": plural.title(), "listKind": f"{plural.title()}List"}
        schema = {"openAPIV3Schema": {"type": "object"}}
        versions = [
            {"name": name, "served": is_served, "storage": name == "v1", "schema": schema}
            for name, is_served in served.items()
        ]
        spec = {"group": "sea.dev", "names": names, "scope": "Cluster", "versions": versions}
        body = {"metadata": {"name": f"{plural}.sea.dev"}, "spec": spec}
        resource = self.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        self.registry.patch(resource, "", f"{plural}.sea.dev", "apply", body | _type(resource), now=NOW, manager="test")

    def undefine(self, plural: str) -> None:
        resource = self.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        self.registry.delete(resource, "", f"{plural}.sea.dev", now=NOW)

    def services(self) -> dict[str, Object]:
        return {each["metadata"]["name"]: each for each in self.registry.all("apiregistration.k8s.io/v1", "APIService")}

    def custom(self) -> set[str]:
        return {name for name, each in self.services().items() if each["metadata"]["labels"].get(LABEL) == "true"}

    def delete(self, name: str) -> None:
        self.registry.delete(self._resource, "", name, now=NOW)

    def change(self, name: str, body: dict[str, Any]) -> None:
        self.registry.patch(self._resource, "", name, "merge", body, now=NOW)

    @property
    def _resource(self) -> Any:
        return self.registry.resource("apiregistration.k8s.io/v1", "APIService")


def _type(resource: Any) -> Object:
    return {"apiVersion": resource.api_version, "kind": resource.kind}


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


def test_every_group_and_version_that_is_served_has_its_priorities_but_that_of_api_services() -> None:
    served = {(each.group, each.version) for each in (*builtin_resources(), *review_resources())}
    assert served - {("apiregistration.k8s.io", "v1")} == BUILTIN_PRIORITIES.keys()


def test_the_specs_of_the_built_in_ones_are_those_of_a_real_server() -> None:
    answers = read_answers("discovery")["The priorities of what the server answers itself"]
    specs = [each["spec"] for each in Cluster().services().values()]
    assert sorted(specs, key=str) == sorted((each["body"]["spec"] for each in answers), key=str)


def test_a_built_in_group_has_a_local_api_service_that_is_available() -> None:
    found = Cluster().services()["v1.apps"]
    assert found["metadata"]["labels"] == {LABEL: "onstart"}
    assert found["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")
    (entry,) = found["metadata"]["managedFields"]
    assert set(entry["fieldsV1"]["f:spec"]) == {"f:group", "f:version", "f:groupPriorityMinimum", "f:versionPriority"}


def test_the_served_versions_of_custom_kinds_have_one_each_for_as_long_as_one_kind_has_them() -> None:
    cluster = Cluster()
    cluster.define("gulls", v1=True, v2=True, v3=False)
    cluster.define("terns", v1=True)
    assert cluster.custom() == {"v1.sea.dev", "v2.sea.dev"}
    cluster.define("gulls", v1=True, v2=False, v3=False)
    assert cluster.custom() == {"v1.sea.dev"}
    cluster.undefine("gulls")
    assert cluster.custom() == {"v1.sea.dev"}
    cluster.undefine("terns")
    assert cluster.custom() == set()


def test_a_deleted_one_of_a_custom_kind_comes_back_at_once_and_a_built_in_one_with_the_next_start(
    storage: MemoryStorage,
) -> None:
    cluster = Cluster(storage)
    cluster.define("gulls", v1=True)
    cluster.delete("v1.sea.dev")
    cluster.delete("v1.apps")
    assert cluster.custom() == {"v1.sea.dev"}
    assert "v1.apps" not in cluster.services()
    assert "v1.apps" in Cluster(storage).services()


def test_a_changed_one_is_put_right_unless_it_is_somebody_elses(storage: MemoryStorage) -> None:
    cluster = Cluster(storage)
    cluster.define("gulls", v1=True)
    cluster.change("v1.sea.dev", {"spec": {"versionPriority": 7}})
    assert cluster.services()["v1.sea.dev"]["spec"]["versionPriority"] == 100
    cluster.change("v1.apps", {"spec": {"versionPriority": 7}})
    assert cluster.services()["v1.apps"]["spec"]["versionPriority"] == 7
    cluster.change("v1.batch", {"spec": {"versionPriority": 7}, "metadata": {"labels": None}})
    again = Cluster(storage).services()
    assert again["v1.apps"]["spec"]["versionPriority"] == 15
    assert again["v1.batch"]["spec"]["versionPriority"] == 7


def test_a_start_changes_nothing_that_is_as_it_should_be_and_removes_what_is_served_no_more(
    storage: MemoryStorage,
) -> None:
    cluster = Cluster(storage)
    cluster.define("gulls", v1=True)
    before = cluster.services()
    assert Cluster(storage).services() == before
    spec = {"group": "gone.dev", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    for name, labels in (("gone.dev", {LABEL: "true"}), ("left.dev", {})):
        resource = cluster.registry.resource("apiregistration.k8s.io/v1", "APIService")
        obj = {"metadata": {"name": f"v1.{name}", "labels": labels}, "spec": {**spec, "group": name}}
        cluster.registry.create(resource, obj, now=NOW)
    assert Cluster(storage).services().keys() == before.keys() | {"v1.left.dev"}


def test_the_date_since_when_the_use_of_tokens_is_known_stays(storage: MemoryStorage) -> None:
    name = "kube-apiserver-legacy-service-account-token-tracking"
    first = Cluster(storage).registry.find("v1", "ConfigMap", "kube-system", name)
    assert first is not None
    assert first["data"] == {"since": f"{NOW:%Y-%m-%d}"}
    again = Registry(storage, now=NOW)
    again.bootstrap(now=NOW.replace(year=NOW.year + 1), host="127.0.0.1", port=1)
    assert again.find("v1", "ConfigMap", "kube-system", name) == first
