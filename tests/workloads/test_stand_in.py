"""A stand-in acts only while no other process holds the Lease, and never without a claim that is good."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.testing.simulations import checked_simulation
from mooring.workloads.kinds import CONFIG_MAP
from mooring.workloads.stand_in import STAND_IN, stand_in

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
