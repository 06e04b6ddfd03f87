"""Laws that hold for any sequence of requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ConflictError, NotFoundError
from mooring.registry import Watch
from tests.registry.world import World, config

_NAMES = ("a", "b", "c", "d")
_SPACES = ("default", "kube-system")
_SELECTORS = (None, "app=x", "app!=x", "app", "!app")

name = st.sampled_from(_NAMES)
space = st.sampled_from(_SPACES)
app = st.sampled_from((None, "x", "y"))
request = st.one_of(
    st.tuples(st.just("create"), space, name, app, st.booleans()),
    st.tuples(st.just("label"), space, name, app, st.just(False)),
    st.tuples(st.just("data"), space, name, st.sampled_from(("1", "2")), st.just(False)),
    st.tuples(st.just("delete"), space, name, st.none(), st.just(False)),
    st.tuples(st.just("release"), space, name, st.none(), st.just(False)),
)
requests = st.lists(request, max_size=25)
quick = settings(max_examples=60, deadline=None)


def send(world: World, what: tuple[Any, ...], **options: Any) -> None:
    """Carry out one request; refusals are answers too."""
    verb, namespace, key, value, held = what
    try:
        if verb == "create":
            metadata: Object = {"namespace": namespace}
            if value:
                metadata["labels"] = {"app": value}
            if held:
                metadata["finalizers"] = ["example.com/hold"]
            world.make("configmap", config(key, **metadata), **options)
        elif verb == "label":
            world.merge("configmap", key, {"metadata": {"labels": {"app": value}}}, namespace=namespace, **options)
        elif verb == "data":
            world.merge("configmap", key, {"data": {"v": value}}, namespace=namespace, **options)
        elif verb == "release":
            world.merge("configmap", key, {"metadata": {"finalizers": None}}, namespace=namespace, **options)
        else:
            world.delete("configmap", key, namespace=namespace, **options)
    except (NotFoundError, AlreadyExistsError):
        pass


def replayed(items: list[Object], watch: Watch) -> dict[tuple[str, str], Object]:
    found = {(obj["metadata"]["namespace"], obj["metadata"]["name"]): obj for obj in items}
    for event in watch.poll():
        key = event.object["metadata"]["namespace"], event.object["metadata"]["name"]
        if event.type == "DELETED":
            del found[key]
        else:
            assert (key in found) == (event.type == "MODIFIED")
            found[key] = event.object
    return found


@quick
@given(requests, requests, st.sampled_from(_SELECTORS), st.sampled_from((None, *_SPACES)))
def test_a_list_and_the_events_after_it_give_the_list_of_now(
    before: list[Any], after: list[Any], selector: str | None, namespace: str | None
) -> None:
    world = World()
    for each in before:
        send(world, each)
    listed = world.list("configmap", namespace=namespace, label_selector=selector)
    watch = world.registry.watch(
        world.kind("configmap"), namespace, resource_version=listed.resource_version, label_selector=selector
    )
    for each in after:
        send(world, each)
    now = world.list("configmap", namespace=namespace, label_selector=selector).items
    assert replayed(listed.items, watch) == {
        (obj["metadata"]["namespace"], obj["metadata"]["name"]): obj for obj in now
    }
    world.storage.verify()


@quick
@given(requests)
def test_versions_strictly_grow_and_only_with_changes(sent: list[Any]) -> None:
    world = World()
    watch = world.registry.watch(world.kind("configmap"), resource_version=str(world.registry.revision))
    seen = world.registry.revision
    for each in sent:
        before = world.registry.revision
        send(world, each)
        events = watch.poll()
        assert world.registry.revision == before + len(events)
        for event in events:
            version = int(event.object["metadata"]["resourceVersion"])
            assert version > seen
            seen = version


@quick
@given(requests, requests, st.integers(1, 4), st.sampled_from(_SELECTORS))
def test_pages_together_are_the_list_whatever_happens_between_them(
    before: list[Any], between: list[Any], limit: int, selector: str | None
) -> None:
    world = World()
    for each in before:
        send(world, each)
    whole = world.list("configmap", label_selector=selector)
    page = world.list("configmap", label_selector=selector, limit=limit)
    pages = list(page.items)
    while page.continue_:
        if between:
            send(world, between.pop())
        page = world.list("configmap", label_selector=selector, limit=limit, continue_=page.continue_)
        assert len(page.items) <= limit
        pages += page.items
    assert pages == whole.items


@quick
@given(requests, requests)
def test_a_dry_run_changes_nothing(before: list[Any], tried: list[Any]) -> None:
    world = World()
    for each in before:
        send(world, each)
    items, revision = world.list("configmap").items, world.registry.revision
    for each in tried:
        send(world, each, dry_run=True)
    assert world.list("configmap").items == items
    assert world.registry.revision == revision
    world.storage.verify()


@quick
@given(requests)
def test_a_stale_update_never_wins(sent: list[Any]) -> None:
    world = World()
    read = world.make("configmap", config("a", namespace="default"))
    for each in sent:
        send(world, each)
    current = world.registry.find("v1", "ConfigMap", "default", "a")
    if current is read:
        world.put("configmap", {**read, "data": {"mine": "1"}})
        return
    with pytest.raises(NotFoundError if current is None else ConflictError):
        world.put("configmap", {**read, "data": {"mine": "1"}})
    assert world.registry.find("v1", "ConfigMap", "default", "a") is current


@quick
@given(requests)
def test_what_is_held_stays_and_what_is_going_never_comes_back(sent: list[Any]) -> None:
    world = World()
    for each in sent:
        world.wait(1)
        was = {obj["metadata"]["uid"]: obj for obj in world.list("configmap").items}
        send(world, each)
        now = {obj["metadata"]["uid"]: obj for obj in world.list("configmap").items}
        for uid, obj in was.items():
            held = bool(obj["metadata"].get("finalizers"))
            if held and each[0] != "release":
                assert uid in now
            if uid in now and "deletionTimestamp" in obj["metadata"]:
                assert now[uid]["metadata"]["deletionTimestamp"] == obj["metadata"]["deletionTimestamp"]
        for obj in now.values():
            if "deletionTimestamp" in obj["metadata"]:
                assert obj["metadata"].get("finalizers")


@quick
@given(requests)
def test_a_selector_and_its_opposite_part_the_list(sent: list[Any]) -> None:
    world = World()
    for each in sent:
        send(world, each)
    names = sorted(obj["metadata"]["uid"] for obj in world.list("configmap").items)
    for first, second in (("app=x", "app!=x"), ("app", "!app"), ("app in (x,y)", "app notin (x,y)")):
        parts = [world.list("configmap", label_selector=each).items for each in (first, second)]
        assert sorted(obj["metadata"]["uid"] for part in parts for obj in part) == names


@quick
@given(requests, requests)
def test_an_exact_list_of_the_past_is_the_list_that_was(before: list[Any], after: list[Any]) -> None:
    world = World()
    for each in before:
        send(world, each)
    was = world.list("configmap")
    for each in after:
        send(world, each)
    again = world.list("configmap", resource_version=was.resource_version, resource_version_match="Exact")
    assert again.items == was.items
