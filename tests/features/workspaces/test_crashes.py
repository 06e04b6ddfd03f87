"""A controller that dies between any two writes, and is started again, changes nothing about where Workspaces end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.nodelifecycle.pod_gc import CONTROLLER as POD_GC
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.catalog import CATALOG
from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.features.workspaces.kinds import NODE_CLAIM, WORKSPACE
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.settings import Configuration
from mooring.testing.crashes import survives_every_crash
from mooring.testing.workloads import deployment
from mooring.testing.workspaces import A100, gpu_node, workspace
from mooring.workloads.kinds import CONTROLLER_REVISION, LEASE, NODE, POD, SERVICE, STATEFUL_SET
from tests.features.workspaces.town import PROVISIONING

CONTENT = (POD, STATEFUL_SET, CONTROLLER_REVISION, SERVICE, NODE, LEASE, WORKSPACE, NODE_CLAIM)
OWN = (*WORKSPACES.controllers.load(), *SIMULATED_CLAIMS.controllers.load())
CONTROLLERS = (
    statefulset.CONTROLLER,
    SCHEDULER,
    NODE_LIFECYCLE,
    POD_GC,
    simulated_nodes(every_node=True),
    garbage_collector(CONTENT),
    *OWN,
)
Change = Callable[[Simulation], None]


def resource(simulation: Simulation, kind: str) -> Any:
    versions = {"Workspace": "kaito.sh/v1beta1", "Node": "v1"}
    return simulation.registry.resource(versions[kind], kind)


def edited(kind: str, name: str, body: Object) -> Change:
    def change(simulation: Simulation) -> None:
        where = "default" if kind == "Workspace" else ""
        simulation.registry.patch(resource(simulation, kind), where, name, "merge", body, now=simulation.now)

    return change


def deleted(kind: str, name: str = "") -> Change:
    """Without a name, the first one that was claimed."""

    def change(simulation: Simulation) -> None:
        found = name or min(
            each["metadata"]["name"] for each in simulation.registry.list(resource(simulation, kind)).items
        )
        where = "default" if kind == "Workspace" else ""
        simulation.registry.delete(resource(simulation, kind), where, found, now=simulation.now)

    return change


def story(*objects: Object, then: Change | None = None) -> Change:
    """A Workspace that comes to rest and is changed then; the crash may come at any write of it all."""

    def populate(simulation: Simulation) -> None:
        registry = simulation.registry
        for obj in objects:
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)
        if then is not None:
            simulation.run(timedelta(minutes=5))
            then(simulation)

    return populate


BROUGHT = Configuration()
STORIES: dict[str, tuple[Configuration, Change]] = {
    "a preset that is measured and changed": (
        BROUGHT,
        story(
            gpu_node("a"),
            workspace(preset="phi-4"),
            then=edited("Workspace", "llm", {"inference": {"config": "more"}}),
        ),
    ),
    "a Deployment from before": (BROUGHT, story(deployment("llm", 0), gpu_node("a"), workspace(gpu=1))),
    "a node that is relabelled": (
        BROUGHT,
        story(
            gpu_node("a"),
            gpu_node("b"),
            workspace(gpu=1, count=2),
            then=edited("Node", "b", {"metadata": {"labels": {"apps": "web"}}}),
        ),
    ),
    "a node that is asked for and deleted": (
        PROVISIONING,
        story(workspace(gpu=1, instance_type=A100), then=deleted("Node")),
    ),
    "nodes that are brought and asked for, and a deletion": (
        PROVISIONING,
        story(
            gpu_node("zz", instance_type=A100),
            workspace(gpu=1, count=2, instance_type=A100),
            then=deleted("Workspace", "llm"),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", STORIES)
def test_a_crash_between_any_two_writes_changes_nothing(case: str) -> None:
    configuration, populate = STORIES[case]
    names = (*WORKSPACES.names, *SIMULATED_CLAIMS.names)
    before = CATALOG.definitions(names)
    assert survives_every_crash(CONTROLLERS, populate, before=before, of=OWN, configuration=configuration) > 5
