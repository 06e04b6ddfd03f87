"""A stand-in acts only while no other process holds the Lease, and never without a claim that is good."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.reads import named, single
from mooring.runtime.view import View
from mooring.testing.simulations import checked_simulation
from mooring.testing.views import NOON, identified
from mooring.workloads.kinds import CONFIG_MAP
from mooring.workloads.stand_in import NAMED_LEASE, STAND_IN, stand_in

SOURCE, COPY = Key("shop", "source"), Key("shop", "copy")
ORDERS = named(CONFIG_MAP)
LEASE = Key("shop", "copier")


def copied(key: Key, view: View, now: datetime) -> Decision:
    source, copy = view.get(ORDERS, *SOURCE), view.get(ORDERS, *COPY)
    if source is None or (copy is not None and copy.data == source.data):
        return Decision()
    metadata = {"namespace": COPY.namespace, "name": COPY.name}
    return Decision(children=(Apply(ORDERS, {"metadata": metadata, "data": dict(source.data)}),))


COPIER = Controller("copier", copied, reads=(ORDERS,), writes={ORDERS: ("create", "patch")})


class Shop:
    """A cluster in memory where a stand-in keeps a copy of what people order."""

    def __init__(self) -> None:
        self.simulation: Simulation = checked_simulation([stand_in(COPIER, LEASE)])
        self.registry = self.simulation.registry
        self.put("Namespace", "shop")

    def put(self, kind: str, name: str, **parts: Any) -> None:
        group = "coordination.k8s.io/v1" if kind == "Lease" else "v1"
        resource = self.registry.resource(group, kind)
        namespace = "shop" if resource.namespaced else ""
        made: Object = {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **parts}
        found = self.registry.find(group, kind, namespace, name)
        if found is None:
            self.registry.create(resource, made, now=self.simulation.now)
        else:
            made["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
            self.registry.update(resource, made, now=self.simulation.now)

    def hold(self, holder: str, seconds: int = 15) -> None:
        renewed = self.simulation.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": renewed}
        self.put("Lease", LEASE.name, spec=spec)

    def run(self, seconds: float = 1) -> None:
        """Let time pass, whether anything happens or not."""
        end = self.simulation.now + timedelta(seconds=seconds)
        self.simulation.run(timedelta(seconds=seconds))
        self.simulation.now = max(self.simulation.now, end)

    @property
    def copy(self) -> Object:
        return dict(self._find("v1", "ConfigMap", COPY).get("data", {}))

    @property
    def lease(self) -> Object:
        return dict(self._find("coordination.k8s.io/v1", "Lease", LEASE).get("spec", {}))

    def _find(self, api_version: str, kind: str, key: Key) -> Object:
        return self.registry.find(api_version, kind, *key) or {}


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_it_claims_the_lease_before_it_writes(shop: Shop) -> None:
    shop.run()
    assert not shop.lease, "nothing was decided, so nothing is claimed"
    shop.put("ConfigMap", "source", data={"a": "1"})
    shop.run()
    assert shop.copy == {"a": "1"}
    assert (shop.lease["holderIdentity"], shop.lease["leaseDurationSeconds"]) == (STAND_IN, 3)


def test_another_process_that_holds_the_lease_does_the_work(shop: Shop) -> None:
    shop.hold("pod-1")
    shop.put("ConfigMap", "source", data={"a": "1"})
    for _ in range(5):
        shop.run(10)
        shop.hold("pod-1")
    assert not shop.copy


def test_it_takes_over_when_the_other_process_has_died(shop: Shop) -> None:
    shop.hold("pod-1")
    shop.put("ConfigMap", "source", data={"a": "1"})
    shop.run(14)
    assert not shop.copy
    shop.run(2)
    assert shop.copy == {"a": "1"}
    assert (shop.lease["holderIdentity"], shop.lease["leaseTransitions"]) == (STAND_IN, 1)


def test_a_lease_that_was_let_go_is_free_at_once(shop: Shop) -> None:
    shop.hold("", 1)
    shop.put("ConfigMap", "source", data={"a": "1"})
    shop.run()
    assert shop.copy == {"a": "1"}


def test_an_old_claim_of_its_own_is_made_again(shop: Shop) -> None:
    shop.put("ConfigMap", "source", data={"a": "1"})
    shop.run(10)
    before = shop.lease
    shop.put("ConfigMap", "source", data={"a": "2"})
    shop.run()
    assert shop.copy == {"a": "2"}
    assert shop.lease["renewTime"] > before["renewTime"]


def test_its_claims_say_since_when_and_how_often_the_lease_changed_hands(shop: Shop) -> None:
    shop.hold("pod-1", 5)
    shop.put("ConfigMap", "source", data={"a": "1"})
    shop.run(6)
    first = shop.lease
    assert first == {
        "holderIdentity": STAND_IN,
        "leaseDurationSeconds": 3,
        "acquireTime": first["renewTime"],
        "renewTime": first["renewTime"],
        "leaseTransitions": 1,
    }
    shop.run(10)
    shop.put("ConfigMap", "source", data={"a": "2"})
    shop.run()
    assert shop.copy == {"a": "2"}
    assert shop.lease == {**first, "renewTime": shop.lease["renewTime"]}
    assert shop.lease["renewTime"] > first["renewTime"]


TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("holder", "seconds", "age", "acts"),
    [
        ("pod-1", 15, timedelta(seconds=15) - TICK, "waits"),
        ("pod-1", 15, timedelta(seconds=15), "claims"),
        ("pod-1", None, timedelta(), "claims"),
        ("pod-1", 15, None, "claims"),
        (None, 15, timedelta(), "claims"),
        ("", 15, timedelta(), "claims"),
        (STAND_IN, 3, timedelta(seconds=2) - TICK, "acts"),
        (STAND_IN, 3, timedelta(seconds=2), "claims"),
        (STAND_IN, 3, None, "claims"),
        (None, None, None, "claims"),
    ],
)
def test_a_lease_of_any_age_says_what_a_stand_in_may_do(
    holder: str | None, seconds: int | None, age: timedelta | None, acts: str
) -> None:
    spec: Object = {
        "holderIdentity": holder,
        "leaseDurationSeconds": seconds,
        "renewTime": None if age is None else (NOON - age).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE.name, "namespace": LEASE.namespace},
        "spec": {name: value for name, value in spec.items() if value is not None},
    }
    source = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "source", "namespace": "shop"}}
    stores: dict[Kind[Any], Store[Any]] = {}
    for kind, key, objects in (
        (NAMED_LEASE, LEASE, [lease]),
        (ORDERS, SOURCE, [source | {"data": {"a": "1"}}]),
        (ORDERS, COPY, []),
    ):
        stores[single(kind, key)] = store = Store(single(kind, key), ())
        store.resync((), 0)
        for each in objects:
            store.put(identified(each, 1))
    view = View(stores, {}, (NAMED_LEASE, ORDERS), NOON, "remembered")
    decision = stand_in(replace(COPIER, memory=str), LEASE).reconcile(COPY, view, NOON)
    found = "acts" if decision.children else "claims" if decision.intent else "waits"
    assert found == acts
    assert decision.memory == ("remembered" if acts == "claims" else None)
    assert view.timers == ({NOON + TICK} if acts == "waits" else set())
