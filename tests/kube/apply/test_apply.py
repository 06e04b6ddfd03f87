"""Server-side apply as stories: who owns a field, who may change it, and when it goes."""

import json
from typing import Any

import pytest

from mooring.kube.apply import ApplyConflict, ApplyError, apply, path_text, paths
from mooring.kube.schemas import builtin_schema
from tests.kube.apply.world import NOW, SCHEMA, VERSION, World, thing


def test_an_applier_owns_what_it_applied() -> None:
    world = World().applied(
        "me", thing(replicas=1, labels={"a": "b"}, command=["run"], tags=["x"], parts=[{"name": "p"}])
    )
    assert world.fields_of("me") == {
        "f:spec": {
            "f:command": {},
            "f:labels": {"f:a": {}},
            "f:parts": {'k:{"name":"p"}': {".": {}, "f:name": {}}},
            "f:replicas": {},
            "f:tags": {'v:"x"': {}},
        }
    }
    assert world.managed[0] | {"fieldsV1": None} == {
        "manager": "me",
        "operation": "Apply",
        "apiVersion": VERSION,
        "time": NOW,
        "fieldsType": "FieldsV1",
        "fieldsV1": None,
    }


def test_a_field_of_another_is_a_conflict() -> None:
    world = World().applied("a", thing(replicas=1))
    with pytest.raises(ApplyConflict) as raised:
        world.applied("b", thing(replicas=2))
    assert str(raised.value) == 'Apply failed with 1 conflict: conflict with "a": .spec.replicas'
    assert [(each.manager.manager, each.field) for each in raised.value.conflicts] == [("a", ".spec.replicas")]


def test_a_conflict_with_an_updater_names_the_version_it_used() -> None:
    schema = builtin_schema("apps/v1", "Deployment")
    live = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "uid": "1"},
        "spec": {"replicas": 1},
    }
    managed = [
        {
            "manager": "kubectl-client-side-apply",
            "operation": "Update",
            "apiVersion": "apps/v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }
    ]
    wanted = {**live, "metadata": {"name": "a"}, "spec": {"replicas": 2}}
    with pytest.raises(ApplyConflict) as raised:
        apply(live, wanted, "me", schema, managed, "apps/v1", NOW)
    assert str(raised.value) == (
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas'
    )


def test_several_conflicts_are_grouped_by_manager() -> None:
    world = World().applied("b", thing(parts=[{"name": "p", "size": 1}])).applied("a", thing(replicas=1, image="x"))
    with pytest.raises(ApplyConflict) as raised:
        world.applied("c", thing(replicas=2, image="y", parts=[{"name": "p", "size": 2}]))
    assert str(raised.value) == (
        'Apply failed with 3 conflicts: conflicts with "a":\n- .spec.image\n- .spec.replicas\n'
        'conflicts with "b":\n- .spec.parts[name="p"].size'
    )


def test_the_same_value_is_shared_without_a_conflict() -> None:
    world = World().applied("a", thing(replicas=1)).applied("b", thing(replicas=1))
    assert world.fields_of("a") == world.fields_of("b")


def test_force_takes_the_field_over() -> None:
    world = World().applied("a", thing(replicas=1, image="x")).applied("b", thing(replicas=2), force=True)
    assert world.spec == {"replicas": 2, "image": "x"}
    assert world.fields_of("a") == {"f:spec": {"f:image": {}}}
    assert world.fields_of("b") == {"f:spec": {"f:replicas": {}}}


def test_a_manager_that_owns_nothing_is_forgotten() -> None:
    world = World().applied("a", thing(replicas=1)).applied("b", thing(replicas=2), force=True)
    assert world.managers == ["b"]


def test_a_field_that_is_applied_no_more_goes() -> None:
    world = World().applied("a", thing(replicas=1, image="x")).applied("a", thing(replicas=1))
    assert world.spec == {"replicas": 1}


def test_unless_somebody_else_owns_it() -> None:
    world = (
        World()
        .applied("a", thing(replicas=1, image="x"))
        .applied("b", thing(image="x"))
        .applied("a", thing(replicas=1))
    )
    assert world.spec == {"replicas": 1, "image": "x"}
    assert world.fields_of("a") == {"f:spec": {"f:replicas": {}}}


def test_an_item_goes_with_its_only_applier_and_stays_with_what_others_set_in_it() -> None:
    world = World().applied("a", thing(parts=[{"name": "p", "size": 1}, {"name": "q"}]))
    world = world.applied("b", thing(parts=[{"name": "p", "tags": ["t"]}])).applied("a", thing(replicas=1))
    assert world.spec == {"parts": [{"name": "p", "tags": ["t"]}], "replicas": 1}


def test_a_field_of_an_item_goes_when_it_is_applied_no_more_and_the_item_stays() -> None:
    sized = World().applied("a", thing(parts=[{"name": "p", "size": 1}, {"name": "q", "size": 2}]))
    world = sized.applied("a", thing(parts=[{"name": "p"}, {"name": "q", "size": 2}]))
    assert world.spec == {"parts": [{"name": "p"}, {"name": "q", "size": 2}]}


def test_items_of_a_set_come_and_go_one_by_one() -> None:
    world = World().applied("a", thing(tags=["x", "y"])).applied("b", thing(tags=["y", "z"]))
    assert world.spec["tags"] == ["x", "y", "z"]
    assert world.applied("a", thing(tags=["x"])).spec["tags"] == ["x", "y", "z"]
    assert world.applied("a", thing(tags=["y"])).spec["tags"] == ["y", "z"]


def test_what_is_atomic_has_one_owner_and_is_replaced() -> None:
    world = World().applied("a", thing(command=["run"], selector={"a": "1"}))
    with pytest.raises(ApplyConflict) as raised:
        world.applied("b", thing(command=["run", "fast"], selector={"b": "2"}))
    assert [each.field for each in raised.value.conflicts] == [".spec.command", ".spec.selector"]
    assert world.applied("a", thing(command=["stop"], selector={"b": "2"})).spec == {
        "command": ["stop"],
        "selector": {"b": "2"},
    }


def test_a_map_without_a_mark_is_shared_key_by_key() -> None:
    world = World().applied("a", thing(labels={"a": "1"})).applied("b", thing(labels={"b": "2"}))
    assert world.spec["labels"] == {"a": "1", "b": "2"}
    assert world.applied("a", thing()).spec["labels"] == {"b": "2"}


def test_what_no_schema_describes_is_shared_field_by_field() -> None:
    world = World().applied("a", thing(free={"x": {"y": 1}})).applied("b", thing(free={"x": {"z": [1]}}))
    assert world.spec["free"] == {"x": {"y": 1, "z": [1]}}
    assert world.fields_of("b") == {"f:spec": {"f:free": {"f:x": {".": {}, "f:z": {}}}}}


def test_an_apply_that_changes_nothing_returns_the_live_object_and_keeps_the_time() -> None:
    world = World().applied("a", thing(replicas=1))
    again = apply(world.live, thing(replicas=1), "a", SCHEMA, world.managed, VERSION, "2030-01-01T00:00:00Z")
    assert again.object is world.live
    assert again.managed == world.managed


def test_an_object_without_managers_belongs_to_whoever_wrote_it_before() -> None:
    world = World({**thing(replicas=1), "metadata": {"name": "a", "uid": "1"}})
    with pytest.raises(ApplyConflict, match=r'conflict with "before-first-apply" using x\.io/v1: \.spec\.replicas'):
        world.applied("a", thing(replicas=2))
    assert world.applied("a", thing(replicas=1)).managers == ["a", "before-first-apply"]


def test_a_status_is_applied_through_its_own_door() -> None:
    status = {**thing(), "status": {"ready": 1}}
    world = World().applied("a", thing(replicas=1)).applied("a", status, subresource="status")
    assert [(entry["manager"], entry.get("subresource")) for entry in world.managed] == [("a", None), ("a", "status")]
    assert world.managed[1]["fieldsV1"] == {"f:status": {"f:ready": {}}}
    assert world.applied("a", thing(replicas=2)).managed[1] == world.managed[1]


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def test_kubectl_takes_over_from_its_client_side_self_without_conflicts() -> None:
    first = thing(replicas=1, image="x")
    annotated = {**first, "metadata": {**first["metadata"], "annotations": {LAST_APPLIED: json.dumps(first)}}}
    world = World().updated("kubectl-client-side-apply", annotated)
    with pytest.raises(ApplyConflict):
        world.applied("somebody", thing(replicas=2, image="x"))
    world = world.applied("kubectl", thing(replicas=2, image="x"))
    assert world.live is not None
    assert world.spec["replicas"] == 2
    assert json.loads(world.live["metadata"]["annotations"][LAST_APPLIED])["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        pytest.param(
            thing(bogus=1),
            ".spec.bogus: field not declared in schema",
            id="an unknown field",
        ),
        pytest.param(
            thing(replicas="1"),
            ".spec.replicas: expected numeric (int or float), got string",
            id="another type",
        ),
        pytest.param(
            thing(tags=["x", "x"]),
            '.spec.tags: duplicate entries for key [="x"]',
            id="a repetition",
        ),
        pytest.param(
            thing(parts=[{"size": 1}]),
            '.spec.parts: element 0: associative list with keys has an element that omits all key fields ["name"] '
            "(and doesn't have default values for any key fields)",
            id="an item without its key",
        ),
    ],
)
def test_what_does_not_fit_its_schema_cannot_be_applied(wanted: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ApplyError) as raised:
        World().applied("a", wanted)
    head = "failed to create typed patch object (ns/a; x.io/v1, Kind=Thing): "
    assert (str(raised.value), raised.value.code) == (head + complaint, 500)


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        pytest.param(
            {**thing(), "apiVersion": "x.io/v2"},
            "Incorrect version specified in apply patch. Specified patch version: x.io/v2, expected: x.io/v1",
            id="another version",
        ),
        pytest.param(
            {**thing(), "metadata": {"managedFields": []}},
            "metadata.managedFields must be nil",
            id="managers in the request",
        ),
    ],
)
def test_a_bad_request_is_refused(wanted: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ApplyError) as raised:
        World().applied("a", wanted)
    assert (str(raised.value), raised.value.code) == (complaint, 400)


def test_items_keep_their_order_unless_the_applier_sets_one() -> None:
    def order(*names: str) -> dict[str, Any]:
        return thing(parts=[{"name": name} for name in names])

    world = World().applied("a", order("p", "q", "r"))
    assert [part["name"] for part in world.applied("b", order("r", "s", "p")).spec["parts"]] == ["q", "r", "s", "p"]


def test_claims_on_parts_of_what_became_atomic_are_claims_on_the_whole() -> None:
    managed = [
        {
            "manager": "old",
            "operation": "Apply",
            "apiVersion": VERSION,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:selector": {"f:a": {}}}},
        }
    ]
    world = World({**thing(selector={"a": "1"}), "metadata": {"name": "a", "uid": "1"}}, managed)
    with pytest.raises(ApplyConflict) as raised:
        world.applied("b", thing(selector={"b": "1"}))
    assert [path_text(each.path) for each in raised.value.conflicts] == [".spec.selector"]


def test_paths_are_listed_level_by_level() -> None:
    fields: dict[str, Any] = {"f:b": {".": {}, 'k:{"name":"x"}': {}, "i:0": {}}, "f:a": {"f:c": {}}}
    assert [path_text(path) for path in paths(fields)] == [".b", ".a.c", '.b[name="x"]', ".b[0]"]
