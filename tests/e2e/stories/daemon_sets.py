"""DaemonSets: on every node that they choose and tolerate, rolled over in both manners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.testing.workloads import daemon_set, template
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]

_EVERYWHERE = [{"key": "mooring.test/lost", "operator": "Exists"}]


def wait_for(town: Town, name: str, count: int) -> None:
    """Until there is a ready pod of the newest template on so many nodes, and no other."""

    def is_done() -> bool:
        whole = town.get("DaemonSet", name)
        status = whole.get("status") or {}
        keys = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled")
        told = [status.get(key, 0) for key in (*keys, "numberAvailable")]
        seen = status.get("observedGeneration") == whole["metadata"]["generation"]
        return seen and told == [count] * 5 and len(town.pods()) == count

    town.until(is_done, f"{name} on {count} nodes")


def roll(town: Town, name: str, version: int, **spec: Any) -> None:
    town.patch("DaemonSet", name, {"spec": {"template": template(name, version=version), **spec}})


def a_daemon_set_is_on_every_node_that_it_tolerates(town: Town) -> Scenes:
    town.create(daemon_set("agent"))
    wait_for(town, "agent", 3)
    assert {pod["spec"]["nodeName"] for pod in town.pods()} == {"n1", "n2", "n3"}
    yield None
    town.delete_a_pod()
    wait_for(town, "agent", 3)
    yield None


def a_daemon_set_on_chosen_nodes(town: Town) -> Scenes:
    chosen = template("agent", nodeSelector={"kubernetes.io/hostname": "n1"}, tolerations=_EVERYWHERE)
    town.create(daemon_set("agent", pods=chosen))
    wait_for(town, "agent", 1)
    yield None
    elsewhere = {"metadata": {"labels": {"app": "agent"}}, "spec": {"nodeSelector": {"kubernetes.io/hostname": "n3"}}}
    town.patch("DaemonSet", "agent", {"spec": {"template": elsewhere}})
    town.until(lambda: [pod["spec"].get("nodeName") for pod in town.pods()] == ["n3"], "one on n3")
    wait_for(town, "agent", 1)
    yield None


def a_daemon_set_rolls_over(town: Town) -> Scenes:
    town.create(daemon_set("agent"))
    wait_for(town, "agent", 3)
    roll(town, "agent", 2)
    wait_for(town, "agent", 3)
    yield None
    roll(town, "agent", 1)
    wait_for(town, "agent", 3)
    yield None


def a_daemon_set_that_surges(town: Town) -> Scenes:
    surge = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    town.create(daemon_set("agent", updateStrategy=surge))
    wait_for(town, "agent", 3)
    roll(town, "agent", 2)
    wait_for(town, "agent", 3)
    yield None


def a_daemon_set_whose_pods_are_updated_when_deleted(town: Town) -> Scenes:
    town.create(daemon_set("agent", updateStrategy={"type": "OnDelete"}))
    wait_for(town, "agent", 3)
    roll(town, "agent", 2)
    town.until(lambda: town.status("DaemonSet", "agent").get("updatedNumberScheduled", 0) == 0, "none is updated")
    yield None
    for pod in town.pods():
        town.delete("Pod", pod["metadata"]["name"])
    wait_for(town, "agent", 3)
    yield None


STORIES = (
    a_daemon_set_is_on_every_node_that_it_tolerates,
    a_daemon_set_on_chosen_nodes,
    a_daemon_set_rolls_over,
    a_daemon_set_that_surges,
    a_daemon_set_whose_pods_are_updated_when_deleted,
)
