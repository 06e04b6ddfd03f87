"""Deployments and ReplicaSets: rolled out, scaled, paused, taken back, replaced at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.testing.workloads import deployment, replica_set, replication_controller, template
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def wait_for_rollout(town: Town, name: str, replicas: int, *, kind: str = "Deployment") -> None:
    """Until every replica is of the newest template and ready, and no other pod is left."""

    def is_done() -> bool:
        whole = town.get(kind, name)
        status = whole.get("status") or {}
        told = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")]
        seen = status.get("observedGeneration") == whole["metadata"]["generation"]
        return seen and told == [replicas] * 4 and len(town.pods()) == replicas

    town.until(is_done, f"{replicas} new replicas of {name}, and no others")


def roll(town: Town, name: str, version: int, **spec: Any) -> None:
    town.patch("Deployment", name, {"spec": {"template": template(name, version=version), **spec}})


def a_deployment_rolls_out_and_is_scaled(town: Town) -> Scenes:
    town.create(deployment("web", 3))
    wait_for_rollout(town, "web", 3)
    yield None
    town.scale("Deployment", "web", 5)
    wait_for_rollout(town, "web", 5)
    yield None
    town.scale("Deployment", "web", 0)
    town.until(lambda: not town.pods(), "no pods")
    yield None


def a_deployment_is_rolled_over_and_back(town: Town) -> Scenes:
    town.create(deployment("web", 3))
    wait_for_rollout(town, "web", 3)
    roll(town, "web", 2)
    wait_for_rollout(town, "web", 3)
    yield None
    # What `kubectl rollout undo` does: the template of before is the newest revision again.
    roll(town, "web", 1)
    wait_for_rollout(town, "web", 3)
    yield None


def a_deployment_that_is_paused_waits(town: Town) -> Scenes:
    town.create(deployment("web", 2))
    wait_for_rollout(town, "web", 2)
    town.patch("Deployment", "web", {"spec": {"paused": True}})
    roll(town, "web", 2)
    town.scale("Deployment", "web", 3)
    town.until(lambda: len(town.pods(phase="Running")) == 3, "three pods of the old template")
    yield None
    town.patch("Deployment", "web", {"spec": {"paused": False}})
    wait_for_rollout(town, "web", 3)
    yield None


def a_deployment_that_recreates_has_no_two_versions(town: Town) -> Scenes:
    town.create(deployment("web", 3, strategy={"type": "Recreate"}))
    wait_for_rollout(town, "web", 3)
    roll(town, "web", 2)
    wait_for_rollout(town, "web", 3)
    yield None


def a_rollout_that_never_gets_ready_stops_at_its_bounds(town: Town) -> Scenes:
    """Nodes that nobody has: the new pods wait, and the old ones stay as far as maxUnavailable says."""
    bounds = {"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}}
    town.create(deployment("web", 5, strategy=bounds, progressDeadlineSeconds=600))
    wait_for_rollout(town, "web", 5)
    nowhere = template("web", version=2, nodeSelector={"nowhere": "true"})
    town.patch("Deployment", "web", {"spec": {"template": nowhere}})
    town.until(lambda: town.status("Deployment", "web").get("updatedReplicas") == 3, "three new pods")
    town.until(lambda: len(town.pods(phase="Running")) == 4, "four old pods")
    yield None
    # Scaled in the middle of a rollout, both sets grow in proportion.
    town.scale("Deployment", "web", 10)
    town.until(lambda: town.status("Deployment", "web").get("replicas") == 12, "twelve pods")
    yield None


def a_rollout_in_percent(town: Town) -> Scenes:
    bounds = {"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "25%"}}
    town.create(deployment("web", 4, strategy=bounds, minReadySeconds=1))
    wait_for_rollout(town, "web", 4)
    roll(town, "web", 2)
    wait_for_rollout(town, "web", 4)
    yield None


def a_rollout_that_takes_too_long_says_so(town: Town) -> Scenes:
    nowhere = template("web", nodeSelector={"nowhere": "true"})
    town.create(deployment("web", 1, pods=nowhere, progressDeadlineSeconds=2))

    def gave_up() -> bool:
        conditions = town.status("Deployment", "web").get("conditions") or ()
        return any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)

    town.until(gave_up, "ProgressDeadlineExceeded")
    yield None


def old_revisions_are_kept_up_to_a_limit(town: Town) -> Scenes:
    town.create(deployment("web", 1, revisionHistoryLimit=1))
    wait_for_rollout(town, "web", 1)
    for version in (2, 3):
        roll(town, "web", version)
        wait_for_rollout(town, "web", 1)
    town.until(lambda: len(town.all("ReplicaSet")) == 2, "two revisions")
    yield None


def a_replica_set_replaces_adopts_and_lets_go(town: Town) -> Scenes:
    town.create(replica_set("rs", 3))
    yield from _replaces_adopts_and_lets_go(town, "ReplicaSet")


def a_replication_controller_replaces_adopts_and_lets_go(town: Town) -> Scenes:
    town.create(replication_controller("rs", 3))
    yield from _replaces_adopts_and_lets_go(town, "ReplicationController")


def _replaces_adopts_and_lets_go(town: Town, kind: str) -> Scenes:
    town.until(lambda: town.status(kind, "rs").get("availableReplicas") == 3, "three replicas")
    yield None
    town.delete_a_pod()
    town.until(lambda: len(town.pods(phase="Running")) == 3, "a new one")
    # One that loses its label is let go, and replaced.
    name = town.pods()[0]["metadata"]["name"]
    town.patch("Pod", name, {"metadata": {"labels": {"app": "other"}}})
    town.until(lambda: len(town.pods(phase="Running")) == 4, "three and the one that left")
    yield None
    # One that gets it back is adopted, and is one too many.
    town.patch("Pod", name, {"metadata": {"labels": {"app": "rs"}}})
    town.until(lambda: len(town.pods()) == 3, "three again")
    town.scale(kind, "rs", 1)
    town.until(lambda: len(town.pods()) == 1, "one")
    yield None


STORIES = (
    a_deployment_rolls_out_and_is_scaled,
    a_deployment_is_rolled_over_and_back,
    a_deployment_that_is_paused_waits,
    a_deployment_that_recreates_has_no_two_versions,
    a_rollout_that_never_gets_ready_stops_at_its_bounds,
    a_rollout_in_percent,
    a_rollout_that_takes_too_long_says_so,
    old_revisions_are_kept_up_to_a_limit,
    a_replica_set_replaces_adopts_and_lets_go,
    a_replication_controller_replaces_adopts_and_lets_go,
)
