"""Random values are minted by the driver into marked places of Secrets, and shown to nobody."""

from __future__ import annotations

import asyncio
import base64
import logging
from datetime import datetime
from typing import Any

import pytest

from mooring.api.kinds import Key, Kind
from mooring.client.transport import UnknownOutcome
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Event
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.minted import Encoding, Minted
from mooring.runtime.reads import metadata
from mooring.runtime.view import View
from mooring.testing.crashes import survives_every_crash
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from tests.client.stories import awaited, now, until
from tests.runtime.living import Hooked, at_work, put
from tests.runtime.reaching import creation, reaching
from tests.runtime.reaching import namespace as namespace
from tests.runtime.sample import CONFIG_MAP, ConfigMap

SECRET: Kind[Any] = Kind("v1", "Secret", ConfigMap)
BARE = metadata(SECRET)


def reconcile(key: Key, view: View, moment: datetime) -> Decision:
    """Make a Secret with a token for every ConfigMap that asks for one."""
    source = view.get(CONFIG_MAP, *key)
    if source is None or "token" not in source.data or view.get(BARE, key.namespace, key.name) is not None:
        return Decision()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": key.name, "uid": source.metadata.uid, "controller": True}
    meta = {"namespace": key.namespace, "name": key.name, "ownerReferences": [owner]}
    made = {"metadata": meta, "stringData": {"token": Minted(16)}, "data": {"other": Minted(8, "base64url")}}
    told = Event(CONFIG_MAP, key, "Normal", "Minted", f"made Secret {key.name} with {made['stringData']}")
    return Decision(children=(Create(SECRET, made),), events=(told,))


MINTING = Controller("minting", reconcile, of=CONFIG_MAP, reads=(BARE,), writes={SECRET: ("create",)})


def asking(namespace: str = "default") -> Object:
    meta = {"namespace": namespace, "name": "a"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"token": "please"}}


def token_of(secret: Object) -> str:
    return base64.b64decode(secret["data"]["token"]).decode()


def minted_in(seed: int, faults: Faults | None = None) -> str:
    simulation = Simulation([MINTING], seed=seed, faults=faults)
    registry = simulation.registry
    registry.create(registry.resource("v1", "ConfigMap"), asking(), now=simulation.now)
    simulation.run()
    return token_of(registry.get(registry.resource("v1", "Secret"), "default", "a"))


def test_a_simulation_mints_from_its_seed() -> None:
    assert len(bytes.fromhex(minted_in(1))) == 16
    assert minted_in(1) == minted_in(1)
    assert minted_in(1) != minted_in(2)
    assert minted_in(3, Faults.everything(0.2)) == minted_in(3)


def test_crashes_leave_the_same_secret() -> None:
    def populate(simulation: Simulation) -> None:
        registry = simulation.registry
        registry.create(registry.resource("v1", "ConfigMap"), asking(), now=simulation.now)

    assert survives_every_crash([MINTING], populate, of=[MINTING]) == 2


def test_both_servers_store_what_was_minted_and_it_comes_back_to_nobody(
    api_server: Home, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            await user.write(creation(asking(namespace)))
            live = Live([MINTING], transport)
            with caplog.at_level(logging.DEBUG):
                async with at_work(live):
                    await until(lambda: live.metrics.writes.value("minting", "create") == 1)
            found = await user.get("v1", "Secret", namespace, "a")
            token, other = token_of(found), base64.b64decode(found["data"]["other"]).decode()
            assert len(bytes.fromhex(token)) == 16
            assert len(base64.urlsafe_b64decode(other + "=")) == 8
            for shown in (token, other, found["data"]["token"], found["data"]["other"]):
                assert shown not in caplog.text
                assert not transport.has_received(shown)

    asyncio.run(asyncio.wait_for(story(), 60))


@awaited
async def test_a_lost_answer_makes_no_second_value() -> None:
    lost: list[str] = []

    async def lose(request: Any) -> None:
        if request.kind == "Secret":
            lost.append(request.name)
            raise UnknownOutcome("gone")

    registry = Registry(now=now())
    put(registry, asking())
    live = Live([MINTING], Hooked(registry, after=lose))
    async with at_work(live):
        await until(lambda: lost and registry.find("v1", "Secret", "default", "a") is not None)
        first = registry.get(registry.resource("v1", "Secret"), "default", "a")
        await asyncio.sleep(0.1)
    assert registry.get(registry.resource("v1", "Secret"), "default", "a") == first
    assert lost == ["a"]


@pytest.mark.parametrize(("encoding", "text"), [("hex", "00ff10"), ("base64", "AP8Q"), ("base64url", "AP8Q")])
def test_values_are_written_in_the_encoding_that_was_asked_for(encoding: Encoding, text: str) -> None:
    assert Minted(3, encoding).text(b"\x00\xff\x10") == text
