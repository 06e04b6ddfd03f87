"""A deleted definition goes behind its objects, in the background: others read and write in between."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from mooring.apiserver import background_work
from mooring.kube.objects import Object
from mooring.kube.status import InsufficientStorageError
from mooring.net.fairqueue import FairQueue
from mooring.net.waiter import Waiter
from mooring.registry import Registry, Resource
from mooring.registry.core import Core
from mooring.registry.kinds import definition_cleanup
from mooring.registry.storage import MemoryStorage
from tests.apiserver.world import DEFINITIONS, WIDGETS, Api
from tests.registry.world import START, World, definition, refused

NAME = "widgets.example.com"


def stored(registry: Registry, count: int) -> None:
    kind = registry.resource("example.com/v1", "Widget")
    for number in range(count):
        registry.create(kind, {"metadata": {"name": f"w{number:03}", "namespace": "default"}}, now=START)


def eventually(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def defined(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setattr(definition_cleanup, "_SLICE_DELETIONS", 10)
    api.post(DEFINITIONS, definition())
    api.server.call(lambda: stored(api.registry, 45))
    return api


def test_the_answer_is_the_definition_and_it_goes_after_the_last_of_its_objects(
    defined: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, left = defined, []
    kind = api.registry.resource("example.com/v1", "Widget")
    turn = FairQueue.turn

    def counted(self: FairQueue, flow: bytes) -> Waiter:
        if flow == b"background work":
            left.append(api.registry.count(kind))
        return turn(self, flow)

    monkeypatch.setattr(FairQueue, "turn", counted)
    answer = api.delete(f"{DEFINITIONS}/{NAME}")
    assert (answer.code, answer.body["kind"]) == (200, "CustomResourceDefinition")
    assert answer.body["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    leaving = answer.body["status"]["conditions"][-1]
    assert (leaving["type"], leaving["reason"]) == ("Terminating", "InstanceDeletionPending")
    eventually(lambda: api.get(f"{DEFINITIONS}/{NAME}").code == 404)
    assert left == [45, 35, 25, 15, 5]
    assert api.get(WIDGETS).code == 404


def test_no_removal_looks_at_all_that_are_left(defined: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    # Twenty thousand would take twenty seconds.
    asked: list[str] = []
    items = type(defined.storage).items

    def counted(self: MemoryStorage, store: str, namespace: str | None = None) -> list[Object]:
        asked.append(store)
        return items(self, store, namespace)

    monkeypatch.setattr(type(defined.storage), "items", counted)
    assert defined.delete(f"{DEFINITIONS}/{NAME}").code == 200
    eventually(lambda: defined.get(f"{DEFINITIONS}/{NAME}").code == 404)
    assert asked.count(NAME) <= 2


def test_a_watch_of_the_kind_sees_every_object_go(defined: Api) -> None:
    revision = defined.get(WIDGETS).body["metadata"]["resourceVersion"]
    with defined.watch(WIDGETS, resourceVersion=revision) as events:
        defined.delete(f"{DEFINITIONS}/{NAME}")
        assert [event["type"] for event in events.rest()] == ["DELETED"] * 45


def test_it_is_tried_again_when_the_disk_had_no_room(defined: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_work, "_RETRY_SECONDS", 0.01)
    failed: list[Object] = []
    remove = Core.remove

    def full(self: Core, resource: Resource, old: Object) -> Object:
        if resource.custom and len(failed) < 2:
            failed.append(old)
            raise InsufficientStorageError("/data")
        return remove(self, resource, old)

    monkeypatch.setattr(Core, "remove", full)
    defined.delete(f"{DEFINITIONS}/{NAME}")
    eventually(lambda: defined.get(f"{DEFINITIONS}/{NAME}").code == 404)
    assert len(failed) == 2


def test_nothing_is_created_of_a_kind_that_is_going(world: World) -> None:
    world.make("crd", definition())
    kind = world.registry.resource("example.com/v1", "Widget")
    world.registry.create(
        kind, {"metadata": {"name": "held", "namespace": "default", "finalizers": ["a.b/c"]}}, now=START
    )
    world.delete("crd", NAME)
    told = 'widgets.example.com "new" is forbidden: create not allowed while custom resource definition is terminating'
    with refused(403, told):
        world.registry.create(kind, {"metadata": {"name": "new", "namespace": "default"}}, now=START)
    conditions = world.get("crd", NAME, "")["status"]["conditions"]
    assert conditions[-1]["reason"] == "InstanceDeletionInProgress"


def test_a_start_goes_on_with_what_was_left(world: World) -> None:
    world.make("crd", definition())
    stored(world.registry, 3)
    world.registry.register_background(lambda make: None)
    world.delete("crd", NAME)
    again = Registry(world.storage, now=START)
    assert again.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", NAME)
    again.resume(START)
    assert again.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", NAME) is None


def test_objects_go_also_where_no_version_is_served_any_more(world: World) -> None:
    world.make("crd", definition())
    stored(world.registry, 3)
    world.merge(
        "crd", NAME, {"spec": {"versions": [{**definition()["spec"]["versions"][0], "served": False}]}}, namespace=""
    )
    world.delete("crd", NAME)
    assert not world.exists("crd", NAME, "")


@pytest.fixture
def world() -> World:
    return World()
