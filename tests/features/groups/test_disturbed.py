"""Sets in worlds with crashes, conflicts and lost watches: an update that is disturbed at any point ends as it should.

A seed that fails is run again by its name: `pytest "tests/features/groups/test_disturbed.py::test_...[17]"`.
"""

from __future__ import annotations

from random import Random

import pytest

from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import Town
from tests.simulations.extent import FULL, Extent


def essence(town: Town) -> Object:
    """What matters about a world at rest."""
    pods = {
        name: (pod["spec"]["containers"][0]["image"], pod["status"]["phase"]) for name, pod in town.all("Pod").items()
    }
    owned = [name for name, each in town.all("ControllerRevision").items() if is_of_a_set(each)]
    status = town.status()
    return {
        "pods": pods,
        "sets": {name: obj["spec"]["replicas"] for name, obj in town.all("StatefulSet").items()},
        "services": sorted(town.all("Service")),
        "revisions": len(owned),
        # Whether there was an update at all depends on how soon the first look came.
        "conditions": {"UpdateInProgress": "False", **town.conditions()},
        "counts": [status.get(name) for name in ("replicas", "readyReplicas", "updatedReplicas")],
    }


def is_of_a_set(revision: Object) -> bool:
    return any(owner["kind"] == "LeaderWorkerSet" for owner in revision["metadata"].get("ownerReferences", []))


def drawn(draw: Random, extent: Extent) -> Object:
    unavailable = draw.randrange(0, 3)
    surge = draw.randrange(1 if unavailable == 0 else 0, 3)
    return leader_worker_set(
        replicas=extent.of(draw.randrange(1, 4), draw),
        size=extent.of(draw.randrange(1, 4), draw),
        rolling={"maxUnavailable": unavailable, "maxSurge": surge},
        networkConfig={"subdomainPolicy": draw.choice(["Shared", "UniquePerReplica"])},
        startupPolicy=draw.choice(["LeaderCreated", "LeaderReady"]),
    )


def story(seed: int, faults: Faults | None, extent: Extent) -> Town:
    """A set that is made, updated on its way, scaled in the middle of that, and updated once more.

    A small one leaves out some of that.
    """
    draw = Random(seed)
    town = Town(drawn(draw, extent), nodes=2, seed=seed, faults=faults, run=False)
    town.run(draw.choice([0.5, 3, 30]))
    if extent.of(2, draw) == 2:
        town.new_image("2")
        town.run(draw.choice([0.5, 2, 5]))
    if extent.of(2, draw) == 2:
        town.change({"replicas": extent.of(draw.randrange(1, 4), draw)})
        town.run(draw.choice([0.5, 2, 5]))
    town.new_image("3")
    town.run(draw.choice([1, 60]))
    town.simulation.quiet()
    town.run()
    return town


def disturbed_update(seed: int, extent: Extent) -> None:
    disturbed = story(seed, extent.faults(0.05, seed), extent)
    assert essence(disturbed) == essence(story(seed, None, extent))
    assert {image.rpartition(":")[2] for image, _ in essence(disturbed)["pods"].values()} == {"3"}


@pytest.mark.parametrize("seed", range(12))
def test_a_restart_at_any_point_of_an_update_changes_nothing(seed: int) -> None:
    disturbed_update(seed, FULL)
