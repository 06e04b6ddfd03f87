"""Every right that the autoscaler declares is one that it uses."""

from __future__ import annotations

from mooring.features.autoscaler.controller import CONTROLLER
from mooring.features.autoscaler.replica_pools.controller import CONTROLLER as REPLICA_POOLS
from mooring.testing.builders import pod
from mooring.testing.rights import recorded_rights
from mooring.testing.scaled_pools import scaled_pool
from tests.features.autoscaler import test_controller as stories
from tests.features.autoscaler.replica_pools import test_controller as replica_stories
from tests.features.autoscaler.world import ScaledWorld
from tests.features.machines.world import workers


def test_every_declared_right_of_the_autoscaler_is_used() -> None:
    with recorded_rights() as used:
        stories.test_an_idle_node_goes_back_and_its_host_can_be_had_by_another_pool()
        stories.test_exactly_the_idle_node_goes_and_its_pods_move()
        pods_of_every_controller()
    assert used.unused((CONTROLLER,)) == {}


def pods_of_every_controller() -> None:
    """Nodes whose pods are of controllers that are gone: each is asked for."""
    kinds = ("StatefulSet", "Job", "ReplicationController", "DaemonSet")
    world = ScaledWorld(scaled_pool(replicas=4), hosts=workers("a", "b", "c", "d"))
    world.run(60)
    for name, kind in zip("abcd", kinds, strict=True):
        world.put(pod(f"of-{name}", node=name, owner=f"{kind}/gone"))
    world.wait(60)
    assert len(world.nodes_of()) == 4


def test_every_declared_right_of_the_pools_of_replicas_is_used() -> None:
    with recorded_rights() as used:
        replica_stories.test_the_pool_goes_with_its_replica_and_the_hosts_are_free_again()
        replica_stories.test_a_second_set_of_the_same_value_shares_the_pool_and_is_told_so()
        replica_stories.test_a_lost_host_is_replaced_by_a_free_one()
        replica_stories.test_without_a_policy_nothing_is_made_and_the_event_says_how_to_allow_it()
        for kind in ("BootstrapKubeconfigTemplate", "K8sInstallerConfigTemplate"):
            change = {"bootstrapConfigRef": f"{kind}/missing"}
            replica_stories.test_what_a_policy_names_must_exist(change, f"there is no {kind} missing")
    assert used.unused((REPLICA_POOLS,)) == {}
