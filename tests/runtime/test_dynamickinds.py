"""Kinds that are defined while controllers run are followed live, and no longer than they are defined."""

from __future__ import annotations

from mooring.api.kinds import Kind, key_of
from mooring.builtin.metadata_kinds import CUSTOM_KINDS
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.view import View
from tests.builtin.garbagecollector.test_custom_kinds import V1, boat, definition
from tests.client.stories import awaited, now, until
from tests.runtime.living import over_http, put
from tests.runtime.sample import ConfigMap


def _paint(key: object, view: View, moment: object) -> Decision:
    """Give every custom object a label, whatever its kind."""
    kinds = [kind for kind in view.defined(CUSTOM_KINDS) if view.readable(kind)]
    bare = [(kind, obj) for kind in kinds for obj in view.list(kind) if "colour" not in obj.metadata.labels]
    paint = {"metadata": {"labels": {"colour": "red"}}}
    return Decision(children=tuple(Patch(kind, key_of(obj), paint) for kind, obj in bare))


PAINTER = Controller("painter", _paint, defined=CUSTOM_KINDS, defined_writes=("patch",))


@awaited
async def test_a_kind_is_followed_from_its_definition_to_its_end() -> None:
    async with over_http(PAINTER) as (live, server):
        registry = server.registry
        await until(lambda: not live.missing)
        put(registry, definition())
        put(registry, boat("ada"))

        def colour() -> str | None:
            found = registry.find(V1, "Boat", "default", "ada")
            return None if found is None else found["metadata"].get("labels", {}).get("colour")

        await until(lambda: colour() == "red")
        assert len(live.dispatcher.wanted) == 2
        definitions = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        registry.delete(definitions, "", definition()["metadata"]["name"], now=now())
        await until(lambda: len(live.dispatcher.wanted) == 1)
        assert live.missing == []
        put(registry, definition())
        put(registry, boat("ada"))
        await until(lambda: colour() == "red")


@awaited
async def test_a_definition_of_a_kind_that_is_declared_is_that_kind() -> None:
    declared = Kind(V1, "Boat", ConfigMap, optional=True)
    keeper = Controller("keeper", lambda key, view, moment: Decision(), of=declared)
    async with over_http(PAINTER, keeper) as (live, server):
        put(server.registry, definition("Boat", "v1", "v2", stored="v2"))
        put(server.registry, boat("ada"))
        await until(lambda: len(live.dispatcher.stores[declared]) == 1)
        assert {str(kind) for kind in live.dispatcher.wanted} == {str(CUSTOM_KINDS.by), V1 + "/Boat"}
        assert list(live.dispatcher.wanted).count(declared) == 1
