"""The rarer writes: evictions that wait for disruption budgets, scale, and status by server-side apply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mooring.client.inprocess import InProcess
from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.builders import deployment, pod
from mooring.testing.crashes import survives_every_crash
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from tests.runtime.living import at_work
from tests.runtime.maintenance import DRAINING, MAINTENANCE, REPLICAS_AT_NIGHT, RESTING
from tests.runtime.reaching import creation, reaching
from tests.runtime.reaching import namespace as namespace


def node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {MAINTENANCE: "yes"}}}


def running(namespace: str, name: str, on: str) -> Object:
    made = {"apiVersion": "v1", "kind": "Pod", **pod(name, namespace=namespace)}
    return {
        **made,
        "metadata": {**made["metadata"], "labels": {"app": "web"}},
        "spec": {**made["spec"], "nodeName": on},
    }


def budget(namespace: str) -> Object:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    meta = {"namespace": namespace, "name": "web"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def allowing(namespace: str, disruptions: int) -> Request:
    counts = {"currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    body = {"status": {"observedGeneration": 1, "disruptionsAllowed": disruptions, **counts}}
    return Request("patch", "policy/v1", "PodDisruptionBudget", namespace, "web", body, "status", "tests")


def ready(namespace: str, name: str) -> Request:
    """Disruption budgets protect pods that run and are ready."""
    body = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    return Request("patch", "v1", "Pod", namespace, name, body, "status", "tests")


def is_leaving(obj: Object) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def drained(obj: Object) -> Any:
    return next((c for c in obj.get("status", {}).get("conditions", ()) if c["type"] == "Drained"), None)


def test_a_pod_that_its_budget_protects_is_evicted_when_it_may_be() -> None:
    simulation = Simulation([DRAINING])
    transport = simulation.transport
    for obj in (node("n"), running("default", "a", "n"), budget("default")):
        transport.write(creation(obj))
    transport.write(ready("default", "a"))
    transport.write(allowing("default", 0))
    assert not simulation.run().moving, "waiting for a budget is no reason to go on"
    assert not is_leaving(transport.get("v1", "Pod", "default", "a"))
    assert "not evicted yet" in drained(transport.get("v1", "Node", "", "n"))["message"]
    assert simulation.metrics.reconciles.value("draining", "postponed") >= 1
    assert simulation.metrics.reconciles.value("draining", "failed") == 0
    transport.write(allowing("default", 1))
    simulation.run(until=lambda: is_leaving(transport.get("v1", "Pod", "default", "a")))
    simulation.run()
    assert drained(transport.get("v1", "Node", "", "n"))["message"] == "0 pods are left"


def test_the_same_over_http(api_server: Home, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.runtime.drivers.execution.EVICTION_RETRY_SECONDS", 1)

    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            for obj in (node(namespace), running(namespace, "a", namespace), budget(namespace)):
                await user.write(creation(obj))
            await user.write(ready(namespace, "a"))
            await user.write(allowing(namespace, 0))
            live = Live([DRAINING], transport)
            async with at_work(live):
                while live.metrics.reconciles.value("draining", "postponed") < 2:
                    await asyncio.sleep(0.05)
                assert not is_leaving(await user.get("v1", "Pod", namespace, "a"))
                await user.write(allowing(namespace, 1))
                while (drained(await user.get("v1", "Node", "", namespace)) or {}).get("status") != "True":
                    await asyncio.sleep(0.05)
                found = await user.get("v1", "Node", "", namespace)
                managers = {e["manager"]: e for e in found["metadata"]["managedFields"]}
                assert managers["mooring-draining"]["operation"] == "Apply"
                assert managers["mooring-draining"]["subresource"] == "status"
            assert live.metrics.reconciles.value("draining", "failed") == 0

    asyncio.run(asyncio.wait_for(story(), 60))


def resting(namespace: str, replicas: int) -> Object:
    made = deployment("web", pod("web"), replicas=replicas)
    meta = {"name": "web", "namespace": namespace, "annotations": {REPLICAS_AT_NIGHT: "1"}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", **made, "metadata": meta}


def test_a_deployment_is_scaled() -> None:
    simulation = Simulation([RESTING])
    simulation.transport.write(creation(resting("default", 3)))
    simulation.run()
    assert simulation.transport.get("apps/v1", "Deployment", "default", "web")["spec"]["replicas"] == 1


def test_a_deployment_is_scaled_over_http(api_server: Home, namespace: str) -> None:
    async def story() -> None:
        async with reaching(api_server) as transport, reaching(api_server) as user:
            await user.write(creation(resting(namespace, 3)))
            async with at_work(Live([RESTING], transport)):
                while (await user.get("apps/v1", "Deployment", namespace, "web"))["spec"]["replicas"] != 1:
                    await asyncio.sleep(0.05)
                found = await user.get("apps/v1", "Deployment", namespace, "web")
                entries = [e for e in found["metadata"]["managedFields"] if e["manager"] == "mooring-resting"]
                assert [entry["subresource"] for entry in entries] == ["scale"]

    asyncio.run(asyncio.wait_for(story(), 60))


class Counting(InProcess):
    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation.registry, lambda: simulation.now)
        self.sent: list[Request] = []

    def write(self, request: Request) -> Object:
        self.sent.append(request)
        return super().write(request)


@contextmanager
def counted(simulation: Simulation) -> Iterator[list[Request]]:
    simulation.transport = transport = Counting(simulation)
    yield transport.sent


def test_an_applied_status_is_sent_once_and_again_when_somebody_changes_it() -> None:
    simulation = Simulation([DRAINING])
    simulation.transport.write(creation(node("n")))
    with counted(simulation) as sent:
        simulation.run()
        assert len(sent) == 1
        condition = {"type": "Drained", "status": "Unknown"}
        foreign = Request("patch", "v1", "Node", "", "n", {"status": {"conditions": [condition]}}, "status", "somebody")
        simulation.transport.write(foreign)
        simulation.run()
    assert drained(simulation.transport.get("v1", "Node", "", "n"))["status"] == "True"


def test_crashes_between_these_writes_change_nothing_about_the_end() -> None:
    def populate(simulation: Simulation) -> None:
        for obj in (node("n"), running("default", "a", "n"), running("default", "b", "n"), resting("default", 2)):
            simulation.transport.write(creation(obj))

    places = survives_every_crash([DRAINING, RESTING], populate, of=[DRAINING, RESTING])
    assert places >= 3
