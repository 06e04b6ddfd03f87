"""What belongs to a LeaderWorkerSet: what is left behind is taken up again, and what is somebody else's is let be."""

from __future__ import annotations

from typing import Any

from mooring.features.groups.api import KIND, REVISION
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import CONTROLLERS, Town


def owner_of(obj: Object) -> str:
    (owner,) = obj["metadata"]["ownerReferences"]
    return str(owner["uid"])


def test_workers_whose_stateful_set_is_deleted_without_them_stay() -> None:
    town = Town(leader_worker_set(replicas=2, size=3), nodes=1)
    before, old = town.uids(), town.get("StatefulSet", "serve-0")
    town.delete("StatefulSet", "serve-0", propagation="Orphan")
    town.run()
    made = town.get("StatefulSet", "serve-0")
    assert made["metadata"]["uid"] != old["metadata"]["uid"]
    assert town.uids() == before
    assert {owner_of(town.get("Pod", f"serve-0-{number}")) for number in (1, 2)} == {made["metadata"]["uid"]}
    assert town.told("RecreateGroup") == []
    assert town.conditions()["Available"] == "True"


def test_leaders_whose_stateful_set_is_deleted_without_them_stay() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    before = town.uids()
    town.delete("StatefulSet", "serve", propagation="Orphan")
    town.run()
    assert town.uids() == before
    assert town.conditions()["Available"] == "True"


def test_groups_whose_set_is_deleted_without_them_are_those_of_the_next_one_of_its_name() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    before, revision_hash = town.uids(), town.get("StatefulSet")["metadata"]["labels"][REVISION]
    town.delete(KIND, "serve", propagation="Orphan")
    town.run()
    assert town.uids() == before
    assert KIND not in {owner["kind"] for owner in town.get("StatefulSet")["metadata"].get("ownerReferences", [])}
    town.create(leader_worker_set(replicas=2, size=2))
    town.run()
    assert town.uids() == before
    assert owner_of(town.get("StatefulSet")) == town.get(KIND)["metadata"]["uid"]
    kept = [obj for obj in town.all("ControllerRevision").values() if "leaderWorkerTemplate" in obj["data"]["spec"]]
    assert [obj["metadata"]["labels"][REVISION] for obj in kept] == [revision_hash]
    assert owner_of(kept[0]) == town.get(KIND)["metadata"]["uid"]
    assert town.conditions()["Available"] == "True"


def test_groups_of_a_set_that_comes_back_with_another_template_are_updated() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    town.delete(KIND, "serve", propagation="Orphan")
    town.run()
    town.create(leader_worker_set(replicas=2, size=2, image="registry.example.com/serve:2"))
    town.run()
    assert set(town.images().values()) == {"2"}
    assert town.conditions()["Available"] == "True"


def test_workers_whose_leader_is_deleted_without_them_are_those_of_the_next_leader() -> None:
    town = Town(leader_worker_set(replicas=1, size=2, template={"restartPolicy": "None"}), nodes=1)
    before = town.uids()
    town.delete("Pod", "serve-0", propagation="Orphan")
    town.run()
    assert town.uids()["serve-0-1"] == before["serve-0-1"]
    assert town.uids()["serve-0"] != before["serve-0"]
    assert owner_of(town.get("StatefulSet", "serve-0")) == town.uids()["serve-0"]
    assert town.conditions()["Available"] == "True"


def other_stateful_set(name: str = "serve", **metadata: Any) -> Object:
    labels = {"app": "other"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}},
        },
    }


def conflict(town: Town) -> Object:
    (found,) = [each for each in town.status()["conditions"] if each["type"] == "Conflicted"]
    return {field: found[field] for field in ("status", "reason", "message")}


def test_a_stateful_set_of_somebody_else_is_left_alone_and_the_set_says_so() -> None:
    town = Town(other_stateful_set(), leader_worker_set(), nodes=1)
    text = "StatefulSet serve exists and has no controller; delete it, or choose another name for this set"
    assert town.get("StatefulSet")["spec"]["selector"] == {"matchLabels": {"app": "other"}}
    assert conflict(town) == {"status": "True", "reason": "StatefulSetNotOwned", "message": text}
    assert town.told("FailedCreate") == [text]
    assert "Available" not in town.conditions()
    town.delete("StatefulSet", "serve")
    town.run()
    assert conflict(town)["status"] == "False"
    assert town.conditions()["Available"] == "True"


def test_the_owner_of_the_stateful_set_in_the_way_is_named() -> None:
    owner = {"apiVersion": "example.com/v1", "kind": "Database", "name": "big", "uid": "u", "controller": True}
    town = Town(other_stateful_set(ownerReferences=[owner]), leader_worker_set(), nodes=1, run=False)
    town.run(1)
    assert "is controlled by Database big" in conflict(town)["message"]


def test_a_stateful_set_of_somebody_else_in_the_place_of_workers_is_left_alone_and_the_set_says_so() -> None:
    town = Town(other_stateful_set("serve-1"), leader_worker_set(replicas=2, size=2), nodes=1)
    text = "StatefulSet serve-1 exists and has no controller; delete it, or choose another name for this set"
    assert town.get("StatefulSet", "serve-1")["spec"]["selector"] == {"matchLabels": {"app": "other"}}
    assert conflict(town) == {"status": "True", "reason": "StatefulSetNotOwned", "message": text}
    assert town.told("FailedCreate") == [text]
    assert town.status()["readyReplicas"] == 1
    assert town.conditions()["Progressing"] == "True"
    town.delete("StatefulSet", "serve-1")
    town.run()
    assert conflict(town)["status"] == "False"
    assert town.conditions()["Available"] == "True"


def test_several_stateful_sets_in_the_way_are_counted() -> None:
    town = Town(*map(other_stateful_set, ("serve-0", "serve-1")), leader_worker_set(replicas=2, size=2), nodes=1)
    assert "StatefulSet serve-0 exists and has no controller (1 more like it);" in conflict(town)["message"]


def test_workers_of_an_earlier_leader_are_no_conflict_before_they_are_collected() -> None:
    without_collector = [each for each in CONTROLLERS if each.name != "garbage-collector"]
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1, controllers=without_collector)
    old = town.uids()["serve-0"]
    town.delete("Pod", "serve-0")
    town.run()
    assert owner_of(town.get("StatefulSet", "serve-0")) == old != town.uids()["serve-0"]
    assert "Conflicted" not in {each["type"] for each in town.status()["conditions"]}


def unsorted_revision(town: Town, name: str, **changed: Any) -> Object:
    """The revision of the set as an early version of Mooring wrote it, in the place of the sorted one."""
    (made,) = own_revisions(town)
    town.delete("ControllerRevision", made["metadata"]["name"])
    meta = {field: made["metadata"][field] for field in ("labels", "ownerReferences", "namespace")}
    spec = dict(reversed(list(made["data"]["spec"].items())))
    return town.create({**made, "metadata": {**meta, "name": name, **changed}, "data": {"spec": spec}})


def own_revisions(town: Town) -> list[Object]:
    return [obj for obj in town.all("ControllerRevision").values() if "leaderWorkerTemplate" in obj["data"]["spec"]]


def test_a_revision_with_unsorted_keys_is_replaced_by_a_sorted_copy() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    before, old = town.uids(), unsorted_revision(town, "serve-old")
    town.run()
    (copy,) = own_revisions(town)
    assert list(copy["data"]["spec"]) == ["leaderWorkerTemplate", "networkConfig"] == list(old["data"]["spec"])[::-1]
    assert (copy["data"], copy["revision"]) == (old["data"], old["revision"])
    assert copy["metadata"]["labels"] == old["metadata"]["labels"]
    assert owner_of(copy) == town.get(KIND)["metadata"]["uid"]
    assert town.uids() == before


def test_an_orphaned_revision_with_unsorted_keys_is_adopted_as_a_sorted_copy() -> None:
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    before = town.uids()
    unsorted_revision(town, "serve-old", ownerReferences=[])
    town.run()
    (copy,) = own_revisions(town)
    assert (copy["metadata"]["name"] != "serve-old", owner_of(copy)) == (True, town.get(KIND)["metadata"]["uid"])
    assert town.uids() == before


def test_a_set_that_is_being_orphaned_lets_a_revision_with_unsorted_keys_go_as_a_sorted_copy() -> None:
    """A real server refuses to take the owner off the revision, so the garbage collector would try for ever."""
    without_collector = [each for each in CONTROLLERS if each.name != "garbage-collector"]
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1, controllers=without_collector)
    unsorted_revision(town, "serve-old")
    town.delete(KIND, "serve", propagation="Orphan")
    town.run()
    (copy,) = own_revisions(town)
    assert copy["metadata"]["name"] != "serve-old"
    assert "ownerReferences" not in copy["metadata"]


def events(town: Town, reason: str) -> list[Object]:
    return [event for event in town.all("Event").values() if event["reason"] == reason]


def test_a_refused_write_is_told_once_however_often_it_is_tried() -> None:
    town = Town(leader_worker_set(replicas=2), nodes=1)
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    # The claims of a StatefulSet cannot be changed.
    town.change({"leaderWorkerTemplate": {"volumeClaimTemplates": [claim]}})
    town.run()
    for number in range(5):
        town.patch("Pod", "serve-0", {"metadata": {"labels": {"turn": str(number)}}})
        town.change({"startupPolicy": "LeaderReady" if number % 2 else "LeaderCreated"})
        town.run(600)
    (told,) = events(town, "FailedUpdate")
    assert told["count"] == 1
    assert told["action"] == "Update"
    assert "volumeClaimTemplates" in told["message"] or "updates to statefulset spec" in told["message"]


def test_events_say_what_was_done() -> None:
    town = Town(leader_worker_set(replicas=1), nodes=1)
    town.restart("serve-0-1")
    town.run()
    actions = {reason: {event["action"] for event in events(town, reason)} for reason in ("CreatingRevision",)}
    assert actions == {"CreatingRevision": {"Create"}}
    assert {event["action"] for event in events(town, "RecreateGroup")} == {"Delete"}
    assert {event["action"] for event in events(town, "AllGroupsReady")} == {"Update"}
