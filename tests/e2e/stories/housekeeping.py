"""Garbage collection in its three modes, namespaces that go, budgets and the evictions that they refuse."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.testing.workloads import budget, deployment, job, replica_set, service, stateful_set
from tests.e2e.stories.deployments import wait_for_rollout
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def wait_for_replicas(town: Town, name: str, count: int) -> None:
    town.until(lambda: town.status("ReplicaSet", name).get("availableReplicas", 0) == count, f"{count} of {name}")


def what_an_owner_leaves_goes_in_the_background(town: Town) -> Scenes:
    town.create(deployment("web", 2))
    wait_for_rollout(town, "web", 2)
    town.delete("Deployment", "web", "Background")
    town.until(lambda: not town.get("Deployment", "web"), "no deployment")
    town.until(lambda: not town.all("ReplicaSet") and not town.pods(), "nothing")
    yield None


def an_owner_waits_for_what_it_owns_in_the_foreground(town: Town) -> Scenes:
    town.create(replica_set("rs", 2))
    wait_for_replicas(town, "rs", 2)
    for pod in town.pods():
        town.patch("Pod", pod["metadata"]["name"], {"metadata": {"finalizers": ["mooring.test/hold"]}})
    town.delete("ReplicaSet", "rs", "Foreground")
    town.until(lambda: all("deletionTimestamp" in pod["metadata"] for pod in town.pods()), "pods that go")
    town.until(lambda: all(pod["status"]["phase"] != "Running" for pod in town.pods()), "pods that have ended")
    yield None
    for pod in town.pods():
        town.patch(
            "Pod", pod["metadata"]["name"], {"metadata": {"$deleteFromPrimitiveList/finalizers": ["mooring.test/hold"]}}
        )
    town.until(lambda: not town.get("ReplicaSet", "rs") and not town.pods(), "nothing")
    yield None


def what_is_orphaned_stays_and_is_adopted_again(town: Town) -> Scenes:
    town.create(replica_set("rs", 2))
    wait_for_replicas(town, "rs", 2)
    town.delete("ReplicaSet", "rs", "Orphan")
    town.until(lambda: not town.get("ReplicaSet", "rs"), "no set")
    town.until(lambda: not any(pod["metadata"].get("ownerReferences") for pod in town.pods()), "orphans")
    yield None
    town.create(replica_set("rs", 2))
    wait_for_replicas(town, "rs", 2)
    yield None


def what_depends_on_somebody_who_is_gone_goes(town: Town) -> Scenes:
    town.create({"kind": "ConfigMap", "metadata": {"name": "owner"}})
    uid = town.get("ConfigMap", "owner")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    gone = {**owner, "name": "absent", "uid": "5f0f0c3e-0000-4000-8000-000000000000"}
    town.create({"kind": "ConfigMap", "metadata": {"name": "child", "ownerReferences": [owner]}})
    town.create({"kind": "ConfigMap", "metadata": {"name": "half", "ownerReferences": [owner, gone]}})
    town.create({"kind": "ConfigMap", "metadata": {"name": "lost", "ownerReferences": [gone]}})
    town.until(lambda: not town.get("ConfigMap", "lost"), "no child of nobody")
    half = "no owner that is gone"
    town.until(lambda: len(town.get("ConfigMap", "half")["metadata"]["ownerReferences"]) == 1, half)
    yield None
    town.delete("ConfigMap", "owner")
    town.until(lambda: not town.all("ConfigMap"), "nothing")
    yield None


def a_namespace_goes_with_all_that_is_in_it(town: Town) -> Scenes:
    town.create(deployment("web", 2), stateful_set("db", 1), job("work"), service("web", "web"))
    town.create(budget("web", "web", minAvailable=1))
    town.until(lambda: len(town.pods(phase="Running")) >= 3, "pods")
    path = f"/api/v1/namespaces/{town.namespace}"
    assert town.api.delete(path).code == 200
    town.until(lambda: town.api.get(path).code == 404, "no namespace")
    yield None


def a_budget_counts_what_may_go(town: Town) -> Scenes:
    town.create(deployment("web", 3), budget("web", "web", minAvailable=2))
    wait_for_rollout(town, "web", 3)
    town.until(lambda: town.status("PodDisruptionBudget", "web").get("disruptionsAllowed") == 1, "one that may go")
    yield None
    town.scale("Deployment", "web", 2)
    wait_for_rollout(town, "web", 2)
    town.until(lambda: town.status("PodDisruptionBudget", "web").get("disruptionsAllowed") == 0, "none")
    answer = town.evict(town.pods()[0]["metadata"]["name"])
    assert (answer.code, answer.body["reason"]) == (429, "TooManyRequests"), answer.body
    assert answer.body["details"]["causes"] == [
        {"reason": "DisruptionBudget", "message": "The disruption budget web needs 2 healthy pods and has 2 currently"}
    ]
    yield None
    town.scale("Deployment", "web", 3)
    wait_for_rollout(town, "web", 3)
    town.until(lambda: town.status("PodDisruptionBudget", "web").get("disruptionsAllowed") == 1, "one that may go")
    pod = town.pods()[0]
    assert town.evict(pod["metadata"]["name"]).code == 201
    town.until(lambda: town.is_gone(pod), "it is gone")
    wait_for_rollout(town, "web", 3)
    town.until(lambda: not town.status("PodDisruptionBudget", "web").get("disruptedPods"), "the eviction is seen")
    town.until(lambda: town.status("PodDisruptionBudget", "web").get("currentHealthy") == 3, "all are well again")
    yield None


def budgets_in_percent_and_of_what_may_be_missing(town: Town) -> Scenes:
    town.create(stateful_set("db", 3, podManagementPolicy="Parallel"), budget("db", "db", maxUnavailable="34%"))
    town.create(budget("none", "nobody", minAvailable="50%"))
    town.until(lambda: town.status("PodDisruptionBudget", "db").get("currentHealthy") == 3, "three that are well")
    town.until(lambda: town.status("PodDisruptionBudget", "none").get("conditions"), "a budget over nobody")
    yield None


def two_budgets_over_one_pod_refuse(town: Town) -> Scenes:
    town.create(deployment("web", 1), budget("a", "web", maxUnavailable=1), budget("b", "web", maxUnavailable=1))
    wait_for_rollout(town, "web", 1)
    answer = town.evict(town.pods()[0]["metadata"]["name"])
    assert answer.code == 500, answer.body
    yield ("PodDisruptionBudget",)


def a_quota_holds_pods_back_until_it_is_raised(town: Town) -> Scenes:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}
    town.create(quota)
    town.until(lambda: town.status("ResourceQuota", "few").get("used"), "the quota is counted")
    town.create(replica_set("web", 3))
    town.until(lambda: town.status("ReplicaSet", "web").get("availableReplicas") == 2, "two of three")
    town.until(lambda: town.status("ReplicaSet", "web").get("conditions"), "why there are no three")
    # The names of pods that were refused are chance.
    yield ("ReplicaSet",)
    town.patch("ResourceQuota", "few", {"spec": {"hard": {"pods": "3"}}})
    town.until(lambda: town.status("ReplicaSet", "web").get("availableReplicas") == 3, "three")
    yield None
    town.scale("ReplicaSet", "web", 0)
    town.until(lambda: town.status("ResourceQuota", "few")["used"] == {"pods": "0"}, "all of it is free")
    yield None


STORIES = (
    a_quota_holds_pods_back_until_it_is_raised,
    what_an_owner_leaves_goes_in_the_background,
    an_owner_waits_for_what_it_owns_in_the_foreground,
    what_is_orphaned_stays_and_is_adopted_again,
    what_depends_on_somebody_who_is_gone_goes,
    a_namespace_goes_with_all_that_is_in_it,
    a_budget_counts_what_may_go,
    budgets_in_percent_and_of_what_may_be_missing,
    two_budgets_over_one_pod_refuse,
)
