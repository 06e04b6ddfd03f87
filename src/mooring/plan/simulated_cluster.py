"""A simulated cluster in memory that starts from a snapshot, or from a cluster as it is now.

The controllers are those of the product, the API semantics those of its registry; only the nodes are simulated: a pod
that is bound starts after a delay, and a pod of a Job completes. There is no garbage collection, because a snapshot
rarely holds all owners.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime

from mooring.api.core.views import Node, Pod
from mooring.api.crds.resource import definition
from mooring.builtin.apps.daemonset import controller as daemonset
from mooring.builtin.apps.deployment import controller as deployment
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.batch.job import controller as job
from mooring.builtin.batch.job import orphans as job_orphans
from mooring.builtin.resourceclaim import generation, release
from mooring.builtin.scheduler import controller as scheduler
from mooring.builtin.volumes import claims, ephemeral, matching, phases
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, InvalidError, NotFoundError
from mooring.placement.snapshot import CONTENTS, SOMETIMES_ABSENT
from mooring.placement.workloads.node_readiness import with_readiness
from mooring.plan import new_nodes, nodes
from mooring.plan.claims import provisioner
from mooring.plan.gc_threshold import raised_gc_threshold
from mooring.plan.identities import identified
from mooring.plan.revisions import missing_revisions
from mooring.plan.snapshot import Plain, Restored
from mooring.plan.stand_ins import stand_ins, without_requests
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.feature import Feature
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.model import Conversion

MANAGER = "mooring-plan"


CONTROLLERS = (
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    replicaset.REPLICATION,
    statefulset.CONTROLLER,
    daemonset.CONTROLLER,
    claims.CONTROLLER,
    phases.CONTROLLER,
    matching.CONTROLLER,
    ephemeral.CONTROLLER,
    generation.CONTROLLER,
    release.CONTROLLER,
    job.CONTROLLER,
    job_orphans.CONTROLLER,
    scheduler.CONTROLLER,
    new_nodes.CONTROLLER,
)

# A snapshot may come from a simulation, whose uids must not be drawn again for what is new.
_UIDS = 1_000_000


class SimulatedCluster:
    """`inert` has the objects of kinds without a controller here, `assumed` the namespaces that the snapshot lacks."""

    def __init__(
        self,
        snapshot: Iterable[Restored],
        *,
        seed: int = 0,
        configuration: Configuration = DEFAULTS,
        live_at: datetime | None = None,
    ) -> None:
        # Whether the objects are those of a cluster at this moment. Then nobody knows when its running pods end.
        self.is_live = live_at is not None
        self.start = live_at or START
        # Field managers are not needed in a plan.
        self.registry = Registry(now=self.start, seed=_UIDS + seed, managed_fields=False)
        self.configuration = configuration
        self.inert: list[str] = []
        self.assumed: list[str] = []
        # Kinds of which the snapshot may lack objects that the cluster has.
        self.unread_kinds: set[str] = set(SOMETIMES_ABSENT)
        # What was made up because it was not read, by kind and `namespace/name`.
        self.stand_ins: set[tuple[str, str]] = set()
        # What was said about objects that were accepted.
        self.warnings: list[str] = []
        self._features: list[Feature] = []
        plain = Plain()
        with raised_gc_threshold():
            for obj in snapshot:
                if isinstance(obj, Node | Pod):
                    self._adopt(plain.of(obj))
                else:
                    self._restore(obj)
            self._restore_revisions()
            claims_found = self.objects("v1", "PersistentVolumeClaim")
            self.claims_before = {f"{c['metadata']['namespace']}/{c['metadata']['name']}" for c in claims_found}
            device_claims = self.objects("resource.k8s.io/v1", "ResourceClaim")
            # Claims that had devices before the plan, by `namespace/name`.
            self.allocated_before = {
                f"{c['metadata']['namespace']}/{c['metadata']['name']}"
                for c in device_claims
                if (c.get("status") or {}).get("allocation") is not None
            }
            on_nodes = self.objects("v1", "Pod") if self.is_live else ()
            self._endless = frozenset(pod["metadata"]["uid"] for pod in on_nodes if pod["spec"].get("nodeName"))
            self._seed = seed
            self.simulation = self._simulation()

    def _simulation(self) -> Simulation:
        added = ((*feature.controllers.load(), *feature.plan_controllers()) for feature in self._features)
        served = {feature.name for feature in self._features}
        joining = (feature.plan_controllers() for feature in CATALOG.features if feature.joins & served)
        controllers = (
            *CONTROLLERS,
            provisioner(classes_read="StorageClass" not in self.unread_kinds),
            nodes.controller(self._endless),
            *(each for some in (*added, *joining) for each in some),
        )
        running = tuple(name for feature in self._features for name in feature.names)
        return Simulation(
            controllers,
            registry=self.registry,
            seed=self._seed,
            events=False,
            configuration=self.configuration._replace(running=running),
            status_at_rest=True,
            now=self.start,
        )

    def _serve(self, obj: Object) -> bool:
        """Serve the kinds of a feature once an object has one of them: a definition takes as long as a plan."""
        api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
        try:
            self.registry.resource(api_version, kind)
            return False
        except NotFoundError:
            feature = CATALOG.feature_of(api_version, kind)
        if feature is None:
            return False
        for each in (feature, *feature.needs):
            if each not in self._features:
                self._serve_feature(each)
        return True

    def _serve_feature(self, feature: Feature) -> None:
        self._features.append(feature)
        definitions = self.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        resources = feature.resources()
        for each in resources:
            self.registry.create(definitions, definition(each), now=self.start, manager=MANAGER)
        conversions = [Conversion.of(each) for each in resources if each.is_converted]
        install(
            self.registry,
            feature.webhooks.load(),
            clock=lambda: self.simulation.now,
            conversions=conversions,
            configuration=self.configuration,
        )

    def _adopt(self, obj: Object) -> None:
        namespace = obj["metadata"].get("namespace")
        if namespace:
            self._ensure_namespace(namespace, note=False)
        with suppress(AlreadyExistsError):
            self.registry.adopt(obj)

    def _restore(self, obj: Object) -> None:
        if (obj.get("apiVersion"), obj.get("kind")) == CONTENTS:
            self.unread_kinds.difference_update(obj.get("kinds") or ())
            return
        self.unread_kinds.discard(str(obj.get("kind")))
        self._serve(obj)
        obj = identified(_restored(obj))
        namespace = obj.get("metadata", {}).get("namespace")
        if namespace:
            self._ensure_namespace(namespace, note=False)
        try:
            self.registry.restore(obj, now=self.start)
        except AlreadyExistsError:
            # Objects of a new cluster: default namespaces and priority classes.
            return
        except NotFoundError:
            return
        except InvalidError as error:
            if not self.is_live:
                raise
            # A cluster may know rules that are not known here; one object is no reason to plan nothing.
            self.warnings.append(f"left out, as it is not understood here: {error}")

    def _restore_revisions(self) -> None:
        sets = [*self.objects("apps/v1", "StatefulSet"), *self.objects("apps/v1", "DaemonSet")]
        revisions = self.objects("apps/v1", "ControllerRevision")
        for revision in missing_revisions(sets, revisions, self.objects("v1", "Pod") if sets else ()):
            self._restore(revision)

    def apply(self, obj: Object, namespace: str) -> None:
        """Apply an object as `kubectl apply` does. Raises the ApiError of the registry."""
        obj = without_requests(obj) if "ResourceSlice" in self.unread_kinds else obj
        if self._serve(obj):
            self.simulation = self._simulation()
        try:
            resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        except NotFoundError:
            self.inert.append(f"{obj['kind']} {obj.get('metadata', {}).get('name', '')}".strip())
            return
        metadata = dict(obj.get("metadata") or {})
        if resource.namespaced:
            metadata.setdefault("namespace", namespace)
            self._ensure_namespace(metadata["namespace"], note=True)
        body = {**obj, "metadata": metadata}
        now = self.simulation.now
        name = metadata.get("name", "")
        warnings: list[str] = []
        if name and self.registry.find(obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), name) is not None:
            home = metadata.get("namespace", "")
            self.registry.patch(
                resource, home, name, "apply", body, now=now, manager=MANAGER, force=True, warnings=warnings
            )
        else:
            self.registry.create(resource, body, now=now, manager=MANAGER, warnings=warnings)
        self.warnings += warnings

    def stand_in(self, objects: Sequence[tuple[Object, str]]) -> None:
        """Make up what objects, each with its namespace, name and what neither they nor the snapshot hold."""
        self._ask_for_no_devices()
        kinds = ("ResourceClaim", "ResourceClaimTemplate")
        claims_found = [claim for kind in kinds for claim in self.objects("resource.k8s.io/v1", kind)]
        objects = [*objects, *((claim, claim["metadata"]["namespace"]) for claim in claims_found)]
        given = {(obj["kind"], (obj.get("metadata") or {}).get("name")) for obj, _ in objects}
        for kind, namespace, obj in stand_ins(objects, self.unread_kinds):
            resource, name = self.registry.resource(obj["apiVersion"], kind), obj["metadata"]["name"]
            if (kind, name) in given or self.registry.find(obj["apiVersion"], kind, namespace, name) is not None:
                continue
            if namespace:
                self._ensure_namespace(namespace, note=False)
            made = {**obj, "metadata": {**obj["metadata"], **({"namespace": namespace} if namespace else {})}}
            self.registry.create(resource, made, now=self.simulation.now, manager=MANAGER)
            self.stand_ins.add((kind, f"{namespace}/{name}"))

    def _ask_for_no_devices(self) -> None:
        """Where no ResourceSlice was read, it is not known which devices there are: claims go without."""
        if "ResourceSlice" not in self.unread_kinds:
            return
        for kind in ("ResourceClaim", "ResourceClaimTemplate"):
            resource = self.registry.resource("resource.k8s.io/v1", kind)
            for claim in self.objects("resource.k8s.io/v1", kind):
                metadata, now = claim["metadata"], self.simulation.now
                if without_requests(claim) is not claim:
                    self.registry.delete(resource, metadata["namespace"], metadata["name"], now=now)
                    kept = {key: metadata[key] for key in ("name", "namespace")}
                    made = {**without_requests(claim), "metadata": kept}
                    self.registry.create(resource, made, now=now, manager=MANAGER)

    def _ensure_namespace(self, name: str, *, note: bool) -> None:
        if self.registry.find("v1", "Namespace", "", name) is None:
            namespaces = self.registry.resource("v1", "Namespace")
            self.registry.create(namespaces, {"metadata": {"name": name}}, now=self.start, manager=MANAGER)
            if note:
                self.assumed.append(name)

    def objects(self, api_version: str, kind: str) -> list[Object]:
        return list(self.registry.list(self.registry.resource(api_version, kind)).items)


def _restored(obj: Object) -> Object:
    """An object of a file with what the file leaves out, as far as controllers go by it."""
    if obj.get("kind") == "Node":
        return with_readiness(obj)
    metadata = obj.get("metadata") or {}
    if "uid" in metadata:
        return obj
    owner = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
    kind = None if owner is None else CATALOG.workloads().get(owner["kind"])
    return obj if kind is None else kind.restored(obj)
