"""A registry on a filled storage is the one that was there before, but for its history."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.apiserver.sqlite import SqliteStorage
from mooring.kube.objects import Object
from mooring.kube.status import ExpiredError
from mooring.registry import Registry

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
WIDGETS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}
                        },
                    }
                },
                "subresources": {"status": {}},
            }
            for name in ("v1", "v2")
        ],
    },
}


class Home:
    """One server after the other on one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self.storage = SqliteStorage(self._folder)
        self.registry = Registry(self.storage, now=NOW)

    def restart(self) -> None:
        self.storage.commit()
        self.storage.close()
        self._start()

    def create(self, api_version: str, kind: str, obj: Object) -> Object:
        return self.registry.create(self.registry.resource(api_version, kind), obj, now=NOW, namespace="default")

    def all(self, api_version: str, kind: str) -> list[Object]:
        return list(self.registry.all(api_version, kind))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.storage.close()


def test_what_every_cluster_has_is_made_once(home: Home) -> None:
    before = home.all("v1", "Namespace"), home.all("scheduling.k8s.io/v1", "PriorityClass")
    revision = home.registry.revision
    home.restart()
    assert (home.all("v1", "Namespace"), home.all("scheduling.k8s.io/v1", "PriorityClass")) == before
    assert home.registry.revision == revision


def test_custom_kinds_are_served_again_in_all_their_versions(home: Home) -> None:
    home.create("apiextensions.k8s.io/v1", "CustomResourceDefinition", WIDGETS)
    made = home.create("example.com/v1", "Widget", {"metadata": {"name": "one"}, "spec": {}})
    home.restart()

    found = home.registry.get(home.registry.resource("example.com/v1", "Widget"), "default", "one")
    assert found == made
    assert found["spec"] == {"size": 3}
    other = home.registry.get(home.registry.resource("example.com/v2", "Widget"), "default", "one")
    assert other == {**made, "apiVersion": "example.com/v2"}
    again = home.create("example.com/v2", "Widget", {"metadata": {"name": "two"}, "spec": {"size": 5}})
    assert int(again["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


def test_a_definition_that_was_deleted_stays_deleted_with_its_objects(home: Home) -> None:
    home.create("apiextensions.k8s.io/v1", "CustomResourceDefinition", WIDGETS)
    home.create("example.com/v1", "Widget", {"metadata": {"name": "one"}, "spec": {}})
    definitions = home.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    home.restart()
    home.registry.delete(definitions, "", "widgets.example.com", now=NOW)
    home.restart()
    assert home.registry.resources.find("example.com/v1", "Widget") is None
    assert home.all("apiextensions.k8s.io/v1", "CustomResourceDefinition") == []
    assert home.storage.items("widgets.example.com") == []


def test_a_definition_that_waits_for_its_last_object_goes_after_a_restart(home: Home) -> None:
    home.create("apiextensions.k8s.io/v1", "CustomResourceDefinition", WIDGETS)
    held = {"metadata": {"name": "one", "finalizers": ["example.com/hold"]}, "spec": {}}
    home.create("example.com/v1", "Widget", held)
    definitions = home.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    home.registry.delete(definitions, "", "widgets.example.com", now=NOW)
    home.restart()

    assert len(home.all("apiextensions.k8s.io/v1", "CustomResourceDefinition")) == 1
    widgets = home.registry.resource("example.com/v1", "Widget")
    free = {"metadata": {"finalizers": None}}
    home.registry.patch(widgets, "default", "one", "merge", free, now=NOW)
    assert home.all("apiextensions.k8s.io/v1", "CustomResourceDefinition") == []


def test_watches_and_lists_from_before_a_restart_are_expired(home: Home) -> None:
    maps = home.registry.resource("v1", "ConfigMap")
    old = home.create("v1", "ConfigMap", {"metadata": {"name": "a"}})["metadata"]["resourceVersion"]
    last = home.create("v1", "ConfigMap", {"metadata": {"name": "b"}})["metadata"]["resourceVersion"]
    home.restart()

    with pytest.raises(ExpiredError):
        home.registry.watch(maps, resource_version=old)
    with pytest.raises(ExpiredError):
        home.registry.list(maps, resource_version=old, resource_version_match="Exact")
    # Whoever had seen everything misses nothing and may go on.
    watch = home.registry.watch(maps, resource_version=last)
    home.create("v1", "ConfigMap", {"metadata": {"name": "c"}})
    assert [(event.type, event.object["metadata"]["name"]) for event in watch.poll()] == [("ADDED", "c")]


def test_pages_of_a_list_from_before_a_restart_are_expired(home: Home) -> None:
    maps = home.registry.resource("v1", "ConfigMap")
    for name in "abc":
        home.create("v1", "ConfigMap", {"metadata": {"name": name}})
    page = home.registry.list(maps, limit=1)
    home.create("v1", "ConfigMap", {"metadata": {"name": "d"}})
    home.restart()
    with pytest.raises(ExpiredError):
        home.registry.list(maps, limit=1, continue_=page.continue_)


def test_addresses_of_services_are_not_given_out_twice(home: Home) -> None:
    def address(name: str) -> str:
        made = home.create("v1", "Service", {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
        found: str = made["spec"]["clusterIP"]
        return found

    first = address("a")
    home.restart()
    assert address("b") != first
