"""Every custom resource that is declared: both API servers take its definition, and nothing in it is left unsaid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mooring.api.apiextensions.definitions import default_definition, validate_definition
from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG
from mooring.kube.schemas import validate
from mooring.nodes.stages.crd import STAGES
from mooring.testing.conversions import conversions_round_trip
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.schemas import custom_objects, version_schema
from tests.api.sample import MODEL_CACHES
from tests.api.upstream import BYO_HOSTS, WORKSPACES
from tests.api.upstream_notebooks import NOTEBOOK_VALIDATION_JOBS
from tests.runtime.serving import DEFINITIONS, eventually

# Ours, the tutorial's, and three that show what markers can say.
EVERY = (*CATALOG.resources(), STAGES, MODEL_CACHES, WORKSPACES, BYO_HOSTS, NOTEBOOK_VALIDATION_JOBS)
DECLARED = {each.plural: each for each in EVERY}


@pytest.fixture(params=DECLARED)
def resource(request: pytest.FixtureRequest) -> CustomResource:
    return DECLARED[request.param]


def copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    return [copied(each) for each in value] if isinstance(value, list) else value


def test_nothing_is_lost_between_versions(resource: CustomResource) -> None:
    assert conversions_round_trip(resource) == (2 if resource.is_converted else 0)


def test_kinds_whose_versions_differ_say_how_they_are_converted() -> None:
    converted = {plural for plural, each in DECLARED.items() if each.is_converted}
    assert converted == {MODEL_CACHES.plural, "clusters", "machinedeployments", "machinesets", "machines"}


def test_the_definition_is_valid_and_structural(resource: CustomResource) -> None:
    obj = copied(definition(resource))
    default_definition(obj)
    obj["status"] = {"storedVersions": [resource.stored.name]}
    assert not validate_definition(obj)


VERSIONS = [(name, version.name) for name, each in DECLARED.items() for version in each.versions]


# One at a time: objects of all of them together are more than one example may hold.
@pytest.mark.parametrize(("name", "version"), VERSIONS)
@settings(max_examples=10, suppress_health_check=(HealthCheck.too_slow,))
@given(data=st.data())
def test_random_objects_of_it_are_valid(data: st.DataObject, name: str, version: str) -> None:
    obj = data.draw(custom_objects(DECLARED[name], version))
    assert not validate(version_schema(DECLARED[name], version), obj)


def test_api_servers_establish_it_without_a_warning(resource: CustomResource, api_server: Home) -> None:
    with api_server.api() as api:
        made = api.post(DEFINITIONS, definition(resource))
        try:
            assert made.code == 201, made.body["message"]
            # The embedded server says of every rule in CEL that it does not evaluate it.
            assert not [text for text in made.warnings if "x-kubernetes-validations" not in text]

            def established() -> bool:
                found = api.get(f"{DEFINITIONS}/{resource.name}").body
                conditions = {each["type"]: each for each in found["status"].get("conditions") or ()}
                assert "NonStructuralSchema" not in conditions, conditions
                return bool(conditions.get("Established", {}).get("status") == "True")

            eventually(established)
        finally:
            api.delete(f"{DEFINITIONS}/{resource.name}")
            eventually(lambda: api.get(f"{DEFINITIONS}/{resource.name}").code == 404)
