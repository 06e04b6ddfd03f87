"""LeaderWorkerSets at work in virtual time: they come, are updated, fail and go."""

from __future__ import annotations

import pytest

from mooring.features.groups import api
from mooring.features.groups.api import KIND
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import Town

KEY = "example.com/node-group"
RACK = "example.com/rack"
AVAILABLE = {"Available": "True", "Progressing": "False"}


def test_a_set_comes_up_whole() -> None:
    town = Town(leader_worker_set(replicas=2, size=3), nodes=2)
    assert town.pods() == ["serve-0", "serve-0-1", "serve-0-2", "serve-1", "serve-1-1", "serve-1-2"]
    assert sorted(town.all("StatefulSet")) == ["serve", "serve-0", "serve-1"]
    assert sorted(town.all("Service")) == ["serve"]
    assert town.conditions() == AVAILABLE, "no update is told of at the beginning"
    status = town.status()
    assert (status["replicas"], status["readyReplicas"], status["updatedReplicas"]) == (2, 2, 2)
    assert status["hpaPodSelector"] == f"{api.NAME}=serve,{api.WORKER_INDEX}=0"
    assert status["observedGeneration"] == 1
    assert town.told("AllGroupsReady") == ["All replicas are ready, with 2 groups ready of total 2 groups"]
    assert "Created leader statefulset serve" in town.told("GroupsProgressing")
    assert "Created worker statefulset for leader pod serve-1" in town.told("GroupsProgressing")


def test_a_set_of_many_groups_comes_up_whole_without_being_looked_at_for_every_pod() -> None:
    town = Town(leader_worker_set(replicas=60, size=2, cpu="10m"), nodes=2)
    assert town.conditions() == AVAILABLE
    assert town.status()["readyReplicas"] == 60
    town.change({"replicas": 55})
    town.run()
    assert len(town.pods()) == 110
    assert town.status()["readyReplicas"] == 55


def test_a_group_of_one_has_no_workers() -> None:
    town = Town(leader_worker_set(size=1), nodes=1)
    assert town.pods() == ["serve-0", "serve-1"]
    assert sorted(town.all("StatefulSet")) == ["serve"]
    assert town.conditions() == AVAILABLE


def test_a_set_of_no_groups_is_available() -> None:
    town = Town(leader_worker_set(replicas=0), nodes=1)
    assert town.pods() == []
    assert town.conditions()["Available"] == "True"
    town.change({"replicas": 1})
    town.run()
    assert town.pods() == ["serve-0", "serve-0-1"]


def test_scaling_takes_the_highest_groups_and_is_no_update() -> None:
    town = Town(leader_worker_set(replicas=3), nodes=1)
    before = town.uids()
    town.change({"replicas": 1})
    town.run()
    assert town.uids() == {name: before[name] for name in ("serve-0", "serve-0-1")}
    assert sorted(town.all("StatefulSet")) == ["serve", "serve-0"]
    assert "UpdateInProgress" not in town.conditions()
    assert town.conditions()["Available"] == "True"


def test_scaling_by_the_sub_resource() -> None:
    town = Town(leader_worker_set(replicas=1), nodes=1)
    town.patch(KIND, "serve", {"spec": {"replicas": 2}}, "scale")
    town.run()
    assert len(town.pods()) == 4


def test_with_a_service_for_every_group_members_find_each_other_there() -> None:
    apart: Object = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    town = Town(leader_worker_set(replicas=2, **apart), nodes=1)
    assert sorted(town.all("Service")) == ["serve-0", "serve-1"]
    worker = town.get("Pod", "serve-1-1")["spec"]
    assert worker["subdomain"] == "serve-1"
    assert worker["containers"][0]["env"][0]["value"] == "serve-1.serve-1.default"
    town.change({"replicas": 1})
    town.run()
    assert sorted(town.all("Service")) == ["serve-0"]


def test_another_subdomain_policy_rolls_and_keeps_the_shared_service() -> None:
    town = Town(leader_worker_set(replicas=2), nodes=1)
    before = town.uids()
    town.change({"networkConfig": {"subdomainPolicy": "UniquePerReplica"}})
    town.run()
    assert sorted(town.all("Service")) == ["serve", "serve-0", "serve-1"]
    assert not set(before.values()) & set(town.uids().values())
    town.change({"networkConfig": {"subdomainPolicy": "Shared"}})
    town.run()
    assert sorted(town.all("Service")) == ["serve"]


@pytest.mark.parametrize(
    "rolling", [{}, {"maxUnavailable": 2}, {"maxSurge": 1}, {"maxSurge": 2, "maxUnavailable": 0}, {"maxSurge": "100%"}]
)
def test_an_update_replaces_every_group_and_forgets_the_old_revision(rolling: Object) -> None:
    town = Town(leader_worker_set(replicas=3, rolling=rolling), nodes=3)
    town.new_image()
    town.run()
    assert set(town.images().values()) == {"2"}
    assert len(town.pods()) == 6
    assert town.conditions() == {**AVAILABLE, "UpdateInProgress": "False"}
    owned = [name for name in town.all("ControllerRevision") if name.endswith("-2")]
    assert len([name for name in town.all("ControllerRevision") if name.count("-") == 2 and name in owned]) == 1
    assert len(set(town.revisions("Pod").values())) == 1
    assert town.status()["replicas"] == 3


def test_groups_below_the_partition_are_kept_and_made_again_as_they_were() -> None:
    town = Town(leader_worker_set(replicas=3, size=2, rolling={"partition": 2}), nodes=2)
    town.new_image()
    town.change({"leaderWorkerTemplate": {"size": 3}})
    town.run()
    assert town.images() == {
        "serve-0": "1", "serve-0-1": "1", "serve-1": "1", "serve-1-1": "1",
        "serve-2": "2", "serve-2-1": "2", "serve-2-2": "2",
    }  # fmt: skip
    assert town.conditions()["Available"] == "True"
    assert town.status()["updatedReplicas"] == 1
    town.delete("Pod", "serve-0")
    town.run()
    assert town.images()["serve-0-1"] == "1"
    assert "serve-0-2" not in town.pods()
    town.change({"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 0}}})
    town.run()
    assert set(town.images().values()) == {"2"}
    assert len(town.pods()) == 9


def test_another_size_rolls() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    town.change({"leaderWorkerTemplate": {"size": 1}})
    town.run()
    assert town.pods() == ["serve-0", "serve-1"]
    assert town.conditions()["Available"] == "True"
    assert sorted(town.all("StatefulSet")) == ["serve"]


def test_a_change_of_anything_else_rolls_nothing() -> None:
    town = Town(leader_worker_set(), nodes=1)
    before = town.uids()
    town.change({"startupPolicy": "LeaderReady", "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 1}}})
    town.patch(KIND, "serve", {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}})
    town.run()
    assert town.uids() == before
    assert town.get("StatefulSet")["metadata"]["labels"]["team"] == "a"
    assert town.get("StatefulSet")["metadata"]["annotations"]["note"] == "b"


def test_an_update_is_told_step_by_step() -> None:
    town = Town(leader_worker_set(replicas=3), nodes=1)
    town.new_image()
    town.run()
    steps = [text for text in town.told("GroupsUpdating") if text.startswith("Updating")]
    assert sorted(steps) == ["Updating replica 0", "Updating replica 1", "Updating replica 2"]
    assert any(text.startswith("Rolling Upgrade is in progress") for text in town.told("GroupsUpdating"))
    assert len(town.told("CreatingRevision")) == 2


def test_an_update_that_is_taken_back_goes_back() -> None:
    town = Town(leader_worker_set(replicas=2), nodes=1)
    town.new_image("2")
    town.run(1)
    town.new_image("1")
    town.run()
    assert set(town.images().values()) == {"1"}
    assert town.conditions()["Available"] == "True"


def test_a_set_whose_template_was_broken_is_repaired_by_a_better_one() -> None:
    town = Town(leader_worker_set(replicas=3, pod={"nodeSelector": {"gpu": "misspelt"}}), nodes=1)
    assert town.placed() == {}
    town.change({"leaderWorkerTemplate": {"workerTemplate": {"spec": {"nodeSelector": None}}}})
    town.run()
    assert len(town.placed()) == 6
    assert town.conditions()["Available"] == "True"


def test_a_container_that_restarts_takes_its_group_with_it() -> None:
    town = Town(leader_worker_set(replicas=2, size=3), nodes=1)
    before = town.uids()
    town.restart("serve-1-2")
    town.run()
    after = town.uids()
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] == before[name]} == {"serve-0", "serve-0-1", "serve-0-2"}
    assert town.told("RecreateGroup") == ["Worker pod serve-1-2 failed, deleted leader pod serve-1 to recreate group 1"]
    assert town.conditions()["Available"] == "True"


@pytest.mark.parametrize("pod", ["serve-0", "serve-0-1"])
def test_a_pod_that_is_deleted_takes_its_group_with_it(pod: str) -> None:
    town = Town(leader_worker_set(replicas=1, size=3), nodes=1)
    before = set(town.uids().values())
    town.delete("Pod", pod)
    town.run()
    assert not before & set(town.uids().values())
    assert town.conditions()["Available"] == "True"


def test_a_worker_that_was_replaced_unseen_takes_its_group_with_it() -> None:
    town = Town(leader_worker_set(replicas=1, size=2), nodes=1)
    before = town.uids()
    town.delete("Pod", "serve-0-1", grace=0)
    town.run()
    assert not set(before.values()) & set(town.uids().values())


@pytest.mark.parametrize("policy", ["None", "Default"])
def test_without_a_restart_policy_only_the_pod_is_replaced(policy: str) -> None:
    town = Town(leader_worker_set(replicas=1, size=3, template={"restartPolicy": policy}), nodes=1)
    before = town.uids()
    town.restart("serve-0-1")
    town.delete("Pod", "serve-0-2")
    town.run()
    after = town.uids()
    assert {name for name in after if after[name] != before[name]} == {"serve-0-2"}


def test_the_leader_comes_first_if_so_asked() -> None:
    lws = leader_worker_set(replicas=1, startupPolicy="LeaderReady", pod={"nodeSelector": {"gpu": "yes"}})
    town = Town(lws)
    assert town.pods() == ["serve-0"]
    town.create(node("n0", labels={"gpu": "yes"}))
    town.run()
    assert town.pods() == ["serve-0", "serve-0-1"]
    assert town.conditions()["Available"] == "True"


def test_what_is_deleted_is_made_again() -> None:
    town = Town(leader_worker_set(replicas=1, template={"restartPolicy": "None"}), nodes=1)
    town.delete("Service", "serve")
    town.delete("StatefulSet", "serve-0")
    town.run()
    assert sorted(town.all("Service")) == ["serve"]
    assert sorted(town.all("StatefulSet")) == ["serve", "serve-0"]
    town.delete("StatefulSet", "serve")
    town.run()
    assert sorted(town.all("StatefulSet")) == ["serve", "serve-0"]
    assert town.conditions()["Available"] == "True"


def test_a_revision_that_got_lost_is_written_again_and_rolls_nothing() -> None:
    town = Town(leader_worker_set(replicas=1), nodes=1)
    before = town.uids()
    (name,) = [name for name in town.all("ControllerRevision") if name.endswith("-1") and name.count("-") == 2]
    town.delete("ControllerRevision", name)
    town.run()
    assert name in town.all("ControllerRevision")
    assert town.uids() == before


def test_deleting_a_set_deletes_everything() -> None:
    town = Town(leader_worker_set(), nodes=1)
    for propagation in ("Background", "Foreground"):
        town.delete(KIND, "serve", propagation=propagation)
        town.run()
        for kind in ("Pod", "StatefulSet", "Service", "ControllerRevision"):
            kept = {} if kind != "Service" else {name for name in town.all(kind) if name == "kubernetes"}
            assert set(town.all(kind)) == set(kept), propagation
        town.create(leader_worker_set())
        town.run()


def test_claims_are_made_for_leaders_and_workers() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    mount = [{"name": "data", "mountPath": "/data"}]
    pod = {"containers": [{"name": "main", "image": "a:1", "volumeMounts": mount}]}
    town = Town(leader_worker_set(replicas=1, template={"volumeClaimTemplates": [claim]}, pod=pod), nodes=1)
    assert sorted(town.all("PersistentVolumeClaim")) == ["data-serve-0", "data-serve-0-1"]
    assert town.conditions()["Available"] == "True"
    town.new_image()
    town.run()
    assert set(town.images().values()) == {"2"}, "claims that stay the same do not stand in the way"


def test_a_template_that_the_api_refuses_is_told() -> None:
    town = Town(leader_worker_set(pod={"restartPolicy": "Never"}), nodes=1)
    assert town.pods() == []
    (said,) = town.told("FailedCreate")
    assert said.startswith("Failed to create leader statefulset serve: ")
    assert "restartPolicy" in said


def racks(*names: str, of: int = 3) -> list[Object]:
    return [node(f"{name}{number}", cpu="1", labels={RACK: name}) for name in names for number in range(of)]


def rack_of(town: Town, pod: str) -> str:
    found: str = town.get("Node", town.placed()[pod])["metadata"]["labels"][RACK]
    return found


def test_exclusive_placement_gives_every_group_a_domain() -> None:
    town = Town(
        leader_worker_set(replicas=2, size=3, cpu="700m", annotations={api.EXCLUSIVE_TOPOLOGY: RACK}),
        *racks("a", "b", "c"),
    )
    used = [{rack_of(town, pod) for pod in town.pods() if pod.startswith(f"serve-{group}")} for group in (0, 1)]
    assert [len(each) for each in used] == [1, 1]
    assert used[0] != used[1]
    assert town.conditions()["Available"] == "True"
    selector = town.get("StatefulSet", "serve-0")["spec"]["template"]["spec"]["nodeSelector"]
    assert selector == {RACK: rack_of(town, "serve-0")}


def test_with_exclusive_placement_workers_wait_until_their_leader_has_a_node() -> None:
    town = Town(leader_worker_set(replicas=2, size=2, annotations={api.EXCLUSIVE_TOPOLOGY: RACK}), *racks("a"))
    assert town.pods() == ["serve-0", "serve-0-1", "serve-1"]
    assert sorted(town.all("StatefulSet")) == ["serve", "serve-0"]
    town.create(node("b0", labels={RACK: "b"}))
    town.run()
    assert town.pods() == ["serve-0", "serve-0-1", "serve-1", "serve-1-1"]


def test_a_node_without_the_label_of_the_domain_is_told() -> None:
    lws = leader_worker_set(replicas=1, annotations={api.EXCLUSIVE_TOPOLOGY: RACK}, pod={"nodeName": "n0"})
    town = Town(lws, nodes=1)
    assert town.told("FailedCreate") == [
        f"Failed to create worker statefulset for leader pod serve-0: node n0 has no label {RACK}"
    ]
    town.patch("Node", "n0", {"metadata": {"labels": {RACK: "a"}}})
    town.run()
    assert town.pods() == ["serve-0", "serve-0-1"]


def own_nodes(*leaders: str, of: int = 3) -> list[Object]:
    """A node group for each leader: labelled and tainted with its name."""
    return [
        node(f"{name}-n{number}", cpu="1", labels={KEY: name}, taints=[f"{KEY}={name}:NoSchedule"])
        for name in leaders
        for number in range(of)
    ]


@pytest.mark.parametrize("exclusive", [False, True])
def test_leader_and_workers_of_each_replica_land_in_their_own_group(exclusive: bool) -> None:
    """Size 2 and node groups of 3: a second leader would fit into the first group, and its worker could not follow."""
    notes = {api.EXCLUSIVE_TOPOLOGY: KEY} if exclusive else {}
    town = Town(
        leader_worker_set(replicas=1, size=2, cpu="700m", unique=KEY, annotations=notes),
        *own_nodes("serve-0"),
    )
    town.change({"replicas": 2})
    town.run()
    assert set(town.placed()) == {"serve-0", "serve-0-1"}, "its nodes are not there yet"
    for obj in own_nodes("serve-1"):
        town.create(obj)
    town.run()
    assert {pod: name.rpartition("-")[0] for pod, name in town.placed().items()} == {
        "serve-0": "serve-0", "serve-0-1": "serve-0", "serve-1": "serve-1", "serve-1-1": "serve-1",
    }  # fmt: skip
    assert town.conditions()["Available"] == "True"


def test_a_new_key_rolls_and_groups_below_the_partition_keep_the_old_one() -> None:
    town = Town(leader_worker_set(replicas=2, size=2, unique="a/b", rolling={"partition": 1, "maxUnavailable": 2}))
    policy = {"replicaUniqueNodeSelector": "c/d", "replicaUniqueToleration": None}
    town.change({"leaderWorkerTemplate": {"schedulingPolicy": policy}})
    town.run()
    assert town.get("Pod", "serve-0-1")["spec"]["nodeSelector"] == {"a/b": "serve-0"}
    assert town.get("Pod", "serve-1")["spec"]["nodeSelector"] == {"c/d": "serve-1"}


def test_groups_of_a_surge_ask_for_nodes_of_their_own() -> None:
    town = Town(
        leader_worker_set(replicas=1, size=1, unique=KEY, rolling={"maxSurge": 1, "maxUnavailable": 0}),
        *own_nodes("serve-0", of=1),
    )
    town.new_image()
    town.run()
    assert town.get("Pod", "serve-1")["spec"]["nodeSelector"] == {KEY: "serve-1"}
    assert town.images()["serve-0"] == "1", "it waits for the surge"


def test_an_effect_that_there_is_not_is_refused_and_nothing_is_made() -> None:
    town = Town(nodes=1)
    policy = {"schedulingPolicy": {"replicaUniqueToleration": {"key": KEY, "effect": "Evict"}}}
    with pytest.raises(ApiError) as refused:
        town.create(leader_worker_set(template=policy))
    assert "spec.leaderWorkerTemplate.schedulingPolicy.replicaUniqueToleration.effect" in str(refused.value)
    assert town.all("StatefulSet") == {}
