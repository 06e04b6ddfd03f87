"""A small cluster in virtual time that knows LeaderWorkerSets, and verbs to speak of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

from mooring.builtin.feature import CONTROL_PLANE
from mooring.catalog import CATALOG
from mooring.features.groups.api import API_VERSION, KIND, REVISION
from mooring.features.groups.feature import GROUPS
from mooring.features.groups.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.feature import NODES
from mooring.nodes.storage.default_class import default_class
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START, Settled
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.direct import install
from mooring.testing.builders import node
from mooring.testing.controllers import whole_control_plane
from mooring.testing.decisions import DecidingTwice
from mooring.testing.simulations import checked_simulation

CONTROLLERS: tuple[Controller, ...] = (*whole_control_plane(), *GROUPS.controllers.load())
# With those of all other features too.
EVERY_CONTROLLER: tuple[Controller, ...] = (
    *whole_control_plane(),
    *(
        each
        for feature in CATALOG.features
        if feature not in (CONTROL_PLANE, NODES)
        for each in feature.controllers.load()
    ),
)
VERSIONS = {
    "Pod": "v1", "Node": "v1", "Service": "v1", "StatefulSet": "apps/v1", "ControllerRevision": "apps/v1",
    "Event": "v1", "PersistentVolumeClaim": "v1", "Deployment": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1",
    "ReplicaSet": "apps/v1", "Namespace": "v1", "ConfigMap": "v1", "Lease": "coordination.k8s.io/v1", KIND: API_VERSION,
    "Workspace": "kaito.sh/v1beta1", "NodeClaim": "karpenter.sh/v1", "CronJob": "batch/v1",
    "ReplicationController": "v1",
}  # fmt: skip


def registry_with_groups(seed: int = 0, names: Collection[str] | None = None) -> Registry:
    """With the kinds of all features, or of those that these controllers work on."""
    registry = Registry(now=START, seed=seed)
    kind = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for definition in CATALOG.definitions(names):
        registry.create(kind, definition, now=START)
    registry.create(registry.resource("storage.k8s.io/v1", "StorageClass"), default_class(), now=START)
    install(registry, WEBHOOKS, clock=lambda: START)
    return registry


class Town:
    """A simulated cluster with LeaderWorkerSets: a registry in memory, and controllers in virtual time."""

    def __init__(
        self,
        *objects: Object,
        nodes: int = 0,
        controllers: Iterable[Controller] = CONTROLLERS,
        seed: int = 0,
        faults: Faults | None = None,
        run: bool = True,
        configuration: Configuration = DEFAULTS,
    ) -> None:
        self.decider = DecidingTwice()
        running = tuple(controllers)
        self.simulation = checked_simulation(
            running,
            registry=registry_with_groups(seed, [each.name for each in running]),
            seed=seed,
            faults=faults,
            decider=self.decider,
            configuration=configuration,
        )
        self.registry = self.simulation.registry
        for number in range(nodes):
            self.create(node(f"n{number}", cpu="64"))
        for obj in objects:
            self.create(obj)
        if run:
            self.run()

    def create(self, obj: Object) -> Object:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        return self.registry.create(resource, obj, now=self.simulation.now, namespace=namespace)

    def run(self, seconds: float | None = None) -> Settled:
        return self.simulation.run() if seconds is None else self.simulation.run(timedelta(seconds=seconds))

    def get(self, kind: str, name: str = "serve") -> Object:
        resource = self.registry.resource(VERSIONS[kind], kind)
        found = self.registry.find(VERSIONS[kind], kind, "default" if resource.namespaced else "", name)
        assert found is not None, f"there is no {kind} {name}"
        return found

    def patch(self, kind: str, name: str, body: Object, subresource: str = "", namespace: str = "default") -> None:
        resource = self.registry.resource(VERSIONS[kind], kind)
        where = namespace if resource.namespaced else ""
        self.registry.patch(resource, where, name, "merge", body, now=self.simulation.now, subresource=subresource)

    def change(self, body: Object, name: str = "serve") -> None:
        self.patch(KIND, name, {"spec": body})

    def new_image(self, tag: str = "2", name: str = "serve") -> None:
        template = self.get(KIND, name)["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        containers = [{**template["spec"]["containers"][0], "image": f"registry.example.com/serve:{tag}"}]
        self.change({"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": containers}}}}, name)

    def delete(self, kind: str, name: str, **options: Any) -> None:
        resource = self.registry.resource(VERSIONS[kind], kind)
        where = "default" if resource.namespaced else ""
        self.registry.delete(resource, where, name, now=self.simulation.now, **options)

    def restart(self, pod: str) -> None:
        """A container of a pod ends and is started again."""
        status = {"name": "main", "ready": True, "restartCount": 1, "image": "x", "imageID": "x"}
        running = {"running": {"startedAt": timestamp(self.simulation.now)}}
        self.patch("Pod", pod, {"status": {"containerStatuses": [{**status, "state": running}]}}, "status")

    # Reading

    def all(self, kind: str) -> dict[str, Object]:
        found = self.registry.list(self.registry.resource(VERSIONS[kind], kind)).items
        return {obj["metadata"]["name"]: obj for obj in found}

    def pods(self) -> list[str]:
        return sorted(self.all("Pod"))

    def has_pods(self) -> bool:
        return bool(self.all("Pod"))

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.all("Pod").items()}

    def placed(self) -> dict[str, str]:
        """The node of every pod that has one."""
        pods = self.all("Pod").items()
        return {name: pod["spec"]["nodeName"] for name, pod in pods if pod["spec"].get("nodeName")}

    def images(self) -> dict[str, str]:
        """The tag of every pod's image."""
        pods = self.all("Pod").items()
        return {name: pod["spec"]["containers"][0]["image"].rpartition(":")[2] for name, pod in pods}

    def revisions(self, kind: str) -> dict[str, str]:
        return {name: obj["metadata"]["labels"].get(REVISION, "") for name, obj in self.all(kind).items()}

    def status(self, name: str = "serve") -> Object:
        found: Object = self.get(KIND, name).get("status", {})
        return found

    def conditions(self, name: str = "serve") -> dict[str, str]:
        kept = ("Available", "Progressing", "UpdateInProgress")
        return {c["type"]: c["status"] for c in self.status(name).get("conditions", []) if c["type"] in kept}

    def told(self, reason: str) -> list[str]:
        return [event["message"] for event in self.all("Event").values() if event["reason"] == reason]
