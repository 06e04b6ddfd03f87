"""What people are told about pools of replicas: `mooring pools`, `mooring pools explain` and `mooring doctor`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.kinds import Key
from mooring.features.autoscaler.pool_report import REPORT
from mooring.kube.objects import Object
from mooring.testing.replica_pools import KEY, replica_pods, replica_policy
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld

ALLOW = (
    "kubectl create configmap mooring-replica-pools -n kube-system --from-literal=labelKeys=example.com/node-group "
    "--from-literal=hostSelector=LABEL=VALUE --from-literal=clusterName=CLUSTER "
    "--from-literal=bootstrapConfigRef=BootstrapKubeconfig/NAME --from-literal=maxPools=4 --from-literal=maxHosts=8"
)
EDIT = "kubectl edit configmap mooring-replica-pools -n kube-system"


class Told:
    """What a person reads of a world."""

    def __init__(self, world: ReplicaPoolWorld) -> None:
        self._world: dict[str, list[Any]] = {
            kind: [msgspec.convert(each, view) for each in world.all(kind).values()]
            for (_, kind), view in REPORT.views.items()
        }
        kind = world.registry.resource("v1", "ConfigMap")
        maps: dict[str, Object] = {each["metadata"]["name"]: each for each in world.registry.list(kind).items}
        self._decisions = maps.get("cluster-autoscaler-status", {}).get("data", {})

    @property
    def states(self) -> dict[str, str]:
        return {row.name: row.state for row in REPORT.rows(self._world, self._decisions)}

    @property
    def notes(self) -> list[str]:
        return [*REPORT.notes(self._decisions)]

    def explained(self, pool: str) -> str:
        return "\n".join(REPORT.explain(self._world, self._decisions, Key("default", pool)))

    @property
    def findings(self) -> list[tuple[str, str]]:
        """Problems of pools and replicas, with the commands; hosts without the label of a GPU do not matter here."""
        found = REPORT.diagnose(self._world, self._decisions)
        return [(each.problem, each.command) for each in found if "gpu=true" not in each.problem]


def test_a_pool_says_why_it_exists_and_for_whom() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c"])
    world.settle()
    told = Told(world)
    assert told.states == {"serve-0": "for default/serve-0"}
    assert told.notes == []
    assert told.findings == []
    story = told.explained("serve-0")
    assert f"it was made because 2 pods of default/serve-0 ask for nodes with {KEY}=serve-0" in story
    assert f"it goes when no pod asks for nodes with {KEY}=serve-0 any more" in story
    assert "2 wanted and 2 ready on a, b" in story
    assert "1 of 3 hosts that match are free (c)" in story


@pytest.mark.parametrize(
    ("policy", "hosts", "problem", "command"),
    [
        (None, "ab", "there is no ConfigMap kube-system/mooring-replica-pools", ALLOW),
        (replica_policy(maxHosts="many"), "ab", 'maxHosts is "many"; write a whole number above 0', EDIT),
        (replica_policy(maxHosts="1"), "ab", "maxHosts of the policy is 1; raise it, or scale down", EDIT),
        (replica_policy(), "a", "it needs 2 hosts at once, and 1 of the 1", "kubectl get byohost -A --show-labels"),
    ],
    ids=["no policy", "a malformed policy", "a limit", "too few hosts"],
)
def test_what_there_is_no_pool_for_is_noted_and_diagnosed(
    policy: Object | None, hosts: str, problem: str, command: str
) -> None:
    pods = [*replica_pods("serve-0"), *replica_pods("serve-1")]
    world = ReplicaPoolWorld(*pods, hosts=list(hosts), policy=policy, allowed=policy is not None)
    world.settle()
    told = Told(world)
    (note,) = told.notes
    ((found, mend),) = told.findings
    assert problem in note
    assert problem in found
    assert mend == command
    assert "2 pods of default/serve-1 wait for nodes" in told.explained("serve-1")


def test_a_lost_host_is_diagnosed_with_the_one_that_would_take_its_place() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c"])
    world.settle()
    world.annotate("ByoHost", "a", {"mooring.dev/lost": "yes"})
    world.wait(180)
    found = [each for each in Told(world).findings if "is lost" in each[0]]
    ((problem, command),) = found
    assert problem == "its host a is lost, so default/serve-0 lacks a node; c is free in its place"
    assert command.startswith("kubectl delete machine serve-0-")


def test_a_machine_that_finds_no_host_is_diagnosed() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"])
    world.settle()
    world.patch("MachineDeployment", "serve-0", {"spec": {"replicas": 3}})
    world.settle()
    assert Told(world).states == {"serve-0": "for default/serve-0, 1 nodes missing"}
    assert Told(world).findings == [
        (
            "1 of its 3 hosts are missing, and none that would do is free; free one, or add one",
            "kubectl get byohost -n default --show-labels",
        )
    ]


def test_what_was_told_is_forgotten_when_it_is_over() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a"])
    world.settle()
    assert Told(world).notes
    world.drop("serve-0", "serve-0-1")
    world.settle()
    assert Told(world).notes == []
