"""How many hosts a replica needs, and of which size: a table, and random fleets on which the answer is tried out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec
import pytest

from mooring.features.autoscaler.replica_pools.replicas import ReplicaLabel, read_replicas
from mooring.features.autoscaler.replica_pools.sizing import NodeShape, Sizing, Trial, packed, sizings
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot
from mooring.features.autoscaler.views import AutoscalerDaemonSet, AutoscalerPod
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.matching import fits
from mooring.kube.objects import Object
from mooring.placement.pods import PodInfo
from mooring.testing.replica_pools import KEY, replica_pod, serving_host
from mooring.testing.workloads import daemon_set

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sized(pods: Sequence[Object], hosts: Sequence[Object], daemons: Sequence[Object] = ()) -> list[Sizing]:
    trial, infos, shape, read = asked(pods, hosts, daemons)
    return sizings(trial, infos, shape, read)


def asked(
    pods: Sequence[Object], hosts: Sequence[Object], daemons: Sequence[Object] = ()
) -> tuple[Trial, list[PodInfo], NodeShape, list[HostClaim]]:
    snapshot = AutoscalerSnapshot((), ())
    trial = Trial(snapshot, msgspec.convert(list(daemons), list[AutoscalerDaemonSet]), AutoscalerSettings(), NOW)
    views = msgspec.convert(list(pods), list[AutoscalerPod])
    (replica,) = read_replicas(views, (KEY,), "")
    shape = NodeShape(ReplicaLabel(KEY, "serve-0"), replica.taints)
    return trial, [snapshot.compile(pod) for pod in views], shape, msgspec.convert(list(hosts), list[HostClaim])


def pods(count: int, **asks: Any) -> list[Object]:
    return [replica_pod("serve-0", index, **{"gpu": 0, **asks}) for index in range(count)]


SMALL: dict[str, Any] = {"gpu": 1, "cpu": "8", "memory": "32Gi"}
LARGE: dict[str, Any] = {"gpu": 8, "cpu": "64", "memory": "512Gi"}
CASES: dict[str, tuple[list[Object], list[dict[str, Any]], Sizing]] = {
    "a host for each pod": (pods(3, gpu=8), [LARGE], Sizing(3, {"nvidia.com/gpu": "8"})),
    "small pods share a host": (
        pods(4, cpu="2", memory="1Gi"), [{**SMALL, "gpu": 0}], Sizing(1, {"cpu": "8", "memory": "4Gi"}),
    ),
    "small hosts before a large one": (pods(2, gpu=1), [SMALL, LARGE], Sizing(2, {"nvidia.com/gpu": "1"})),
    "a large one where small ones are too small": (pods(2, gpu=4), [SMALL, LARGE], Sizing(1, {"nvidia.com/gpu": "8"})),
    "parts of a cpu": (pods(3, cpu="1500m"), [{**SMALL, "gpu": 0}], Sizing(1, {"cpu": "4500m"})),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_way_takes_least(name: str) -> None:
    waiting, sizes, best = CASES[name]
    hosts = [serving_host(f"h{number}", **size) for number, size in enumerate(sizes)]
    assert sized(waiting, hosts)[0] == best


def test_pods_of_daemon_sets_take_their_part_of_every_host() -> None:
    agent = daemon_set("agent")
    agent["spec"]["template"]["spec"] |= {"tolerations": [{"operator": "Exists"}]}
    agent["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    host = serving_host("h", gpu=0, cpu="8")
    assert sized(pods(2, cpu="4"), [host])[0].hosts == 1
    assert sized(pods(2, cpu="4"), [host], [agent])[0] == Sizing(2, {"cpu": "5"})


def test_a_pod_that_fits_on_no_host_leaves_no_way() -> None:
    assert sized(pods(2, gpu=2), [serving_host("h", **SMALL)]) == []


def test_machines_that_differ_by_a_few_pages_of_memory_are_one_size() -> None:
    hosts = [serving_host(f"h{number}", memory=f"{32 * 2**20 + number}Ki") for number in range(50)]
    assert len(sized(pods(2, gpu=1), hosts)) == 1


@pytest.mark.parametrize("seed", range(60))
def test_any_hosts_that_meet_the_requirements_take_the_pods(seed: int) -> None:
    """The smallest hosts that a claim could choose are enough, whichever way is taken."""
    random = Random(seed)
    waiting = [
        replica_pod("serve-0", index, gpu=random.choice((0, 0, 1, 2)), cpu=f"{random.randint(1, 4000)}m")
        for index in range(random.randint(1, 7))
    ]
    hosts = [
        serving_host(f"h{number}", gpu=random.choice((0, 1, 2, 4, 8)), cpu=str(random.choice((2, 4, 8, 16))))
        for number in range(random.randint(1, 8))
    ]
    trial, infos, shape, read = asked(waiting, hosts)
    for way in sizings(trial, infos, shape, read):
        smallest = dict(way.requirements)
        packing = packed(trial, infos, trial.template(shape, (), smallest))
        assert packing is not None
        assert packing.nodes <= way.hosts
        assert any(fits(host, smallest) for host in read)
