"""The memory of all histories is bounded in bytes, and who was promised more is told to list again."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.registry.history_budget import memory_bytes
from tests.registry.world import World, refused

BUDGET = 200_000
LARGE = "x" * 20_000


def config(name: str, text: str) -> Object:
    return {"metadata": {"name": name}, "data": {"a": text}}


def rewritten(world: World, word: str, name: str, times: int, text: str = LARGE) -> None:
    for number in range(times):
        world.merge(word, name, {"data": {"a": f"{text}{number}"}})


def follow(world: World, word: str, version: str) -> int:
    """How many changes a watch from a version on hears of."""
    return len(world.registry.watch(world.kind(word), resource_version=version).poll())


def test_the_versions_of_a_large_object_are_kept_while_they_fit() -> None:
    world = World(history_bytes=BUDGET)
    version = world.make("configmap", config("big", LARGE))["metadata"]["resourceVersion"]
    rewritten(world, "configmap", "big", 8)
    assert follow(world, "configmap", version) == 8
    rewritten(world, "configmap", "big", 8)
    with refused(410, f"too old resource version: {version}"):
        follow(world, "configmap", version)
    recent = str(world.registry.revision - 5)
    assert follow(world, "configmap", recent) == 5


def test_a_list_of_a_revision_that_was_given_up_is_gone() -> None:
    world = World(history_bytes=BUDGET)
    version = world.make("configmap", config("big", LARGE))["metadata"]["resourceVersion"]
    rewritten(world, "configmap", "big", 20)
    with refused(410, "too old resource version"):
        world.list("configmap", resource_version=version, resource_version_match="Exact")


def test_removed_objects_count_although_no_version_of_them_was_replaced() -> None:
    world = World(history_bytes=BUDGET)
    for number in range(20):
        world.make("configmap", config(f"c{number}", LARGE))
    version = str(world.registry.revision)
    for number in range(20):
        world.delete("configmap", f"c{number}")
    with refused(410, "too old resource version"):
        follow(world, "configmap", version)


def test_new_objects_cost_nothing_because_the_store_holds_them_anyway() -> None:
    world = World(history_bytes=100)
    version = world.make("configmap", config("first", LARGE))["metadata"]["resourceVersion"]
    for number in range(120):
        world.make("configmap", config(f"c{number}", "x"))
    assert follow(world, "configmap", version) == 120


def test_a_flood_of_one_kind_costs_the_watchers_of_no_other() -> None:
    world = World(history_bytes=BUDGET)
    version = world.make("secret", {"metadata": {"name": "s"}})["metadata"]["resourceVersion"]
    for number in range(30):
        world.merge("secret", "s", {"metadata": {"labels": {"n": str(number)}}})
    world.make("configmap", config("big", LARGE))
    rewritten(world, "configmap", "big", 50)
    assert follow(world, "secret", version) == 30


def test_the_last_change_stays_however_large_it_was() -> None:
    world = World(history_bytes=1_000)
    world.make("configmap", config("big", LARGE))
    rewritten(world, "configmap", "big", 5)
    assert follow(world, "configmap", str(world.registry.revision - 1)) == 1


def test_without_a_budget_only_the_number_counts() -> None:
    world = World()
    version = world.make("configmap", config("big", LARGE))["metadata"]["resourceVersion"]
    rewritten(world, "configmap", "big", 50)
    assert follow(world, "configmap", version) == 50


@pytest.mark.parametrize(
    ("value", "least"),
    [
        pytest.param("x" * 1_000, 1_000, id="text counts as it is"),
        pytest.param([{}] * 1_000, 64_000, id="empty objects count for more than their three bytes"),
        pytest.param([0] * 1_000, 8_000, id="numbers count for a pointer at least"),
    ],
)
def test_memory_is_estimated_from_the_shape(value: object, least: int) -> None:
    assert least <= memory_bytes({"value": value}) < 2 * least + 30_000
