"""The seeded stories of each feature: what the suite plays with a few seeds, by name, for as many as one likes.

A story takes a seed and raises an AssertionError where something that must hold does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mooring.testing.decisions import DecidingTwice
from tests.builtin.test_faults import disturbed_world
from tests.features.autoscaler.replica_pools.test_disturbed import disturbed_replica_pools
from tests.features.autoscaler.test_disturbed import disturbed_pools
from tests.features.groups.test_disturbed import disturbed_update
from tests.features.hosts.test_one_host_one_machine import story as hosts
from tests.features.installation.test_crashes import (
    test_lost_answers_and_deaths_at_random_change_nothing_of_the_end as installation,
)
from tests.features.machines.test_disturbed import busy_users, two_pools
from tests.features.notebooks.test_crashes import disturbed_jobs
from tests.features.workspaces.test_disturbed import disturbed_deletion, disturbed_workspace
from tests.simulations.extent import Extent, drawn

# None of these is a test of this module.
__test__ = False

# What a controller keeps where it must not is kept in every seed, so not every decision has to be made twice.
DECIDED_TWICE = 4

Story = Callable[[int], None]


def _sized(story: Callable[[int, Extent], None]) -> Story:
    def play(seed: int) -> None:
        with DecidingTwice.one_in(DECIDED_TWICE):
            story(seed, drawn(seed))

    return play


# The controllers that a bare API server lacks, then the features, each with all of its stories.
STORIES: Mapping[str, Mapping[str, Story]] = {
    "builtin": {"a disturbed world": _sized(disturbed_world)},
    "autoscaler": {"pools": _sized(disturbed_pools), "replica pools": _sized(disturbed_replica_pools)},
    "groups": {"an update": _sized(disturbed_update)},
    "hosts": {"one host, one machine": hosts},
    "installation": {"lost answers and deaths": installation},
    "machines": {"two pools": _sized(two_pools), "busy users": _sized(busy_users)},
    "notebooks": {"jobs": _sized(disturbed_jobs)},
    "workspaces": {"a workspace": _sized(disturbed_workspace), "a deletion": _sized(disturbed_deletion)},
}
