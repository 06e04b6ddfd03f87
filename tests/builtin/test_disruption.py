"""PodDisruptionBudgets: how many evictions they allow, and who is asked for that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.disruption import CONTROLLER, reconcile
from mooring.builtin.selections import SELECTIONS
from mooring.kube.objects import Object
from mooring.kube.status import TooManyRequestsError
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision
from mooring.testing import deployment, node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON, view_of
from tests.builtin.town import Town

KEY = Key("default", "web")
LABELS = {"app": "web"}


def budget(status: Object | None = None, selector: Object | None = None, **spec: Any) -> Object:
    chosen = {"matchLabels": LABELS} if selector is None else selector
    metadata = {"name": "web", "namespace": "default", "generation": 1}
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    return {**kind, "metadata": metadata, "spec": {"selector": chosen, **spec}, "status": status or {}}


def member(name: str, *, ready: bool = True, owner: str | None = "ReplicaSet/web-1", deleting: bool = False) -> Object:
    found = pod(name, node="a", labels=LABELS, owner=owner)
    found["status"]["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
    if deleting:
        found["metadata"]["deletionTimestamp"] = timestamp(NOON)
    return found


def members(ready: int, waiting: int = 0, owner: str | None = "ReplicaSet/web-1") -> list[Object]:
    return [member(f"p{n}", ready=n < ready, owner=owner) for n in range(ready + waiting)]


def owner(kind: str, name: str, replicas: int, of: str | None = None) -> Object:
    metadata: Object = {"name": name, "namespace": "default", "uid": name}
    if of is not None:
        above, _, top = of.partition("/")
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": above, "name": top, "uid": top, "controller": True}
        ]
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"replicas": replicas}}


def decide(*objects: Object, now: Any = NOON) -> Decision:
    return reconcile(KEY, view_of(objects, now, folds=(SELECTIONS,)), now)


def told(*objects: Object) -> Object:
    (patch,) = decide(*objects).status
    status: Object = patch.body["status"]  # type: ignore[union-attr]
    return status


def counts(status: Object) -> tuple[int, int, int, int]:
    """Allowed, healthy, desired, expected."""
    names = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    allowed, healthy, desired, expected = (status[name] for name in names)
    return allowed, healthy, desired, expected


NO_CONTROLLERS = 'found no controllers for pod "p0"'
SET_OF_4 = owner("ReplicaSet", "web-1", 4)


@pytest.mark.parametrize(
    ("why", "spec", "pods", "owners", "expected"),
    [
        ("a number to keep needs no owner", {"minAvailable": 2}, members(3, owner=None), [], (1, 3, 2, 3)),
        ("fewer than that allow nothing", {"minAvailable": 2}, members(1), [], (0, 1, 2, 1)),
        ("nobody at all allows nothing", {"minAvailable": 0}, [], [], (0, 0, 0, 0)),
        ("keeping none allows all", {"minAvailable": 0}, members(2), [], (2, 2, 0, 2)),
        ("a share is of what the owner wants", {"minAvailable": "50%"}, members(3), [SET_OF_4], (1, 3, 2, 4)),
        ("and is rounded up", {"minAvailable": "51%"}, members(3), [SET_OF_4], (0, 3, 3, 4)),
        ("as many may be missing", {"maxUnavailable": 1}, members(4), [SET_OF_4], (1, 4, 3, 4)),
        ("a missing one counts against it", {"maxUnavailable": 1}, members(3, 1), [SET_OF_4], (0, 3, 3, 4)),
        ("a share of missing ones is rounded up", {"maxUnavailable": "30%"}, members(4), [SET_OF_4], (2, 4, 2, 4)),
        ("more than there are is all", {"maxUnavailable": 9}, members(4), [SET_OF_4], (4, 4, 0, 4)),
        ("neither means nothing is kept and nothing allowed", {}, members(2), [SET_OF_4], (0, 2, 0, 0)),
        (
            "pods without an owner are left out of the expectation",
            {"maxUnavailable": 1},
            [*members(2), member("stray", owner=None)],
            [owner("ReplicaSet", "web-1", 2)],
            (2, 3, 1, 2),
        ),
    ],
)
def test_what_is_allowed(
    why: str, spec: Object, pods: list[Object], owners: list[Object], expected: tuple[int, int, int, int]
) -> None:
    assert counts(told(budget(**spec), *pods, *owners)) == expected, why


@pytest.mark.parametrize(
    ("owned", "owners", "expected"),
    [
        ("ReplicaSet/web-1", [owner("ReplicaSet", "web-1", 7)], 7),
        ("StatefulSet/web", [owner("StatefulSet", "web", 6)], 6),
        # During a rollout the sets of a Deployment are one.
        ("ReplicaSet/web-1", [owner("ReplicaSet", "web-1", 1, of="Deployment/web"), owner("Deployment", "web", 5)], 5),
    ],
)
def test_whose_replicas_count(owned: str, owners: list[Object], expected: int) -> None:
    status = told(budget(maxUnavailable=1), *members(2, owner=owned), *owners)
    assert status["expectedPods"] == expected


def test_the_replicas_of_a_replication_controller_count() -> None:
    pods = members(2, owner="ReplicationController/web")
    for each in pods:
        each["metadata"]["ownerReferences"][0]["apiVersion"] = "v1"
    status = told(budget(maxUnavailable=1), *pods, owner("ReplicationController", "web", 3))
    assert status["expectedPods"] == 3


@pytest.mark.parametrize(
    ("owned", "objects", "problem"),
    [
        ("ReplicaSet/web-1", [], NO_CONTROLLERS),
        ("ReplicaSet/web-1", [owner("ReplicaSet", "web-1", 1, of="Deployment/web")], NO_CONTROLLERS),
        ("Widget/web", [], NO_CONTROLLERS),
        ("DaemonSet/web", [], "daemonsets.apps does not implement the scale subresource"),
    ],
)  # fmt: skip
def test_a_scale_that_is_not_known_allows_nothing(owned: str, objects: list[Object], problem: str) -> None:
    before = {"disruptionsAllowed": 2, "currentHealthy": 3, "observedGeneration": 1}
    decision = decide(budget(before, maxUnavailable=1), *members(3, owner=owned), *objects)
    (patch,) = decision.status
    status = patch.body["status"]  # type: ignore[union-attr]
    (said,) = status["conditions"]
    assert status["disruptionsAllowed"] == 0
    assert status["currentHealthy"] == 3
    assert (said["status"], said["reason"], said["message"]) == ("False", "SyncFailed", problem)
    assert [event.reason for event in decision.events] == ["CalculateExpectedPodCountFailed"]


@pytest.mark.parametrize(
    ("pods", "value", "reason"), [(3, "True", "SufficientPods"), (2, "False", "InsufficientPods")]
)  # fmt: skip
def test_a_condition_says_whether_anything_is_allowed(pods: int, value: str, reason: str) -> None:
    (said,) = told(budget(minAvailable=2), *members(pods))["conditions"]
    assert (said["type"], said["status"], said["reason"]) == ("DisruptionAllowed", value, reason)
    assert said["observedGeneration"] == 1


def test_pods_on_their_way_out_are_not_healthy() -> None:
    assert counts(told(budget(minAvailable=1), *members(2), member("going", deleting=True))) == (1, 2, 1, 3)


def test_a_selector_of_nobody_and_one_of_everybody() -> None:
    everybody = budget(selector={}, minAvailable=0)
    nobody = budget(minAvailable=0)
    del nobody["spec"]["selector"]
    other = pod("other", node="a")
    assert told(everybody, other, *members(1))["expectedPods"] == 2
    assert told(nobody, other)["expectedPods"] == 0


def test_an_eviction_that_was_allowed_counts_until_it_has_happened_or_failed() -> None:
    granted = timestamp(NOON - timedelta(seconds=30))
    before = {"disruptedPods": {"p0": granted, "gone": granted, "going": granted}}
    objects = (budget(before, minAvailable=1), *members(3), member("going", deleting=True))
    status = told(*objects)
    assert counts(status) == (1, 2, 1, 4)
    assert status["disruptedPods"] == {"p0": granted, "gone": None, "going": None}

    late = NOON + timedelta(seconds=91)
    (patch,) = decide(*objects, now=late).status
    assert patch.body["status"]["disruptedPods"] is None  # type: ignore[union-attr]
    assert patch.body["status"]["currentHealthy"] == 3  # type: ignore[union-attr]


def test_nothing_is_written_when_all_is_said() -> None:
    objects = (budget(minAvailable=1), *members(2))
    again = {**objects[0], "status": told(*objects)}
    assert decide(again, *members(2)).empty


# At work


def served(replicas: int = 3) -> Object:
    return deployment("web", pod("web", labels=LABELS), replicas=replicas)


def town_with(**spec: Any) -> Town:
    return Town(node("a"), node("b"), served(), budget(**spec), controllers=whole_control_plane(), settled=True)


def test_evictions_stop_where_the_budget_ends_and_go_on_when_pods_are_back() -> None:
    town = town_with(minAvailable=2)
    first, second, _ = sorted(town.pods())
    town.registry.evict("default", first, now=town.simulation.now)
    with pytest.raises(TooManyRequestsError):
        town.registry.evict("default", second, now=town.simulation.now)
    found = town.get("PodDisruptionBudget", "web")
    assert found is not None
    assert found["status"]["disruptedPods"].keys() == {first}
    town.run()
    found = town.get("PodDisruptionBudget", "web")
    assert found is not None
    assert counts(found["status"]) == (1, 3, 2, 3)
    assert not found["status"].get("disruptedPods")
    town.registry.evict("default", second, now=town.simulation.now)


def test_a_budget_follows_the_scale_of_its_deployment() -> None:
    town = town_with(maxUnavailable="50%")
    town.patch("Deployment", "web", {"spec": {"replicas": 6}})
    town.run()
    found = town.get("PodDisruptionBudget", "web")
    assert found is not None
    assert counts(found["status"]) == (3, 6, 3, 6)


def test_a_pod_that_stops_matching_is_not_counted_any_more() -> None:
    town = Town(budget(minAvailable=1), *members(3, owner=None), controllers=(CONTROLLER,), settled=True)
    town.patch("Pod", "p0", {"metadata": {"labels": {"app": "other"}}})
    town.run()
    found = town.get("PodDisruptionBudget", "web")
    assert found is not None
    assert found["status"]["expectedPods"] == 2


def test_preemption_spares_whom_a_budget_protects() -> None:
    def resident(name: str, app: str, where: str) -> Object:
        return pod(name, cpu="8", labels={"app": app}, priority=0, nodeSelector={"kubernetes.io/hostname": where})

    town = Town(
        node("a"), node("b"), resident("kept", "web", "a"), resident("free", "batch", "b"), budget(minAvailable=1),
        controllers=whole_control_plane(), settled=True,
    )  # fmt: skip
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    town.create(priority)
    town.create(pod("urgent", cpu="8", priorityClassName="high"))
    town.run()
    assert town.pods().keys() == {"kept", "urgent"}
    assert has_condition(town.get("PodDisruptionBudget", "web"), "DisruptionAllowed", "False")


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        for obj in (budget(minAvailable=1), *members(2, owner=None)):
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=now)

    assert survives_every_crash((CONTROLLER,), populate) >= 1
