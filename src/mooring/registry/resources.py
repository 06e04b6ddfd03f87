"""Which kinds are served, and what is known about each: names, scope, sub-resources.

The built-in table states what a Kubernetes 1.35 API server answers in discovery; kinds of CustomResourceDefinitions are
added and removed at run time. A `Resource` is one kind in one version. Versions of one kind share a `store`: writing
through one and reading through the other is the same object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from mooring.kube.errors import go_quote
from mooring.kube.status import NotFoundError, qualified

__all__ = ["Resource", "Resources", "builtin_resources"]

# apiVersion, kind, plural, scope, short names, categories, sub-resources; `-` is none.
_BUILTIN: Final = """
v1 ConfigMap configmaps ns cm - -
v1 Endpoints endpoints ns ep - -
v1 Event events ns ev - -
v1 LimitRange limitranges ns limits - -
v1 Namespace namespaces - ns - finalize,status
v1 Node nodes - no - status
v1 PersistentVolumeClaim persistentvolumeclaims ns pvc - status
v1 PersistentVolume persistentvolumes - pv - status
v1 Pod pods ns po all binding,ephemeralcontainers,eviction,resize,status
v1 PodTemplate podtemplates ns - - -
v1 ReplicationController replicationcontrollers ns rc all scale,status
v1 ResourceQuota resourcequotas ns quota - status
v1 Secret secrets ns - - -
v1 ServiceAccount serviceaccounts ns sa - token
v1 Service services ns svc all status
apps/v1 ControllerRevision controllerrevisions ns - - -
apps/v1 DaemonSet daemonsets ns ds all status
apps/v1 Deployment deployments ns deploy all scale,status
apps/v1 ReplicaSet replicasets ns rs all scale,status
apps/v1 StatefulSet statefulsets ns sts all scale,status
events.k8s.io/v1 Event events ns ev - -
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers ns hpa all status
autoscaling/v1 HorizontalPodAutoscaler horizontalpodautoscalers ns hpa all status
batch/v1 CronJob cronjobs ns cj all status
batch/v1 Job jobs ns - all status
certificates.k8s.io/v1 CertificateSigningRequest certificatesigningrequests - csr - approval,status
networking.k8s.io/v1 IPAddress ipaddresses - ip - -
networking.k8s.io/v1 IngressClass ingressclasses - - - -
networking.k8s.io/v1 Ingress ingresses ns ing - status
networking.k8s.io/v1 NetworkPolicy networkpolicies ns netpol - -
networking.k8s.io/v1 ServiceCIDR servicecidrs - - - status
policy/v1 PodDisruptionBudget poddisruptionbudgets ns pdb - status
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings - - - -
rbac.authorization.k8s.io/v1 ClusterRole clusterroles - - - -
rbac.authorization.k8s.io/v1 RoleBinding rolebindings ns - - -
rbac.authorization.k8s.io/v1 Role roles ns - - -
storage.k8s.io/v1 CSIDriver csidrivers - - - -
storage.k8s.io/v1 CSINode csinodes - - - -
storage.k8s.io/v1 CSIStorageCapacity csistoragecapacities ns - - -
storage.k8s.io/v1 StorageClass storageclasses - sc - -
storage.k8s.io/v1 VolumeAttachment volumeattachments - - - status
storage.k8s.io/v1 VolumeAttributesClass volumeattributesclasses - vac - -
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations - - api-extensions -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy validatingadmissionpolicies - - api-extensions status
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings - - api-extensions -
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations - - api-extensions -
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions - crd,crds api-extensions status
scheduling.k8s.io/v1 PriorityClass priorityclasses - pc - -
coordination.k8s.io/v1 Lease leases ns - - -
node.k8s.io/v1 RuntimeClass runtimeclasses - - - -
discovery.k8s.io/v1 EndpointSlice endpointslices ns - - -
flowcontrol.apiserver.k8s.io/v1 FlowSchema flowschemas - - - status
flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration prioritylevelconfigurations - - - status
apiregistration.k8s.io/v1 APIService apiservices - - api-extensions status
resource.k8s.io/v1 DeviceClass deviceclasses - - - -
resource.k8s.io/v1 ResourceClaim resourceclaims ns - - status
resource.k8s.io/v1 ResourceClaimTemplate resourceclaimtemplates ns - - -
resource.k8s.io/v1 ResourceSlice resourceslices - - - -
"""

_STORED_AS: Final = {"Event": "v1", "HorizontalPodAutoscaler": "autoscaling/v2"}
_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One served kind in one version. Compared by identity: ask the registry for it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    singular: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    custom: bool = False
    list_kind: str = ""
    # The apiVersion under which objects of the store are kept.
    stored_as: str = ""
    store: str = ""
    api_version: str = field(init=False, default="")
    # Whether there is a status sub-resource, which makes the main one leave status alone.
    has_status: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        api_version = f"{self.group}/{self.version}" if self.group else self.version
        object.__setattr__(self, "api_version", api_version)
        object.__setattr__(self, "stored_as", self.stored_as or api_version)
        object.__setattr__(self, "has_status", "status" in self.subresources)

    @property
    def verbs(self) -> tuple[str, ...]:
        # The real server has no deletecollection for namespaces either: too easy to mean something else.
        return tuple(verb for verb in _VERBS if (verb, self.store) != ("deletecollection", "namespaces"))

    @property
    def qualified(self) -> str:
        """The resource as errors name it: `deployments.apps`."""
        return qualified(self.plural, self.group)

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"

    def __repr__(self) -> str:
        return f"Resource({self})"


def _words(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(","))


@cache
def builtin_resources() -> tuple[Resource, ...]:
    """Every built-in kind that is served."""
    found = []
    for line in _BUILTIN.split("\n"):
        if not line:
            continue
        api_version, kind, plural, scope, short, categories, subresources = line.split()
        group, _, version = api_version.rpartition("/")
        found.append(
            Resource(
                group=group,
                version=version,
                kind=kind,
                plural=plural,
                namespaced=scope == "ns",
                singular=kind.lower(),
                short_names=_words(short),
                categories=_words(categories),
                subresources=frozenset(_words(subresources)),
                list_kind=f"{kind}List",
                # Kinds with two shapes are one set of objects.
                stored_as=_STORED_AS.get(kind, api_version),
                store="events" if kind == "Event" else qualified(plural, group),
            )
        )
    return tuple(found)


class Resources:
    """The kinds served now."""

    def __init__(self, initial: Iterable[Resource] = ()) -> None:
        self._by_kind: dict[tuple[str, str], Resource] = {}
        self._by_plural: dict[tuple[str, str, str], Resource] = {}
        for resource in initial:
            self.add(resource)

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._by_kind.values())

    def add(self, resource: Resource) -> None:
        """Serve a kind; takes the place of one with the same version and kind."""
        replaced = self._by_kind.get((resource.api_version, resource.kind))
        if replaced is not None:
            self.remove(replaced)
        self._by_kind[resource.api_version, resource.kind] = resource
        self._by_plural[resource.group, resource.version, resource.plural] = resource

    def remove(self, resource: Resource) -> None:
        if self._by_kind.get((resource.api_version, resource.kind)) is resource:
            del self._by_kind[resource.api_version, resource.kind]
            self._by_plural.pop((resource.group, resource.version, resource.plural), None)

    def of_plural(self, group: str, version: str, plural: str) -> Resource | None:
        """The kind that a URL names, or None."""
        return self._by_plural.get((group, version, plural))

    def find(self, api_version: str, kind: str) -> Resource | None:
        return self._by_kind.get((api_version, kind))

    def of_kind(self, api_version: str, kind: str) -> Resource:
        found = self._by_kind.get((api_version, kind))
        if found is None:
            raise NotFoundError(f"no matches for kind {go_quote(kind)} in version {go_quote(api_version)}")
        return found

    def in_store(self, store: str) -> list[Resource]:
        """Every served version of the kinds that share a store."""
        return [resource for resource in self._by_kind.values() if resource.store == store]
