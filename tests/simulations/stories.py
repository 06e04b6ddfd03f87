"""The seeded stories of each feature: what the suite plays with a few seeds, by name, for as many as one likes.

A story takes a seed and raises an AssertionError where something that must hold does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from mooring.testing.decisions import DecidingTwice
from tests.builtin.test_faults import test_a_disturbed_world_comes_to_rest_as_it_should as builtin
from tests.features.autoscaler.replica_pools.test_disturbed import test_pools_follow_replicas_through_faults
from tests.features.autoscaler.test_disturbed import test_pools_follow_demand_through_faults as autoscaler
from tests.features.groups.test_disturbed import test_a_restart_at_any_point_of_an_update_changes_nothing as groups
from tests.features.hosts.test_one_host_one_machine import story as hosts
from tests.features.installation.test_crashes import (
    test_lost_answers_and_deaths_at_random_change_nothing_of_the_end as installation,
)
from tests.features.machines.test_disturbed import test_two_pools_with_equal_selectors_never_swap_machines as two_pools
from tests.features.machines.test_disturbed import (
    test_whatever_users_do_in_between_the_pool_ends_as_they_said as busy_users,
)
from tests.features.notebooks.test_crashes import test_faults_lose_no_job_and_make_no_second_pod as notebooks
from tests.features.workspaces.test_disturbed import (
    test_a_disturbed_deletion_leaves_nothing_but_what_was_brought as deleted_workspaces,
)
from tests.features.workspaces.test_disturbed import test_a_disturbed_workspace_ends_as_it_should as workspaces
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


def _replica_pools(seed: int, extent: Extent) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_pools_follow_replicas_through_faults(seed, patch, extent)


# The controllers that a bare API server lacks, then the features, each with all of its stories.
STORIES: Mapping[str, Mapping[str, Story]] = {
    "builtin": {"a disturbed world": _sized(builtin)},
    "autoscaler": {"pools": _sized(autoscaler), "replica pools": _sized(_replica_pools)},
    "groups": {"an update": _sized(groups)},
    "hosts": {"one host, one machine": hosts},
    "installation": {"lost answers and deaths": installation},
    "machines": {"two pools": _sized(two_pools), "busy users": _sized(busy_users)},
    "notebooks": {"jobs": _sized(notebooks)},
    "workspaces": {"a workspace": _sized(workspaces), "a deletion": _sized(deleted_workspaces)},
}
