"""A controller that dies between any two writes, and is started again, changes nothing about where things end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.features.groups.api import API_VERSION, KIND
from mooring.features.groups.definition import leader_worker_set_definition
from mooring.features.groups.feature import GROUPS
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.webhooks.direct import install
from mooring.testing.builders import node
from mooring.testing.crashes import survives_every_crash
from mooring.testing.groups import leader_worker_set
from mooring.workloads.kinds import CONTROLLER_REVISION, POD, SERVICE, STATEFUL_SET

CONTENT = (POD, STATEFUL_SET, CONTROLLER_REVISION, SERVICE, LEADER_WORKER_SET)
CONTROLLERS = (
    statefulset.CONTROLLER,
    SCHEDULER,
    simulated_nodes(every_node=True),
    garbage_collector(CONTENT),
    *GROUPS.controllers.load(),
)


def thin_definition() -> Object:
    """The kind without the rules for pods, which take longer to read than all the rest of such a run."""
    whole = leader_worker_set_definition()
    (version,) = whole["spec"]["versions"]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    thin = {**version, "schema": {"openAPIV3Schema": schema}}
    return {**whole, "spec": {**whole["spec"], "versions": [thin]}}


def create(simulation: Simulation, obj: Object) -> None:
    registry = simulation.registry
    registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)


def edit(simulation: Simulation, body: Object) -> None:
    registry = simulation.registry
    registry.patch(registry.resource(API_VERSION, KIND), "default", "serve", "merge", body, now=simulation.now)


def story(obj: Object, *edits: Object, delete: str = "") -> Callable[[Simulation], None]:
    """A set that comes to rest and is changed then; the crash may come at any write of it all."""

    def populate(simulation: Simulation) -> None:
        install(simulation.registry, WEBHOOKS, clock=lambda: simulation.now)
        create(simulation, node("n0", cpu="64"))
        # Nobody here looks after the taint of a node that is new.
        nodes = simulation.registry.resource("v1", "Node")
        simulation.registry.patch(nodes, "", "n0", "merge", {"spec": {"taints": None}}, now=simulation.now)
        create(simulation, obj)
        for body in edits:
            simulation.run()
            edit(simulation, body)
        if delete:
            simulation.run()
            pods = simulation.registry.resource("v1", "Pod")
            simulation.registry.delete(pods, "default", delete, now=simulation.now)

    return populate


def image(tag: str) -> Object:
    containers = [{"name": "main", "image": f"registry.example.com/serve:{tag}"}]
    return {"spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": containers}}}}}


APART: Object = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
STORIES = {
    "a new set": story(leader_worker_set(replicas=2, size=2)),
    "a new set with a service for every group": story(leader_worker_set(replicas=1, size=2, **APART)),
    "an update": story(leader_worker_set(replicas=1, size=2), image("2")),
    "an update with a surge": story(leader_worker_set(replicas=1, size=2, rolling={"maxSurge": 1}), image("2")),
    "an update that is taken back": story(leader_worker_set(replicas=1, size=1), image("2"), image("1")),
    "growing and shrinking": story(
        leader_worker_set(replicas=1, size=1), {"spec": {"replicas": 2}}, {"spec": {"replicas": 1}}
    ),
    "another size": story(
        leader_worker_set(replicas=1, size=2), {"spec": {"leaderWorkerTemplate": {"size": 3}}}
    ),
    "a worker that is deleted": story(leader_worker_set(replicas=1, size=3), delete="serve-0-2"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", STORIES)
def test_a_crash_between_any_two_writes_changes_nothing(case: str) -> None:
    assert (
        survives_every_crash(CONTROLLERS, STORIES[case], before=[thin_definition()], of=GROUPS.controllers.load()) > 5
    )
