"""StatefulSets: in order and all at once, by partition, from another ordinal on, with claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.testing.workloads import claim_template, stateful_set, template, volume
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def wait_for(town: Town, name: str, *, ready: int, updated: int | None = None) -> None:
    def is_so() -> bool:
        whole = town.get("StatefulSet", name)
        status = whole.get("status") or {}
        seen = status.get("observedGeneration") == whole["metadata"]["generation"]
        right = updated is None or status.get("updatedReplicas", 0) == updated
        told = status.get("readyReplicas", 0), status.get("replicas"), len(town.pods())
        return seen and right and told == (ready, ready, ready)

    town.until(is_so, f"{ready} ready pods of {name}, {updated} of them updated")


def roll(town: Town, name: str, version: int, **spec: Any) -> None:
    town.patch("StatefulSet", name, {"spec": {"template": template(name, version=version), **spec}})


def a_stateful_set_starts_in_order_and_is_scaled(town: Town) -> Scenes:
    town.create(stateful_set("db", 3))
    wait_for(town, "db", ready=3)
    yield None
    town.scale("StatefulSet", "db", 1)
    wait_for(town, "db", ready=1)
    yield None
    town.delete_a_pod()
    wait_for(town, "db", ready=1)
    yield None


def a_stateful_set_rolls_over(town: Town) -> Scenes:
    town.create(stateful_set("db", 2, podManagementPolicy="Parallel"))
    wait_for(town, "db", ready=2)
    roll(town, "db", 2)
    wait_for(town, "db", ready=2, updated=2)
    yield None
    roll(town, "db", 1)
    wait_for(town, "db", ready=2, updated=2)
    yield None


def a_stateful_set_rolls_over_down_to_its_partition(town: Town) -> Scenes:
    partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    town.create(stateful_set("db", 3, podManagementPolicy="Parallel", updateStrategy=partition))
    wait_for(town, "db", ready=3)
    roll(town, "db", 2)
    wait_for(town, "db", ready=3, updated=1)
    yield None
    town.patch("StatefulSet", "db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    wait_for(town, "db", ready=3, updated=3)
    yield None


def a_stateful_set_whose_pods_are_updated_when_deleted(town: Town) -> Scenes:
    town.create(stateful_set("db", 2, podManagementPolicy="Parallel", updateStrategy={"type": "OnDelete"}))
    wait_for(town, "db", ready=2)
    roll(town, "db", 2)
    town.delete("Pod", "db-1")
    wait_for(town, "db", ready=2, updated=1)
    yield None


def a_stateful_set_with_a_bound_on_what_is_unavailable(town: Town) -> Scenes:
    two = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    town.create(stateful_set("db", 4, podManagementPolicy="Parallel", updateStrategy=two))
    wait_for(town, "db", ready=4)
    roll(town, "db", 2)
    wait_for(town, "db", ready=4, updated=4)
    yield None


def a_stateful_set_that_starts_at_another_ordinal(town: Town) -> Scenes:
    town.create(stateful_set("db", 2, ordinals={"start": 5}, podManagementPolicy="Parallel"))
    wait_for(town, "db", ready=2)
    yield None
    town.patch("StatefulSet", "db", {"spec": {"ordinals": {"start": 6}}})
    town.until(lambda: {pod["metadata"]["name"] for pod in town.pods()} == {"db-6", "db-7"}, "db-6 and db-7")
    wait_for(town, "db", ready=2)
    yield None


def a_stateful_set_with_claims(town: Town) -> Scenes:
    """Claims outlive a set that is scaled down, unless it says otherwise, and go with one that says so."""
    kept = f"kept-{town.namespace}"[:40].rstrip("-")
    for number in range(3):
        answer = town.api.post("/api/v1/persistentvolumes", volume(f"e2e-{number}", storage_class=kept))
        assert answer.code == 201, answer.body
    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    claims = [claim_template("data", storage_class=kept)]
    town.create(stateful_set("db", 2, volumeClaimTemplates=claims, persistentVolumeClaimRetentionPolicy=policy))
    wait_for(town, "db", ready=2)
    yield None
    town.scale("StatefulSet", "db", 1)
    wait_for(town, "db", ready=1)
    yield None
    town.delete("StatefulSet", "db")
    town.until(lambda: not town.pods(), "no pods")
    town.until(lambda: not town.get("PersistentVolumeClaim", "data-db-0"), "no claim of what ran to the end")
    yield None


STORIES = (
    a_stateful_set_starts_in_order_and_is_scaled,
    a_stateful_set_rolls_over,
    a_stateful_set_rolls_over_down_to_its_partition,
    a_stateful_set_whose_pods_are_updated_when_deleted,
    a_stateful_set_with_a_bound_on_what_is_unavailable,
    a_stateful_set_that_starts_at_another_ordinal,
    a_stateful_set_with_claims,
)
