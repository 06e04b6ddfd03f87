"""Nothing that a client sends breaks the registry, however little sense it makes."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.registry.fuzz import Fuzz
from tests.registry.world import World, config, definition, refused


@pytest.mark.parametrize("seed", range(6))
def test_what_makes_no_sense_is_refused_in_words(seed: int) -> None:
    fuzz = Fuzz(seed)
    for number in range(500):
        broken = fuzz.step()
        assert broken is None, f"write {number} of seed {seed} broke the registry: {broken}"


def test_every_served_kind_takes_part() -> None:
    assert len(Fuzz(0).kinds) >= 45


def test_an_event_that_repeats_and_names_no_reporter_is_refused(world: World) -> None:
    events = world.registry.resource("events.k8s.io/v1", "Event")
    said = {"metadata": {"name": "e"}, "eventTime": "2026-01-01T12:00:00.000000Z", "series": {"count": 2}}
    with refused(422, "reportingController: Required value"):
        world.registry.create(events, said, now=world.now, namespace="default")


def test_a_schema_whose_items_are_a_list_is_refused(world: World) -> None:
    tuple_like = {"type": "array", "items": [{"type": "string"}], "allOf": [{"items": {"pattern": "a"}}]}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"pair": tuple_like}}}}
    with refused(422, "items must be a schema object and not an array"):
        world.make("crd", definition(schema={"openAPIV3Schema": schema}))


def test_a_trace_of_fields_that_makes_no_sense_is_put_right(world: World) -> None:
    world.make("configmap", config())
    entry: Object = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entry["fieldsV1"] = {"f:data": {".": [{}], "f:a": {}}}
    world.merge("configmap", "c", {"metadata": {"managedFields": [entry]}}, manager="m")
    made = world.merge("configmap", "c", {"data": {"b": "c"}}, manager="m")
    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:b": {}}}
