"""Discovery: the groups, versions and resources that are served, and their verbs.

Both formats are answered from the registry's table at the time of the request, so a new custom kind shows at once. The
aggregated form is what kubectl reads; the plain one is for clients that go from list to list. Groups stand in the order
of a real server, because that order decides which kind a bare name like `events` means.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import Final

from mooring.apiserver.resource_metrics.resources import METRICS
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Resource

__all__ = ["REVIEWS", "aggregated", "api_versions", "group", "group_list", "resource_list", "review_resources"]


# A server that knows the group answers for it, whoever else would define kinds in it.
_GROUPS: Final = (
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
_RANK: Final = {name: rank for rank, name in enumerate(_GROUPS)}

# Kinds that are asked and answered but never stored: apiVersion, kind, plural, whether namespaced.
REVIEWS: Final = (
    ("v1", "Binding", "bindings", True),
    ("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", False),
    ("authentication.k8s.io/v1", "TokenReview", "tokenreviews", False),
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", True),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", False),
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", False),
    ("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", False),
)

# Sub-resources whose objects are of another kind: group, version, kind; the group of the resource where it is empty.
_OTHER_KINDS: Final = {
    "binding": ("", "", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
_SUB_VERBS: Final = {
    "binding": ["create"],
    "eviction": ["create"],
    "finalize": ["update"],
    "log": ["get"],
    "token": ["create"],
}
# What leads to pods and nodes instead of to an object (`connectors`): the kind of its options, by resource.
_CONNECTED: Final = {
    ("pods", "attach"): "PodAttachOptions",
    ("pods", "exec"): "PodExecOptions",
    ("pods", "log"): "Pod",
    ("pods", "portforward"): "PodPortForwardOptions",
    ("pods", "proxy"): "PodProxyOptions",
    ("services", "proxy"): "ServiceProxyOptions",
    ("nodes", "proxy"): "NodeProxyOptions",
}
_STREAM_VERBS: Final = ["create", "get"]
_PROXY_VERBS: Final = ["create", "delete", "get", "patch", "update"]
_USUAL_SUB_VERBS: Final = ["get", "patch", "update"]
_MEASURED_VERBS: Final = ["get", "list"]
_CUSTOM_VERBS: Final = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]

_KUBE_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES: Final = {None: 0, "beta": 1, "alpha": 2}

# group -> version -> resources, groups and versions in the order in which they are shown
_Groups = dict[str, dict[str, list[Resource]]]


@cache
def review_resources() -> tuple[Resource, ...]:
    found = []
    for api_version, kind, plural, namespaced in REVIEWS:
        group_name, _, version = api_version.rpartition("/")
        found.append(Resource(group_name, version, kind, plural, namespaced, kind.lower()))
    return tuple(found)


def _version_order(version: str) -> tuple[int, int, int, str]:
    """Stable before beta before alpha, newer before older, and names that are no Kubernetes versions last."""
    found = _KUBE_VERSION.fullmatch(version)
    if found is None:
        return (len(_STAGES), 0, 0, version)
    major, stage, minor = found.groups()
    return (_STAGES[stage], -int(major), -int(minor or 0), "")


def _groups(resources: Iterable[Resource]) -> _Groups:
    by_group: _Groups = {}
    for resource in (*resources, *review_resources()):
        by_group.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    ordered: _Groups = {}
    for name in sorted(by_group, key=lambda name: (_RANK.get(name, len(_RANK)), name)):
        versions = by_group[name]
        ordered[name] = {
            version: sorted(versions[version], key=lambda resource: resource.plural)
            for version in sorted(versions, key=_version_order)
        }
    return ordered


def _verbs(resource: Resource) -> list[str]:
    if resource.custom:
        return _CUSTOM_VERBS
    if resource in METRICS:
        return _MEASURED_VERBS
    return list(resource.verbs) if resource.store else ["create"]


def _subresources(resource: Resource) -> list[str]:
    # A real server lists status before scale for custom kinds, and by the alphabet for its own.
    connected = () if resource.group else (name for plural, name in _CONNECTED if plural == resource.plural)
    return sorted((*resource.subresources, *connected), reverse=resource.custom)


def _sub_verbs(resource: Resource, name: str) -> list[str]:
    if name in _SUB_VERBS:
        return _SUB_VERBS[name]
    if (resource.plural, name) not in _CONNECTED or resource.group:
        return _USUAL_SUB_VERBS
    return _PROXY_VERBS if name == "proxy" else _STREAM_VERBS


def _sub_kind(resource: Resource, name: str) -> str:
    return resource.kind if resource.group else _CONNECTED.get((resource.plural, name), resource.kind)


# The aggregated form


def aggregated(resources: Iterable[Resource], core: bool, version: str = "v2") -> Object:
    """Every group with all its versions and resources: of `/api` when `core`, of `/apis` otherwise."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": name} if name else {},
                "versions": [
                    {
                        "version": each,
                        "resources": [_aggregated_resource(resource) for resource in found],
                        "freshness": "Current",
                    }
                    for each, found in versions.items()
                ],
            }
            for name, versions in _groups(resources).items()
            if core is (name == "")
        ],
    }


def _aggregated_resource(resource: Resource) -> Object:
    made: Object = {
        "resource": resource.plural,
        "responseKind": _response_kind(resource, ""),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": _verbs(resource),
    }
    if resource.short_names:
        made["shortNames"] = list(resource.short_names)
    if resource.categories:
        made["categories"] = list(resource.categories)
    if found := _subresources(resource):
        made["subresources"] = [
            {
                "subresource": name,
                "responseKind": _response_kind(resource, name),
                "verbs": _sub_verbs(resource, name),
            }
            for name in found
        ]
    return made


def _response_kind(resource: Resource, subresource: str) -> Object:
    own = (resource.group, resource.version) if resource.custom else ("", "")
    group_name, version, kind = _OTHER_KINDS.get(subresource, (*own, _sub_kind(resource, subresource)))
    return {"group": group_name, "version": version, "kind": kind}


# The plain form


def api_versions(server_address: str = "") -> Object:
    """The answer to a plain `/api`."""
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}] if server_address else []
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def group_list(resources: Iterable[Resource]) -> Object:
    """The answer to a plain `/apis`."""
    groups = [_group(name, list(versions)) for name, versions in _groups(resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(resources: Iterable[Resource], name: str) -> Object:
    """The answer to `/apis/NAME`; NotFoundError when nothing of the group is served."""
    versions = _groups(resources).get(name) if name else None
    if versions is None:
        raise _not_found()
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, list(versions))}


def _group(name: str, versions: list[str]) -> Object:
    shown = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": shown, "preferredVersion": shown[0]}


def resource_list(resources: Iterable[Resource], group: str, version: str) -> Object:
    """The answer to `/api/VERSION` and `/apis/GROUP/VERSION`; NotFoundError when nothing of it is served."""
    found = _groups(resources).get(group, {}).get(version)
    if found is None:
        raise _not_found()
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": [entry for resource in found for entry in _plain_resource(resource)],
    }


def _plain_resource(resource: Resource) -> list[Object]:
    main: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _verbs(resource),
    }
    if resource.short_names:
        main["shortNames"] = list(resource.short_names)
    if resource.categories:
        main["categories"] = list(resource.categories)
    if "watch" in main["verbs"]:
        main["storageVersionHash"] = _storage_hash(resource)
    return [main, *(_plain_subresource(resource, name) for name in _subresources(resource))]


def _storage_hash(resource: Resource) -> str:
    """By which clients notice that objects are stored in another version. Computed as the real server does."""
    group, _, version = resource.stored_as.rpartition("/")
    return b64encode(sha256(f"{group}/{version}/{resource.kind}".encode()).digest()[:8]).decode()


def _plain_subresource(resource: Resource, name: str) -> Object:
    made: Object = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced}
    group_name, version, kind = _OTHER_KINDS.get(name, ("", "", _sub_kind(resource, name)))
    if group_name:
        made |= {"group": group_name, "version": version}
    return {**made, "kind": kind, "verbs": _sub_verbs(resource, name)}


def _not_found() -> NotFoundError:
    return NotFoundError("the server could not find the requested resource")
