"""The table around the cells: what is sent in a list, in a watch, and with or without the objects."""

from __future__ import annotations

from mooring.apiserver.tables import partial, partial_list, printer_columns, table
from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.apiserver.kinds import NOW, define, definition, version


def lease(name: str, holder: str = "me") -> Object:
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": name, "resourceVersion": "5", "creationTimestamp": "2026-01-01T11:57:00Z"},
        "spec": {"holderIdentity": holder},
    }


LEASES = Registry().resource("coordination.k8s.io/v1", "Lease")


def test_a_list_becomes_a_table_with_a_row_per_object() -> None:
    metadata = {"resourceVersion": "9", "continue": "abc", "remainingItemCount": 4}
    made = table(LEASES, [lease("a"), lease("b", "you")], now=NOW, list_metadata=metadata)
    assert (made["kind"], made["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert made["metadata"] == metadata
    assert [row["cells"] for row in made["rows"]] == [["a", "me", "3m"], ["b", "you", "3m"]]


def test_rows_carry_the_metadata_of_their_objects_unless_told_otherwise() -> None:
    obj = lease("a")
    assert table(LEASES, [obj], now=NOW)["rows"][0]["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }
    assert table(LEASES, [obj], now=NOW, include="Object")["rows"][0]["object"] is obj
    assert table(LEASES, [obj], now=NOW, include="None")["rows"][0]["object"] is None


def test_the_end_of_the_initial_events_is_marked_even_without_objects() -> None:
    annotations = {"k8s.io/initial-events-end": "true"}
    bookmark = {"kind": "Lease", "metadata": {"resourceVersion": "9", "annotations": annotations}}
    row = table(LEASES, [bookmark], now=NOW, include="None", headers=False)["rows"][0]
    assert row["cells"] == ["", "", "<unknown>"]
    assert row["object"]["metadata"]["annotations"] == annotations


def test_a_table_of_one_object_has_its_version() -> None:
    assert table(LEASES, [lease("a")], now=NOW)["metadata"] == {"resourceVersion": "5"}


def test_later_tables_of_a_watch_have_no_headers() -> None:
    assert table(LEASES, [lease("a")], now=NOW, headers=False)["columnDefinitions"] is None


def test_an_older_version_of_the_form_is_named_throughout() -> None:
    made = table(LEASES, [lease("a")], now=NOW, api_version="meta.k8s.io/v1beta1")
    assert made["apiVersion"] == made["rows"][0]["object"]["apiVersion"] == "meta.k8s.io/v1beta1"


def test_a_scale_has_columns_of_its_own() -> None:
    scale = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web", "creationTimestamp": "2026-01-01T11:59:00Z"},
        "spec": {"replicas": 3},
        "status": {"replicas": 2},
    }
    made = table(Registry().resource("apps/v1", "Deployment"), [scale], now=NOW)
    assert [each["name"] for each in made["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert made["rows"][0]["cells"] == ["web", 3, 2, "60s"]


def test_a_custom_kind_shows_the_columns_of_its_version() -> None:
    registry = Registry()
    column = {"name": "Food", "type": "string", "jsonPath": ".spec.food", "description": "What.", "priority": 1}
    first = version("v1", storage=True, additionalPrinterColumns=[column])
    lions = define(registry, definition("Lion", first, version("v2")))
    assert printer_columns(registry, lions) == [column]
    assert printer_columns(registry, registry.resource("zoo.example.com/v2", "Lion")) == []
    assert printer_columns(registry, LEASES) is None
    leo = {"metadata": {"name": "leo"}, "spec": {"food": "meat"}}
    made = table(lions, [leo], now=NOW, columns=[column])
    shown = {"name": "Food", "type": "string", "format": "", "description": "What.", "priority": 1}
    assert made["columnDefinitions"][1:] == [shown]
    assert made["rows"][0]["cells"] == ["leo", "meat"]


def test_a_custom_kind_without_columns_shows_name_and_age() -> None:
    registry = Registry()
    lions = define(registry, definition("Lion"))
    leo = {"metadata": {"name": "leo", "creationTimestamp": "2025-12-30T12:00:00Z"}}
    made = table(lions, [leo], now=NOW, columns=printer_columns(registry, lions))
    assert [(each["name"], each["type"]) for each in made["columnDefinitions"]] == [("Name", "string"), ("Age", "date")]
    assert made["rows"][0]["cells"] == ["leo", "2d"]


def test_columns_end_before_the_first_path_that_cannot_be_read() -> None:
    registry = Registry()
    lions = define(registry, definition("Lion"))
    paths = {"A": ".spec.food", "B": ".spec.list[a]", "C": ".spec.food"}
    columns = [{"name": name, "type": "string", "jsonPath": path} for name, path in paths.items()]
    made = table(lions, [{"metadata": {"name": "leo"}, "spec": {"food": "fish"}}], now=NOW, columns=columns)
    assert [each["name"] for each in made["columnDefinitions"]] == ["Name", "A"]
    assert made["rows"][0]["cells"] == ["leo", "fish"]


def test_metadata_can_be_had_alone() -> None:
    obj = lease("a")
    assert partial(obj, "meta.k8s.io/v1beta1") == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1beta1",
        "metadata": obj["metadata"],
    }
    made = partial_list([obj], {"resourceVersion": "9"})
    assert made["kind"] == "PartialObjectMetadataList"
    assert made["items"] == [partial(obj)]
    assert made["metadata"] == {"resourceVersion": "9"}
