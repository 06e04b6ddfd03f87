"""Workspaces in worlds with crashes, conflicts and lost watches: a story that is disturbed ends as it should.

A seed that fails is run again by its name: `pytest "tests/features/workspaces/test_disturbed.py::test_...[3]"`.
"""

from __future__ import annotations

from random import Random

import pytest

from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.workspaces.town import WorkspaceTown
from tests.simulations.extent import FULL, Extent


def essence(town: WorkspaceTown) -> Object:
    """What matters about a world at rest. Claims are counted: which ones stay depends on what came first."""
    status = town.get("Workspace", "llm")["status"]
    return {
        "pods": sorted(town.placed()),
        "replicas": {name: obj["spec"]["replicas"] for name, obj in town.all("StatefulSet").items()},
        "services": sorted(town.all("Service")),
        "claims": len(town.all("NodeClaim")),
        "claimed": len([name for name in town.all("Node") if name.startswith("ws")]),
        "revisions": sum(name.startswith("llm-") for name in town.all("ControllerRevision")),
        "conditions": town.holds(),
        "state": (status["state"], status["targetNodeCount"]),
    }


def story(seed: int, faults: Faults | None, extent: Extent) -> WorkspaceTown:
    """A Workspace is made with too few nodes or enough, loses and gets some on its way, and is changed."""
    draw = Random(seed)
    brought, count = draw.randrange(0, 3), extent.of(draw.randrange(1, 4), draw)
    preset = draw.choice(["", "phi-4"])
    made = workspace(gpu=1, preset=preset, count=count, instance_type=A100)
    nodes = [gpu_node(f"n{number}", instance_type=A100) for number in range(brought)]
    town = WorkspaceTown(*nodes, made, provisions=True, seed=seed, faults=faults, run=False)
    town.run(draw.choice([0.5, 6, 30]))
    town.create(gpu_node("late", instance_type="Standard_NC40ads_H100_v5"))
    town.run(draw.choice([0.5, 6, 30]))
    if brought:
        town.relabel("n0", apps="web")
        town.run(draw.choice([0.5, 2]))
        town.relabel("n0", apps="llm")
    town.patch("Workspace", "llm", {"metadata": {"annotations": {"note": "changed"}}})
    town.run(draw.choice([1, 60]))
    town.simulation.quiet()
    town.run()
    return town


def disturbed_workspace(seed: int, extent: Extent) -> None:
    disturbed, calm = (essence(story(seed, faults, extent)) for faults in (extent.faults(0.05, seed), None))
    assert disturbed["conditions"]["WorkspaceSucceeded"] == "True"
    assert disturbed["claims"] == disturbed["claimed"] <= disturbed["state"][1]
    for each in (disturbed, calm):
        # A node that is not ready when it is looked at is claimed for, and what runs on a node that is claimed is
        # not measured: both depend on who is held up.
        del each["claims"], each["claimed"]
        each["conditions"].pop("BenchmarkCompleted", None)
    assert disturbed == calm


@pytest.mark.parametrize("seed", range(6))
def test_a_disturbed_workspace_ends_as_it_should(seed: int) -> None:
    assert essence(story(seed, FULL.faults(0.05, seed), FULL)) == essence(story(seed, None, FULL))
    disturbed_workspace(seed, FULL)


def disturbed_deletion(seed: int, extent: Extent) -> None:
    draw = Random(seed)
    made = workspace(gpu=1, count=extent.of(3, draw), instance_type=A100)
    mine = gpu_node("mine", instance_type=A100)
    faults = extent.faults(0.05, seed)
    town = WorkspaceTown(mine, made, provisions=True, seed=seed, faults=faults, run=False)
    town.run(draw.choice([0.5, 5.5, 60]))
    town.delete("Workspace", "llm")
    town.run(60)
    town.simulation.quiet()
    town.run()
    assert list(town.all("Node")) == ["mine"]
    assert not [kind for kind in ("Workspace", "NodeClaim", "StatefulSet", "Pod") if town.all(kind)]


@pytest.mark.parametrize("seed", range(3))
def test_a_disturbed_deletion_leaves_nothing_but_what_was_brought(seed: int) -> None:
    disturbed_deletion(seed, FULL)
