"""The condition Placeable: how many groups can be scheduled, and what keeps the first that cannot."""

from __future__ import annotations

from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import Town

KEY = "example.com/node-group"


def placeable(town: Town) -> tuple[str, str, str]:
    (found,) = [each for each in town.status()["conditions"] if each["type"] == "Placeable"]
    return found["status"], found["reason"], found["message"]


def test_a_set_that_lands_fits() -> None:
    assert placeable(Town(leader_worker_set(replicas=2), nodes=1)) == ("True", "Fits", "2 of 2 groups can be scheduled")
    assert placeable(Town(leader_worker_set(replicas=1), nodes=1)) == ("True", "Fits", "1 of 1 group can be scheduled")


def test_the_first_group_that_cannot_land_says_why_and_what_would_help() -> None:
    lws = leader_worker_set(replicas=3, pod={"nodeSelector": {"gpu": "h100"}})
    town = Town(lws, node("n0", labels={"gpu": "H100"}))
    assert placeable(town) == (
        "False",
        "Unschedulable",
        "0 of 3 groups can be scheduled; serve-0 cannot: 0/1 nodes are available: 1 node(s) didn't match Pod's node "
        'affinity/selector; what would help: Correct nodeSelector gpu from "h100" to "H100"',
    )
    town.patch("Node", "n0", {"metadata": {"labels": {"gpu": "h100"}}})
    town.run()
    assert placeable(town) == ("True", "Fits", "3 of 3 groups can be scheduled")


def test_a_worker_without_a_node_keeps_its_group_from_landing() -> None:
    town = Town(leader_worker_set(replicas=2, size=2, cpu="900m"), node("n0", cpu="2"), node("n1", cpu="1"))
    status, _, message = placeable(town)
    assert status == "False"
    assert message.startswith("1 of 2 groups can be scheduled; serve-")
    assert "Insufficient cpu" in message
    assert "what would help: " in message


def test_a_replica_whose_nodes_are_not_there_asks_for_them() -> None:
    taint = f"{KEY}=serve-0:NoSchedule"
    town = Town(leader_worker_set(replicas=2, size=1, unique=KEY), node("n0", labels={KEY: "serve-0"}, taints=[taint]))
    assert placeable(town)[2] == (
        "1 of 2 groups can be scheduled; serve-1 cannot: 0/1 nodes are available: 1 node(s) had untolerated taint(s); "
        f"what would help: Add nodes with label {KEY}=serve-1"
    )


def test_a_set_of_no_groups_fits() -> None:
    assert placeable(Town(leader_worker_set(replicas=0), nodes=1)) == ("True", "Fits", "0 of 0 groups can be scheduled")
