"""LeaderWorkerSets and their pods that are drawn, and what the API says of each."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.testing.groups import leader_pod, leader_worker_set, worker_pod
from tests.features.drawn import Change, World
from tests.support.golden import same_as_recorded

P = "leaderworkerset.sigs.k8s.io/"
TPU = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"google.com/tpu": 4}}}]}


def whole_sets() -> dict[str, Object]:
    subgroups = {"size": 5, "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}
    leader = {"metadata": {"labels": {"role": "leader"}}, "spec": {"containers": [{"name": "l", "image": "l"}]}}
    return {
        "the least": leader_worker_set("least", replicas=None, size=None),
        "rolling": leader_worker_set(
            "rolling",
            replicas=4,
            size=3,
            rolling={"maxSurge": 1, "maxUnavailable": "50%", "partition": 1},
            startupPolicy="LeaderReady",
            networkConfig={"subdomainPolicy": "UniquePerReplica"},
        ),
        "subgroups": leader_worker_set(
            "subgroups",
            template={**subgroups, "leaderTemplate": leader, "restartPolicy": "None"},
            annotations={f"{P}exclusive-topology": "rack", f"{P}subgroup-exclusive-topology": "host"},
        ),
        "unique": leader_worker_set("unique", unique="example.com/group"),
    }


def test_every_drawn_set_is_answered_as_recorded() -> None:
    same_as_recorded("groups-sets", World().every_answer(whole_sets()))


def whole_pods() -> dict[str, Object]:
    subgroup = {f"{P}subgroup-size": "2", f"{P}subgroup-exclusive-topology": "host"}
    exclusive = {f"{P}exclusive-topology": "rack", **subgroup}
    unique = {f"{P}replica-unique-node-selector": "example.com/group"}
    return {
        "leader": leader_pod("serve-0", size=4, annotations=exclusive),
        "leader of tpus": leader_pod("tpu-1", size=4, annotations={**exclusive, **unique}, spec=TPU),
        "worker": worker_pod("serve-0-1", size=5, annotations={**exclusive, **unique}),
        "worker of tpus": worker_pod("tpu-1-2", size=5, annotations=subgroup, spec=TPU),
    }


def test_every_drawn_pod_of_a_group_is_answered_as_recorded() -> None:
    world = World()
    found = {}
    for name, whole in whole_pods().items():
        indexes = (Change(("metadata", "labels", f"{P}worker-index"), f"{number}") for number in range(6))
        for change, answer in world.answers(whole, seed=f"groups/{name}", more=[*indexes]).items():
            found[f"{name}: {change}"] = answer
    same_as_recorded("groups-pods", found)
