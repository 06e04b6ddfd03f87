"""One suite for both transports: what holds in process holds over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.kube.status import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    ExpiredError,
    InvalidError,
    NotFoundError,
)
from tests.client.stories import awaited, config_map, creation, everything, home, next_changes, plain

both = pytest.mark.parametrize("place", ["in process", "http"])


def change(verb: str, name: str, body: Object, **more: object) -> Request:
    return Request(verb, "v1", "ConfigMap", "default", name, body, manager="tester", **more)  # type: ignore[arg-type]


@both
@awaited
async def test_what_is_created_can_be_read(place: str) -> None:
    async with home(place) as (transport, _):
        made = await transport.write(creation(config_map("a", colour="red")))
        assert made["metadata"]["resourceVersion"]
        found = await transport.get("v1", "ConfigMap", "default", "a")
        assert found["data"] == {"colour": "red"}
        assert found["metadata"]["uid"] == made["metadata"]["uid"]


@both
@awaited
async def test_creating_twice_is_refused(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation(config_map("a")))
        with pytest.raises(AlreadyExistsError, match='configmaps "a" already exists'):
            await transport.write(creation(config_map("a")))


@both
@awaited
async def test_what_is_absent_is_not_found(place: str) -> None:
    async with home(place) as (transport, _):
        with pytest.raises(NotFoundError, match='configmaps "a" not found'):
            await transport.get("v1", "ConfigMap", "default", "a")


@both
@awaited
async def test_an_unknown_kind_is_not_found(place: str) -> None:
    async with home(place) as (transport, _):
        with pytest.raises(NotFoundError):
            await transport.get("example.com/v1", "Ship", "default", "a")


@both
@awaited
async def test_an_invalid_object_names_its_field(place: str) -> None:
    async with home(place) as (transport, _):
        with pytest.raises(InvalidError, match=r"metadata\.name") as refused:
            await transport.write(creation(config_map("Not_A_Name")))
        assert refused.value.path == "metadata.name"
        assert refused.value.status()["details"]["causes"][0]["field"] == "metadata.name"


@both
@awaited
async def test_apply_makes_an_object_and_takes_away_what_it_no_longer_names(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(change("apply", "a", config_map("a", colour="red", size="3")))
        await transport.write(change("apply", "a", config_map("a", colour="blue")))
        found = await transport.get("v1", "ConfigMap", "default", "a")
        assert found["data"] == {"colour": "blue"}
        assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"tester"}


@both
@awaited
async def test_apply_on_the_uid_of_another_object_is_refused(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation(config_map("a")))
        with pytest.raises(InvalidError, match=r"metadata\.uid"):
            await transport.write(change("apply", "a", config_map("a"), uid="11111111-1111-4111-8111-111111111111"))


@both
@awaited
async def test_a_patch_on_the_uid_of_another_object_is_refused(place: str) -> None:
    async with home(place) as (transport, _):
        made = await transport.write(creation(config_map("a")))
        body = {"data": {"colour": "blue"}}
        with pytest.raises(InvalidError, match=r"metadata\.uid"):
            await transport.write(change("patch", "a", body, uid="11111111-1111-4111-8111-111111111111"))
        changed = await transport.write(change("patch", "a", body, uid=made["metadata"]["uid"]))
        assert changed["data"]["colour"] == "blue"


@both
@awaited
async def test_a_patch_on_an_old_version_conflicts(place: str) -> None:
    async with home(place) as (transport, _):
        made = await transport.write(creation(config_map("a")))
        version = made["metadata"]["resourceVersion"]
        patched = await transport.write(change("patch", "a", {"data": {"n": "1"}}, resource_version=version))
        assert patched["data"] == {"n": "1"}
        with pytest.raises(ConflictError, match="the object has been modified"):
            await transport.write(change("patch", "a", {"data": {"n": "2"}}, resource_version=version))


@both
@awaited
async def test_status_is_written_apart_from_the_rest(place: str) -> None:
    async with home(place) as (transport, _):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        await transport.write(creation(node))
        body = {"status": {"capacity": {"cpu": "4"}}, "spec": {"unschedulable": True}}
        await transport.write(Request("patch", "v1", "Node", "", "n", body, "status", "tester"))
        found = await transport.get("v1", "Node", "", "n")
        assert found["status"]["capacity"] == {"cpu": "4"}
        assert "unschedulable" not in found["spec"]


@both
@awaited
async def test_delete_holds_to_its_preconditions(place: str) -> None:
    async with home(place) as (transport, _):
        made = await transport.write(creation(config_map("a")))
        uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
        with pytest.raises(ConflictError):
            await transport.write(change("delete", "a", {}, uid="11111111-1111-4111-8111-111111111111"))
        with pytest.raises(ConflictError):
            await transport.write(change("delete", "a", {}, uid=uid, resource_version=str(int(version) + 1)))
        gone = await transport.write(change("delete", "a", {}, uid=uid, resource_version=version))
        assert gone["metadata"]["uid"] == uid
        assert not gone["metadata"].get("deletionTimestamp")
        with pytest.raises(NotFoundError):
            await transport.write(change("delete", "a", {}))


@both
@awaited
async def test_a_delete_that_a_finalizer_holds_back_shows_its_moment(place: str) -> None:
    async with home(place) as (transport, _):
        held = config_map("a")
        held["metadata"]["finalizers"] = ["example.com/wait"]
        await transport.write(creation(held))
        gone = await transport.write(change("delete", "a", {}, propagation="Background", grace=0))
        assert gone["metadata"]["deletionTimestamp"]
        assert gone["metadata"]["resourceVersion"]


@both
@awaited
async def test_a_namespace_goes_when_nothing_holds_it_any_more(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}))
        held = await transport.write(Request("delete", "v1", "Namespace", "", "n", {}))
        assert held["spec"]["finalizers"] == ["kubernetes"]
        body: Object = {"spec": {"finalizers": []}}
        with pytest.raises(ConflictError):
            await transport.write(
                Request("patch", "v1", "Namespace", "", "n", body, "finalize", "tester", resource_version="1")
            )
        await transport.write(Request("patch", "v1", "Namespace", "", "n", body, "finalize", "tester"))
        with pytest.raises(NotFoundError):
            await transport.get("v1", "Namespace", "", "n")


@both
@awaited
async def test_binding_a_pod_tells_the_version_to_wait_for(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}))
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "x"}]},
        }
        made = await transport.write(creation(pod))
        target = {"target": {"apiVersion": "v1", "kind": "Node", "name": "n"}}
        bind = Request("bind", "v1", "Pod", "default", "p", target, manager="tester", uid=made["metadata"]["uid"])
        bound = await transport.write(bind)
        found = await transport.get("v1", "Pod", "default", "p")
        assert found["spec"]["nodeName"] == "n"
        assert bound["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]
        with pytest.raises(ConflictError):
            await transport.write(bind)


@both
@awaited
async def test_a_list_is_whole_whatever_its_pages(place: str) -> None:
    async with home(place) as (transport, _):
        for number in range(10):
            await transport.write(creation(config_map(f"c{number}")))
        items, version = await everything(transport, "v1", "ConfigMap")
        named = [item["metadata"]["name"] for item in items if item["metadata"]["namespace"] == "default"]
        assert sorted(name for name in named if name.startswith("c")) == [f"c{number}" for number in range(10)]
        assert int(version) >= max(int(item["metadata"]["resourceVersion"]) for item in items)


@both
@awaited
async def test_a_watch_goes_on_from_a_list(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation(config_map("old")))
        _, version = await everything(transport, "v1", "ConfigMap")
        async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
            assert (await anext(watch)).changes == ()
            await transport.write(creation(config_map("new")))
            await transport.write(change("patch", "new", {"data": {"n": "1"}}))
            await transport.write(change("delete", "new", {}))
            changes = await next_changes(watch, 3)
            assert [change.type for change in changes] == ["ADDED", "MODIFIED", "DELETED"]
            assert {plain(change.object)["metadata"]["name"] for change in changes} == {"new"}


@both
@awaited
async def test_a_batch_says_where_to_go_on(place: str) -> None:
    async with home(place) as (transport, _):
        _, version = await everything(transport, "v1", "ConfigMap")
        async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
            await anext(watch)
            made = await transport.write(creation(config_map("a")))
            batch = await anext(watch)
            assert batch.resource_version == made["metadata"]["resourceVersion"]
        async with aclosing(transport.watch("v1", "ConfigMap", batch.resource_version)) as watch:
            await anext(watch)
            await transport.write(creation(config_map("b")))
            (found,) = await next_changes(watch, 1)
            assert plain(found.object)["metadata"]["name"] == "b"


@both
@awaited
async def test_a_version_that_is_no_longer_kept_has_expired(place: str) -> None:
    async with home(place) as (transport, registry):
        _, version = await everything(transport, "v1", "ConfigMap")
        for number in range(5):
            await transport.write(creation(config_map(f"c{number}")))
        registry.compact(registry.revision)
        with pytest.raises(ExpiredError):
            async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
                await next_changes(watch, 1)


@both
@awaited
async def test_kinds_of_a_definition_are_found_when_it_comes(place: str) -> None:
    async with home(place) as (transport, _):
        with pytest.raises(NotFoundError):
            await everything(transport, "example.com/v1", "Ship")
        await transport.write(creation(ships()))
        ship = {"apiVersion": "example.com/v1", "kind": "Ship", "metadata": {"name": "s", "namespace": "default"}}
        await transport.write(creation(ship))
        items, _ = await everything(transport, "example.com/v1", "Ship")
        assert [item["metadata"]["name"] for item in items] == ["s"]


@both
@awaited
async def test_many_writes_at_once_all_arrive(place: str) -> None:
    async with home(place) as (transport, _):
        made = await asyncio.gather(*(transport.write(creation(config_map(f"c{n}"))) for n in range(200)))
        assert len({obj["metadata"]["resourceVersion"] for obj in made}) == 200


@both
@awaited
async def test_a_bad_patch_is_refused_in_the_words_of_the_api(place: str) -> None:
    async with home(place) as (transport, _):
        await transport.write(creation(config_map("a")))
        with pytest.raises((BadRequestError, InvalidError)):
            await transport.write(change("patch", "a", {"data": {"n": {"deep": "1"}}}))


def ships() -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "ships", "singular": "ship", "kind": "Ship", "listKind": "ShipList"},
        "versions": [version],
    }
    meta = {"name": "ships.example.com"}
    api_version = "apiextensions.k8s.io/v1"
    return {"apiVersion": api_version, "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}
