"""Every namespace has the cluster's authority, and keeps it."""

from __future__ import annotations

import pytest

from mooring.builtin.authentication.root_ca import CONTROLLER
from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import Town

NAME = "kube-root-ca.crt"
PUBLISHED = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
    "data": {"client-ca-file": "PEM"},
}


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@pytest.fixture
def town() -> Town:
    return Town(namespace("team"), controllers=(CONTROLLER,), before=[PUBLISHED], settled=True)


def data(town: Town, name: str = "team") -> Object | None:
    found = town.registry.find("v1", "ConfigMap", name, NAME)
    return None if found is None else found["data"]


def test_every_namespace_gets_it(town: Town) -> None:
    names = [each["metadata"]["name"] for each in town.registry.all("v1", "Namespace")]
    assert len(names) == 5
    assert [data(town, name) for name in names] == [{"ca.crt": "PEM"}] * 5
    found = town.registry.find("v1", "ConfigMap", "team", NAME)
    assert found is not None
    assert "kubernetes.io/description" in found["metadata"]["annotations"]


def test_it_comes_back_when_it_is_deleted(town: Town) -> None:
    registry = town.registry
    registry.delete(registry.resource("v1", "ConfigMap"), "team", NAME, now=town.simulation.now)
    assert data(town) is None
    town.run()
    assert data(town) == {"ca.crt": "PEM"}


def test_what_others_write_into_it_is_taken_out(town: Town) -> None:
    registry = town.registry
    body = {"data": {"ca.crt": "other", "more": "x"}}
    registry.patch(registry.resource("v1", "ConfigMap"), "team", NAME, "merge", body, now=town.simulation.now)
    town.run()
    assert data(town) == {"ca.crt": "PEM"}


def test_a_new_authority_reaches_all_namespaces(town: Town) -> None:
    registry = town.registry
    body = {"data": {"client-ca-file": "NEW"}}
    kind, name = registry.resource("v1", "ConfigMap"), "extension-apiserver-authentication"
    registry.patch(kind, "kube-system", name, "merge", body, now=town.simulation.now)
    town.run()
    assert data(town) == data(town, "default") == {"ca.crt": "NEW"}


def test_where_no_server_names_an_authority_nothing_is_published() -> None:
    town = Town(namespace("team"), controllers=(CONTROLLER,), settled=True)
    assert data(town) is None


def test_a_crash_at_any_write_ends_the_same() -> None:
    def populate(simulation: Simulation) -> None:
        registry = simulation.registry
        registry.create(registry.resource("v1", "ConfigMap"), PUBLISHED, now=simulation.now)
        registry.create(registry.resource("v1", "Namespace"), namespace("team"), now=simulation.now)

    assert survives_every_crash([CONTROLLER], populate) > 4
