"""The definitions of hosts: everything that upstream's take is taken, and what is ours is listed here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.features.hosts.api.definitions import BYO_HOSTS, RESOURCES
from mooring.features.hosts.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.kube.schemas import structural_schema
from mooring.runtime.drivers.simulation import START
from mooring.testing.hosts import byo_host, put_machine
from tests.features.groups.test_definition import schema
from tests.features.hosts.world import DEFINITIONS, HostWorld, new_registry
from tests.features.upstream import differences

UPSTREAM = Path(__file__).parents[3].parent / "shared/upstream/crds"
SAMPLES = UPSTREAM.parent / "manifests" / "byoh"
# Fields that only ours have: `apiGroup` beside apiVersion as people write it, conditions where upstream has none, what
# claims and heartbeats need, and what the contract of Cluster API v1beta2 asks for.
OURS = (".apiGroup", ".conditions", ".status.hostRef", ".status.initialization", ".status.phase")
OURS_BY_NAME = (".status.lastHeartbeatTime", ".status.lastReleasedTime", ".status.tokenID", ".status.expirationTime")
# A map of conditions lets several write their own; upstream requires an address that is filled in here.
LESS_STRICT = (".conditions x-kubernetes-list", ".spec required: None and not ['apiserver']")


def ids(resource: CustomResource) -> str:
    return resource.kind


def described(part: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    for name, child in (part.get("properties") or {}).items():
        if name in ("metadata", "selector"):
            continue
        yield f"{path}.{name}", child
        yield from described(child, f"{path}.{name}")
        yield from described(child.get("items") or {}, f"{path}.{name}[]")


@pytest.mark.parametrize("resource", RESOURCES, ids=ids)
def test_schemas_are_structural_and_every_field_is_described(resource: CustomResource) -> None:
    whole = schema(definition(resource))
    structural_schema(whole)
    assert not [path for path, child in described(whole) if not child.get("description")]


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="upstream's definitions are not here")
@pytest.mark.parametrize("resource", RESOURCES, ids=ids)
def test_fields_types_and_rules_are_those_of_upstream(resource: CustomResource) -> None:
    path = UPSTREAM / f"{resource.group}_{resource.plural}.yaml"
    theirs = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    ours = definition(resource)
    found = [
        each
        for each in differences(schema(ours), schema(theirs))
        if not each.endswith((*OURS, *OURS_BY_NAME)) and not any(part in each for part in LESS_STRICT)
    ]
    assert found == []
    assert {name: ours["spec"]["names"][name] for name in theirs["spec"]["names"]} == theirs["spec"]["names"]
    (mine,), (other,) = ours["spec"]["versions"], theirs["spec"]["versions"]
    assert mine["subresources"] == other["subresources"]
    columns = [each["name"] for each in other.get("additionalPrinterColumns", ())]
    assert [each["name"] for each in mine["additionalPrinterColumns"]][: len(columns)] == columns


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="upstream's samples are not here")
@pytest.mark.parametrize("place", ["docker", "vm"])
def test_upstreams_samples_apply_unmodified(place: str) -> None:
    (path,) = SAMPLES.glob(f"*__{place}__md.yaml")
    text = re.sub(r"\$\{[^}]*\}", "v1.26.0", path.read_text(encoding="utf-8"))
    registry = new_registry(definitions=DEFINITIONS)
    own = [each for each in yaml.safe_load_all(text) if each["apiVersion"] == API_VERSION]
    assert own
    for each in own:
        body = {**each, "metadata": {**each["metadata"], "namespace": "default"}}
        made = registry.create(registry.resource(API_VERSION, each["kind"]), body, now=START, field_validation="Strict")
        assert made["spec"] == each["spec"], "a field was dropped"


def test_what_stories_are_told_with_is_what_the_definitions_allow() -> None:
    """Most are told without the rules of the definitions, and what a user could not write would be no story."""
    world = HostWorld(byo_host("node10"), definitions=DEFINITIONS)
    for name, secret in (("has-data", "bootstrap"), ("waits-for-data", None)):
        put_machine(world.simulation, name, secret=secret)
        assert world.get("Machine", name)["spec"]["infrastructureRef"] == {
            "apiGroup": "infrastructure.cluster.x-k8s.io",
            "kind": "ByoMachine",
            "name": name,
        }
    world.run()
    assert world.claims() == {"node10": "has-data"}


def test_a_host_shows_its_status_and_its_machine() -> None:
    (version,) = definition(BYO_HOSTS)["spec"]["versions"]
    names = [each["name"] for each in version["additionalPrinterColumns"]]
    assert names == ["OSName", "OSImage", "Arch", "Status", "Machine", "Age"]
