"""Pods that are changed while they run: resized in place, and debugged."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.conditions import has_condition
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def sized(name: str, cpu: str, **more: object) -> Object:
    resources = {"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": "128Mi"}}
    return {"name": name, "image": "app:1", "resources": resources, **more}


def resize(town: Town, cpu: str, memory: str) -> None:
    resources = {"requests": {"cpu": cpu}, "limits": {"memory": memory}}
    body = {"spec": {"containers": [{"name": name, "resources": resources} for name in ("main", "other")]}}
    answer = town.api.patch(f"/api/v1/namespaces/{town.namespace}/pods/p/resize", "strategic", body)
    assert answer.code == 200, answer.body


def has(town: Town, name: str) -> list[str]:
    """The CPU that each container of a pod has now."""
    return [each["resources"]["requests"]["cpu"] for each in town.status("Pod", name)["containerStatuses"]]


def a_pod_is_resized_in_place_and_debugged(town: Town) -> Scenes:
    restarting = {"resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]}
    containers = [sized("main", "100m"), sized("other", "100m", **restarting)]
    town.create(pod("p", namespace=town.namespace, containers=containers, automountServiceAccountToken=False))
    town.until(lambda: has_condition(town.get("Pod", "p"), "Ready"), "p is ready")
    yield None
    resize(town, "200m", "256Mi")
    town.until(lambda: has(town, "p") == ["200m", "200m"], "p is larger")
    yield None
    resize(town, "5000", "256Mi")
    town.until(lambda: has_condition(town.get("Pod", "p"), "PodResizePending"), "p waits")
    yield None
    body = {"spec": {"ephemeralContainers": [{"name": "debugger", "image": "busybox", "targetContainerName": "main"}]}}
    answer = town.api.patch(f"/api/v1/namespaces/{town.namespace}/pods/p/ephemeralcontainers", "strategic", body)
    assert answer.code == 200, answer.body
    town.until(lambda: town.status("Pod", "p").get("ephemeralContainerStatuses"), "the debugger runs")
    yield None


STORIES = (a_pod_is_resized_in_place_and_debugged,)
