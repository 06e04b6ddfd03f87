"""A namespace in one of the two clusters, and verbs to act there and to look at what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mooring.kube.objects import Object
from mooring.testing.homes import REAL, Home
from mooring.testing.http import Answer, Api
from tests.e2e.normal import normal

# Where the objects of a kind are.
PLACES = {
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "Endpoints": ("/api/v1", "endpoints"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "ConfigMap": ("/api/v1", "configmaps"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "ReplicationController": ("/api/v1", "replicationcontrollers"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "DaemonSet": ("/apis/apps/v1", "daemonsets"),
    "ControllerRevision": ("/apis/apps/v1", "controllerrevisions"),
    "Job": ("/apis/batch/v1", "jobs"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
    "HorizontalPodAutoscaler": ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets"),
    "LeaderWorkerSet": ("/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
    "ResourceClaim": ("/apis/resource.k8s.io/v1", "resourceclaims"),
    "ResourceClaimTemplate": ("/apis/resource.k8s.io/v1", "resourceclaimtemplates"),
}
# What every namespace is given.
_GIVEN = ("kube-root-ca.crt",)
PATIENCE = 120.0


class Town:
    """One namespace. Verbs that write demand success, so a story says only what it is about."""

    def __init__(self, home: Home, api: Api, namespace: str) -> None:
        self.home, self.api, self.namespace = home, api, namespace
        self._done(api.post("/api/v1/namespaces", {"metadata": {"name": namespace}}))
        if home.name == REAL:
            account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
            self.until(lambda: api.get(account).code == 200, "the default service account")

    @property
    def is_real(self) -> bool:
        return self.home.name == REAL

    # Acting

    def create(self, *objects: Object) -> None:
        for obj in objects:
            self._done(self.api.post(self.path(obj["kind"]), obj))

    def patch(self, kind: str, name: str, body: Object) -> None:
        self._done(self.api.patch(f"{self.path(kind)}/{name}", "strategic", body))

    def merge(self, kind: str, name: str, body: Object) -> None:
        """As `patch`, for custom kinds, which know no strategy."""
        self._done(self.api.patch(f"{self.path(kind)}/{name}", "merge", body))

    def scale(self, kind: str, name: str, replicas: int) -> None:
        self._done(self.api.patch(f"{self.path(kind)}/{name}/scale", "merge", {"spec": {"replicas": replicas}}))

    def delete(self, kind: str, name: str, policy: str | None = None) -> None:
        options = None if policy is None else {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
        self._done(self.api.delete(f"{self.path(kind)}/{name}", options))

    def delete_a_pod(self) -> None:
        """One of them, and wait until it is gone."""
        pod = self.pods()[0]
        self.delete("Pod", pod["metadata"]["name"])
        self.until(lambda: self.is_gone(pod), f"{pod['metadata']['name']} is gone")

    def evict(self, pod: str) -> Answer:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": self.namespace}}
        return self.api.post(f"{self.path('Pod')}/{pod}/eviction", body)

    def _done(self, answer: Answer) -> None:
        assert answer.code < 300, f"{self.home.name}: {answer.body}"

    # Looking

    def path(self, kind: str) -> str:
        prefix, plural = PLACES[kind]
        return f"{prefix}/namespaces/{self.namespace}/{plural}"

    def get(self, kind: str, name: str) -> Object:
        """The object; empty where there is none."""
        answer = self.api.get(f"{self.path(kind)}/{name}")
        return answer.body if answer.code == 200 else {}

    def all(self, kind: str) -> list[Object]:
        items = self.api.get(self.path(kind)).body["items"]
        return [item for item in items if item["metadata"]["name"] not in _GIVEN]

    def pods(self, *, phase: str = "") -> list[Object]:
        return [pod for pod in self.all("Pod") if not phase or pod["status"].get("phase") == phase]

    def is_gone(self, pod: Object) -> bool:
        """Whether this very pod is gone; another may have its name."""
        found = self.get("Pod", pod["metadata"]["name"])
        return not found or found["metadata"]["uid"] != pod["metadata"]["uid"]

    def status(self, kind: str, name: str) -> Object:
        return dict(self.get(kind, name).get("status") or {})

    def until(self, look: Callable[[], Any], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not look():
            assert time.monotonic() < end, f"{self.home.name}: not within {PATIENCE:.0f} s: {what}"
            time.sleep(0.1)

    def observed_state(self, *, leave_out: tuple[str, ...] = ()) -> Object:
        """Everything in it, without what differs from cluster to cluster."""
        return normal({kind: self.all(kind) for kind in PLACES if kind not in leave_out})
