"""Pages together are the list of the first page's revision, whatever happens in between, and cost what is on them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.kube.objects import Object
from mooring.registry import MemoryStorage, Registry, Resource
from tests.registry.world import START, World, config, refused

NAMES = st.sampled_from(["a", "a-b", "a.b", "b", "ba", "c", "z"])
SPACES = st.sampled_from(["a", "a-b", "ab", "b"])
WRITES = st.lists(st.tuples(st.sampled_from(["put", "drop"]), SPACES, NAMES, st.sampled_from(["x", "y"])), max_size=12)


class Shelf:
    """A registry of ConfigMaps in a few namespaces."""

    def __init__(self) -> None:
        self.registry = Registry(now=START, seed=1)
        namespaces = self.registry.resource("v1", "Namespace")
        for name in ("a", "a-b", "ab", "b"):
            self.registry.create(namespaces, {"metadata": {"name": name}}, now=START)
        self.kind: Resource = self.registry.resource("v1", "ConfigMap")

    def write(self, verb: str, namespace: str, name: str, side: str) -> None:
        there = self.registry.find("v1", "ConfigMap", namespace, name) is not None
        obj: Object = {"metadata": {"name": name, "namespace": namespace, "labels": {"side": side}}}
        if verb == "drop":
            if there:
                self.registry.delete(self.kind, namespace, name, now=START)
        elif there:
            self.registry.update(self.kind, obj, now=START)
        else:
            self.registry.create(self.kind, obj, now=START)


def keys(items: list[Object]) -> list[tuple[str, str, str]]:
    return [
        (item["metadata"]["namespace"], item["metadata"]["name"], item["metadata"]["resourceVersion"]) for item in items
    ]


@settings(max_examples=150, deadline=None)
@given(
    before=WRITES,
    between=st.lists(WRITES, max_size=5),
    limit=st.integers(1, 4),
    namespace=st.none() | SPACES,
    selector=st.sampled_from(["", "side=x"]),
)
def test_pages_are_the_list_of_their_first_revision(
    before: list[tuple[str, str, str, str]],
    between: list[list[tuple[str, str, str, str]]],
    limit: int,
    namespace: str | None,
    selector: str,
) -> None:
    shelf = Shelf()
    for write in before:
        shelf.write(*write)
    whole = keys(shelf.registry.list(shelf.kind, namespace, label_selector=selector).items)
    found: list[tuple[str, str, str]] = []
    token, churn = "", list(between)
    while True:
        page = shelf.registry.list(shelf.kind, namespace, label_selector=selector, limit=limit, continue_=token)
        found += keys(page.items)
        assert len(page.items) <= limit
        if not selector:
            assert (page.remaining or 0) == len(whole) - len(found)
        token = page.continue_
        if not token:
            break
        for write in churn.pop() if churn else ():
            shelf.write(*write)
    assert found == whole


@given(writes=st.lists(st.tuples(SPACES, st.integers(0, 200), st.booleans()), max_size=300), start=SPACES)
def test_an_order_is_kept_while_names_come_and_go(writes: list[tuple[str, int, bool]], start: str) -> None:
    storage, revision = MemoryStorage(), 1
    for space, number, drop in writes:
        name = f"n{number}"
        revision += 1
        if not drop:
            obj = {"metadata": {"namespace": space, "name": name}}
            storage.put("s", space, name, obj, revision)
        elif storage.get("s", space, name) is not None:
            storage.remove("s", space, name, revision)
        if number % 7 == 0:
            storage.items("s")
    found = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in storage.items("s")]
    assert found == sorted(found)
    rest = [
        f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        for each in storage.after("s", None, f"{start}/n3")
    ]
    assert rest == [key for key in found if key > f"{start}/n3"]
    assert storage.count_after("s", None, f"{start}/n3") == len(rest)
    assert storage.count_after("s", None, "") == len(found)


def test_a_page_costs_what_is_on_it() -> None:
    registry = Registry(now=datetime(2026, 1, 1, tzinfo=UTC), managed_fields=False)
    kind = registry.resource("v1", "ConfigMap")
    for number in range(10_000):
        registry.adopt(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"c{number:05d}", "namespace": "default", "uid": str(number)},
            }
        )
    whole = registry.list(kind, limit=10_000)
    page = registry.list(kind, limit=10)
    started = time.process_time()
    for _ in range(20):
        page = registry.list(kind, limit=10, continue_=page.continue_)
    pages = time.process_time() - started
    started = time.process_time()
    for _ in range(20):
        assert len(registry.list(kind).items) == len(whole.items)
    assert pages < (time.process_time() - started) / 4


def test_one_object_by_its_name_is_a_page_in_every_namespace(world: World) -> None:
    world.make("namespace", {"metadata": {"name": "team"}})
    for namespace in ("default", "team"):
        world.make("configmap", config(namespace=namespace))
    chosen: Object = {"field_selector": "metadata.name=c", "limit": 1}
    page = world.registry.list(world.kind("configmap"), **chosen)
    assert [item["metadata"]["namespace"] for item in page.items] == ["default"]
    rest = world.registry.list(world.kind("configmap"), **chosen, continue_=page.continue_)
    assert [item["metadata"]["namespace"] for item in rest.items] == ["team"]
    assert rest.continue_ == ""


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("abc", "invalid character 'i' looking for beginning of value"),
        ("e30", "server does not recognize this encoded version "),
        ("MQ", ""),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(world: World, token: str, why: str) -> None:
    with refused(400, f"invalid continue token: continue key is not valid: {why}"):
        world.registry.list(world.kind("configmap"), continue_=token)
