"""Tracking of fields through writes other than apply, and through versions of a kind."""

from typing import Any

import pytest

from mooring.kube.apply import ApplyConflict, apply, update, updater
from mooring.kube.apply.managers import decode_managed
from mooring.kube.apply.update_memo import UpdateMemo
from mooring.kube.schemas import Schema, builtin_schema, structural_schema
from tests.kube.apply.world import NOW, SCHEMA, VERSION, World, thing


def test_whoever_creates_owns_everything() -> None:
    world = World().updated("creator", thing(replicas=1, parts=[{"name": "p"}]))
    assert world.fields_of("creator") == {
        "f:spec": {
            ".": {},
            "f:parts": {".": {}, 'k:{"name":"p"}': {".": {}, "f:name": {}}},
            "f:replicas": {},
        }
    }
    assert world.managed[0]["operation"] == "Update"


def test_the_creator_of_a_built_in_kind_does_not_own_what_is_always_there() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "x"}], "hostname": "h"},
    }
    managed = update(None, pod, "kubectl-create", builtin_schema("v1", "Pod"), None, "v1", NOW)
    assert managed[0]["fieldsV1"] == {
        "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
        "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}}, "f:hostname": {}},
    }


def test_whoever_changes_a_field_takes_it() -> None:
    world = World().updated("a", thing(replicas=1, image="x")).updated("b", thing(replicas=2, image="x"))
    assert world.fields_of("a") == {"f:spec": {".": {}, "f:image": {}}}
    assert world.fields_of("b") == {"f:spec": {"f:replicas": {}}}


def test_a_write_that_changes_nothing_leaves_the_entries_alone() -> None:
    world = World().updated("a", thing(replicas=1))
    assert world.updated("b", thing(replicas=1)).managed == world.managed


def test_a_field_that_is_removed_has_no_owner() -> None:
    world = World().updated("a", thing(replicas=1, image="x")).updated("b", thing(image="x"))
    assert world.fields_of("a") == {"f:spec": {".": {}, "f:image": {}}}
    assert world.fields_of("b") is None


def test_an_updater_takes_fields_from_an_applier_who_can_take_them_back() -> None:
    world = World().applied("a", thing(replicas=1, image="x")).updated("hpa", thing(replicas=5, image="x"))
    assert world.fields_of("a") == {"f:spec": {"f:image": {}}}
    with pytest.raises(ApplyConflict, match=r'conflict with "hpa" using x\.io/v1: \.spec\.replicas'):
        world.applied("a", thing(replicas=1, image="x"))
    assert world.applied("a", thing(replicas=1, image="x"), force=True).managers == ["a"]


def test_fields_of_the_api_have_no_owner() -> None:
    new = thing()
    new["metadata"] |= {"uid": "1", "generation": 3, "resourceVersion": "7", "labels": {"a": "b"}}
    assert World().updated("a", new).fields_of("a") == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {}}


def test_a_status_written_through_the_object_is_not_owned() -> None:
    world = World().updated("a", {**thing(replicas=1), "status": {"ready": 1}})
    assert world.fields_of("a") == {"f:spec": {".": {}, "f:replicas": {}}}


@pytest.mark.parametrize("reset", [[], [{}]], ids=["an empty list", "a list of one empty entry"])
def test_entries_can_be_dropped_and_stay_away_until_somebody_applies(reset: list[Any]) -> None:
    world = World().applied("a", thing(replicas=1))
    dropped = {**thing(replicas=1), "metadata": {"name": "a", "managedFields": reset}}
    world = world.updated("b", dropped)
    assert world.managed == []
    world = world.updated("b", thing(replicas=2))
    assert world.managed == []
    assert world.applied("c", thing(image="x")).managers == ["c", "before-first-apply"]


def test_entries_can_be_written_by_hand() -> None:
    world = World().applied("a", thing(replicas=1, image="x"))
    entry = {**world.managed[0], "manager": "z"}
    world = world.updated("b", {**thing(replicas=1, image="x"), "metadata": {"name": "a", "managedFields": [entry]}})
    assert world.managers == ["z"]


def test_but_nonsense_is_not_taken() -> None:
    world = World().applied("a", thing(replicas=1))
    nonsense = {**thing(replicas=1), "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}
    assert world.updated("b", nonsense).managers == ["a"]


def test_no_more_than_ten_updaters_are_told_apart() -> None:
    world = World()
    for number in range(13):
        world = world.updated(f"m{number:02}", thing(labels={f"k{each}": "v" for each in range(number + 1)}))
    assert len(world.managed) == 10
    assert "ancient-changes" in world.managers
    assert world.fields_of("ancient-changes")["f:spec"]["f:labels"].keys() >= {"f:k0", "f:k1", "f:k2"}


# Semver v2 calls the image "picture"; version v0 is served no more.
V2: Schema = structural_schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"replicas": {"type": "integer"}, "picture": {"type": "string"}},
            }
        },
    }
)


def convert(value: dict[str, Any], version: str) -> tuple[dict[str, Any], Schema] | None:
    spec = dict(value.get("spec", {}))
    old, new = ("picture", "image") if version == "x.io/v1" else ("image", "picture")
    if old in spec:
        spec[new] = spec.pop(old)
    schemas = {"x.io/v1": SCHEMA, "x.io/v2": V2}
    if version not in schemas:
        return None
    return {**value, "apiVersion": version, **({"spec": spec} if "spec" in value else {})}, schemas[version]


def test_a_claim_in_another_version_is_found_in_this_one() -> None:
    world = World().applied("a", thing(image="x", replicas=1))
    live = {**world.live, "apiVersion": "x.io/v2", "spec": {"picture": "x", "replicas": 1}} if world.live else {}
    wanted = {**thing(picture="y"), "apiVersion": "x.io/v2"}
    with pytest.raises(ApplyConflict) as raised:
        apply(live, wanted, "b", V2, world.managed, "x.io/v2", NOW, convert=convert)
    assert [each.field for each in raised.value.conflicts] == [".spec.image"]


def test_an_applier_that_moves_to_another_version_still_drops_what_it_no_longer_applies() -> None:
    world = World().applied("a", thing(image="x", replicas=1))
    live = {**world.live, "apiVersion": "x.io/v2", "spec": {"picture": "x", "replicas": 1}} if world.live else {}
    wanted = {**thing(replicas=1), "apiVersion": "x.io/v2"}
    made = apply(live, wanted, "a", V2, world.managed, "x.io/v2", NOW, convert=convert)
    assert made.object["spec"] == {"replicas": 1}
    assert [(entry["manager"], entry["apiVersion"]) for entry in made.managed] == [("a", "x.io/v2")]


def test_claims_in_a_version_that_is_served_no_more_are_void() -> None:
    world = World().updated("old", thing(replicas=1))
    entry = {**world.managed[0], "apiVersion": "x.io/v0"}
    made = apply(world.live, thing(replicas=2), "a", SCHEMA, [entry], VERSION, NOW, convert=convert)
    assert [each["manager"] for each in made.managed] == ["a"]


def test_a_failure_to_track_gives_the_entries_up() -> None:
    world = World().applied("a", thing(parts=[{"name": "p"}]))
    assert update(world.live, thing(parts=[None]), "b", SCHEMA, world.managed, VERSION, NOW) == []


def test_items_that_differ_in_their_names_alone_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    managed = update(None, thing(replicas=1), "creator", SCHEMA, None, VERSION, NOW)
    live = {**thing(replicas=1), "metadata": {"name": "a", "namespace": "ns", "uid": "1"}}
    worked_out: list[Any] = []

    def decode(entries: Any) -> Any:
        worked_out.append(entries)
        return decode_managed(entries)

    monkeypatch.setattr(updater, "_MEMO", UpdateMemo())
    monkeypatch.setattr(updater, "decode_managed", decode)
    for first, second in (("a", "b"), ("q", "c"), ("x", "z")):
        new = {**live, "spec": {**live["spec"], "parts": [{"name": first, "size": 1}, {"name": second}]}}
        entries = update(live, new, "writer", SCHEMA, managed, VERSION, NOW)
        [fields] = [entry["fieldsV1"] for entry in entries if entry["manager"] == "writer"]
        parts = fields["f:spec"]["f:parts"]
        assert list(parts) == [".", *sorted(f'k:{{"name":"{name}"}}' for name in (first, second))]
        assert parts[f'k:{{"name":"{first}"}}'] == {".": {}, "f:name": {}, "f:size": {}}
        assert parts[f'k:{{"name":"{second}"}}'] == {".": {}, "f:name": {}}
    # By name, the item with a size comes first in two of them and last in the other.
    assert len(worked_out) == 2
