"""Deployments and StatefulSets over a registry in virtual time: with a scheduler and nodes, crashes and faults."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.apps.deployment import controller as deployment
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.kube.objects import Object
from mooring.nodes.storage.default_class import default_class
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing import node
from mooring.testing.controllers import STORAGE
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import CONTROLLERS, NODES, Town

OURS = (deployment.CONTROLLER, replicaset.CONTROLLER, statefulset.CONTROLLER)


def workload(kind: str, replicas: int, **spec: Any) -> Object:
    body = {"replicas": replicas, "selector": {"matchLabels": {"app": kind.lower()}}, "template": template(kind, 1)}
    metadata = {"name": kind.lower(), "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {**body, **spec}}


def template(kind: str, version: int) -> Object:
    container = {"name": "main", "image": f"web:{version}"}
    return {"metadata": {"labels": {"app": kind.lower()}}, "spec": {"containers": [container]}}


def with_claims(**policy: str) -> Object:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec: Object = {"serviceName": "web", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}
    return {**spec, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain", **policy}}


def change(town: Town, kind: str, spec: Object) -> None:
    resource = town.registry.resource("apps/v1", kind)
    now = town.simulation.now
    town.registry.patch(resource, "default", kind.lower(), "merge", {"spec": spec}, now=now)


def running(town: Town) -> list[tuple[str, str]]:
    """The workload and the image of each pod that runs."""
    found = town.registry.list(town.registry.resource("v1", "Pod"), "default").items
    return sorted(
        (pod["metadata"]["labels"]["app"], pod["spec"]["containers"][0]["image"])
        for pod in found
        if pod["status"]["phase"] == "Running"
    )


@pytest.mark.parametrize(
    "subject",
    [workload("Deployment", 2), workload("StatefulSet", 2, **with_claims())],
    ids=["a Deployment", "a StatefulSet with claims"],
)
def test_any_crash_of_the_whole_ends_the_same(subject: Object) -> None:
    def populate(simulation: Simulation) -> None:
        for obj in (default_class(), node("a"), subject):
            registry = simulation.registry
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)

    assert survives_every_crash((*CONTROLLERS[:1], NODES, NODE_LIFECYCLE, *STORAGE, *OURS), populate) > 10


@pytest.mark.parametrize("seed", range(12))
def test_updates_arrive_under_all_kinds_of_faults(seed: int) -> None:
    draw = random.Random(seed)
    town = Town(
        default_class(),
        *(node(name) for name in "ab"),
        workload(
            "Deployment",
            draw.randint(0, 5),
            strategy={"type": draw.choice(("Recreate", "RollingUpdate"))},
            minReadySeconds=draw.choice((0, 5)),
        ),
        workload(
            "StatefulSet",
            draw.randint(0, 4),
            podManagementPolicy=draw.choice(("Parallel", "OrderedReady")),
            **with_claims(whenScaled=draw.choice(("Retain", "Delete"))),
        ),
        controllers=(*CONTROLLERS, *STORAGE, *OURS),
        seed=seed,
        faults=Faults.everything(0.04),
    )
    town.run(draw.choice((0, 1, 3)))
    wanted = []
    for kind in ("Deployment", "StatefulSet"):
        replicas = draw.randint(0, 5)
        change(town, kind, {"replicas": replicas, "template": template(kind, 2)})
        wanted += [(kind.lower(), "web:2")] * replicas
    town.run(draw.choice((0, 2, 40)))
    town.simulation.quiet()
    settled = town.simulation.run(timedelta(hours=1))
    assert running(town) == wanted
    assert not settled.moving
