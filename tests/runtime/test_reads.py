"""A controller receives as much of a kind as it declares: all, by selector, by name, or metadata alone."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from datetime import datetime

import msgspec
import pytest

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind
from mooring.api.meta import Meta
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.metadata_kinds import IN_NAMESPACES
from mooring.builtin.namespaces import namespace_controller
from mooring.client.transport import Request, Scope
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.reads import everywhere, metadata, metadata_of, named, selected
from mooring.runtime.view import View
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from tests.client.stories import plain, until
from tests.runtime.living import at_work
from tests.runtime.reaching import creation, reaching
from tests.runtime.reaching import namespace as namespace
from tests.runtime.sample import CONFIG_MAP

PASSWORD = "do not send this around"


class Secret(Typed, frozen=True):
    metadata: Meta = Meta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


SECRET = Kind("v1", "Secret", Secret)
SECRETS_BY_NAME = named(SECRET)
MINE = selected(CONFIG_MAP, "app=mine")


def config_map(namespace: str, name: str, labels: Mapping[str, str] | None = None, **data: str) -> Object:
    meta = {"namespace": namespace, "name": name, "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def secret(namespace: str, name: str, owner: Object | None = None, text: str = PASSWORD) -> Object:
    meta: Object = {"namespace": namespace, "name": name}
    if owner is not None:
        found = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}
        meta["ownerReferences"] = [{**found, "uid": owner["metadata"]["uid"]}]
    data = {"password": base64.b64encode(text.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}


def copy_named_secret(key: Key, view: View, now: datetime) -> Decision:
    """Copy the length of the secret that a ConfigMap names."""
    source = view.get(MINE, *key)
    if source is None or "secret" not in source.data:
        return Decision()
    found = view.get(SECRETS_BY_NAME, key.namespace, source.data["secret"])
    length = "none" if found is None else str(len(base64.b64decode(found.data["password"])))
    if source.data.get("length") == length:
        return Decision()
    return Decision(status=(Patch(MINE, key, {"data": {"length": length}}),))


MEASURING = Controller(
    "measuring", copy_named_secret, of=MINE, reads=(SECRETS_BY_NAME,), writes={MINE: ("create", "patch")}
)


def test_a_named_object_is_read_from_the_moment_it_is_asked_for_and_no_other_is() -> None:
    simulation = Simulation([MEASURING])
    write = simulation.transport.write
    write(creation(secret("default", "other")))
    write(creation(config_map("default", "a", {"app": "mine"}, secret="wanted")))
    write(creation(config_map("default", "b", {"app": "another"}, secret="other")))
    simulation.run()
    get = simulation.transport.get
    assert get("v1", "ConfigMap", "default", "a")["data"]["length"] == "none"
    write(creation(secret("default", "wanted", text="four")))
    simulation.run()
    assert get("v1", "ConfigMap", "default", "a")["data"]["length"] == "4"
    assert "length" not in get("v1", "ConfigMap", "default", "b")["data"]
    assert [kind.only for kind in simulation.dispatcher.wanted if kind.only] == [Key("default", "wanted")]
    write(Request("delete", "v1", "ConfigMap", "default", "a", {}))
    simulation.run()
    assert not [kind for kind in simulation.dispatcher.stores if kind.only]


def test_the_same_over_http(api_server: Home, namespace: str) -> None:
    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            await user.write(creation(secret(namespace, "other", text="a different one")))
            await user.write(creation(config_map(namespace, "a", {"app": "mine"}, secret="wanted")))
            await user.write(creation(config_map(namespace, "b", {"app": "another"}, secret="other", mark="not mine")))
            live = Live([MEASURING], transport)
            async with at_work(live):

                async def has_length(length: str) -> bool:
                    found = await user.get("v1", "ConfigMap", namespace, "a")
                    return bool(found["data"].get("length") == length)

                while not await has_length("none"):
                    await asyncio.sleep(0.05)
                await user.write(creation(secret(namespace, "wanted", text="four")))
                while not await has_length("4"):
                    await asyncio.sleep(0.05)
                assert live.missing == []
                await user.write(Request("delete", "v1", "ConfigMap", namespace, "a", {}))
                await until(lambda: not [kind for kind in live._following if kind.only])
            assert not transport.has_received("not mine")
            assert not transport.has_received(base64.b64encode(b"a different one").decode())

    asyncio.run(asyncio.wait_for(story(), 60))


def test_metadata_only_receives_no_values(api_server: Home, namespace: str) -> None:
    seen: list[str] = []
    bare = metadata(SECRET)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        found = view.get(bare, *key)
        if found is None or key.namespace != namespace:
            return Decision()
        seen.append(key.name)
        if "mooring.dev/seen" in found.metadata.labels:
            return Decision()
        return Decision(intent=(Patch(bare, key, {"metadata": {"labels": {"mooring.dev/seen": "yes"}}}),))

    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            await user.write(creation(secret(namespace, "listed")))
            async with at_work(
                Live([Controller("seeing", reconcile, of=bare, writes={bare: ("patch", "delete")})], transport)
            ):
                await until(lambda: seen.count("listed") == 2)
                await user.write(creation(secret(namespace, "watched")))
                await until(lambda: seen.count("watched") == 2)
            assert transport.has_received('"watched"')
            assert not transport.has_received(base64.b64encode(PASSWORD.encode()).decode())

    asyncio.run(asyncio.wait_for(story(), 60))


def test_collecting_garbage_and_emptying_a_namespace_receive_no_secrets(api_server: Home, namespace: str) -> None:
    bare = metadata_of("v1", "Secret")
    config_maps = next(kind for kind in IN_NAMESPACES if kind.kind == "ConfigMap")
    controllers = [garbage_collector((config_maps, bare)), namespace_controller((config_maps, bare))]

    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            owner = await user.write(creation(config_map(namespace, "owner")))
            await user.write(creation(secret(namespace, "owned", owner)))
            await user.write(creation(secret(namespace, "kept")))

            async def names() -> set[str]:
                pages = [page async for page in user.list("v1", "Secret", Scope(namespace))]
                return {plain(item)["metadata"]["name"] for page in pages for item in page.items}

            live = Live(controllers, transport)
            async with at_work(live):
                await until(lambda: not live.missing)
                await user.write(Request("delete", "v1", "ConfigMap", namespace, "owner", {}))
                while await names() != {"kept"}:
                    await asyncio.sleep(0.05)
                await user.write(Request("delete", "v1", "Namespace", "", namespace, {}))
                while await names():
                    await asyncio.sleep(0.05)
            assert not transport.has_received(base64.b64encode(PASSWORD.encode()).decode())

    asyncio.run(asyncio.wait_for(story(), 60))


def test_whole_secrets_cannot_be_declared() -> None:
    with pytest.raises(MooringError, match="greedy reads whole Secrets; read them by name"):
        Controller("greedy", copy_named_secret, reads=(SECRET,))
    with pytest.raises(MooringError, match="greedy reads whole Secrets"):
        Controller("greedy", copy_named_secret, of=selected(SECRET, "app=x"))


def test_what_is_read_by_name_cannot_be_listed() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.list(SECRETS_BY_NAME)
        return Decision()

    simulation = Simulation([Controller("listing", reconcile, reads=(SECRETS_BY_NAME,))])
    with pytest.raises(MooringError, match="v1/Secret is read by name only"):
        simulation.run()


def test_the_objects_of_one_name_are_read_in_all_namespaces_with_one_watch() -> None:
    settings = everywhere(CONFIG_MAP, "settings")
    seen: list[set[str]] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        found = view.list(settings)
        seen.append({f"{each.metadata.namespace}/{each.metadata.name}" for each in found})
        made = config_map("default", "settings", {})
        return Decision() if found else Decision(children=(Create(settings, made),))

    controller = Controller("reading", reconcile, reads=(settings,), writes={settings: ("create",)})
    simulation = Simulation([controller])
    write = simulation.transport.write
    write(creation(config_map("default", "other", {})))
    simulation.run()
    write(creation(config_map("kube-system", "settings", {})))
    write(creation(config_map("kube-system", "other", {})))
    simulation.run()
    assert seen == [set(), {"default/settings"}, {"default/settings", "kube-system/settings"}]
    assert simulation.metrics.relists.value("v1/ConfigMap (settings)") == 1


@pytest.mark.parametrize("labels", [{"app": "mine"}, {}], ids=["selected", "not selected"])
def test_a_key_sees_its_own_writes_where_a_selector_shows_them_and_waits_for_nothing_else(
    labels: dict[str, str],
) -> None:
    runs: list[int] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        runs.append(len(view.list(MINE)))
        made = config_map("default", "child", labels)
        return Decision(children=(Create(MINE, made),)) if len(runs) == 1 else Decision()

    simulation = Simulation([Controller("making", reconcile, reads=(MINE,), writes={MINE: ("create", "patch")})])
    simulation.run()
    assert runs == ([0, 1] if labels else [0])
    assert simulation.metrics.relists.value("v1/ConfigMap (app=mine)") == 1
