"""Roles and bindings to tell stories with, and a storage that holds them."""

from __future__ import annotations

from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.rbac import RBAC_GROUP
from mooring.kube.objects import Object
from mooring.registry.storage import MemoryStorage

ROLES = f"/apis/{RBAC_GROUP}/v1"


def user(name: str, *groups: str) -> User:
    return User(name, (*groups, "system:authenticated"))


def rule(verbs: str, resources: str, *, groups: str = "", names: str = "") -> Object:
    """A rule about resources; lists are written with commas."""
    made: Object = {"verbs": verbs.split(","), "apiGroups": groups.split(","), "resources": resources.split(",")}
    return made | ({"resourceNames": names.split(",")} if names else {})


def urls(verbs: str, paths: str) -> Object:
    return {"verbs": verbs.split(","), "nonResourceURLs": paths.split(",")}


def role(name: str, *rules: Object, namespace: str = "default") -> Object:
    return _object("Role", name, namespace) | {"rules": list(rules)}


def cluster_role(name: str, *rules: Object, labels: dict[str, str] | None = None, aggregates: str = "") -> Object:
    made = _object("ClusterRole", name) | {"rules": list(rules)}
    if labels:
        made["metadata"]["labels"] = labels
    if aggregates:
        made["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {aggregates: "true"}}]}
    return made


def binding(name: str, role: str, *subjects: str, namespace: str = "default") -> Object:
    """A RoleBinding. `role` is a kind and a name, as is each subject: `Group ops`, `ServiceAccount ci/builder`."""
    return _object("RoleBinding", name, namespace) | _bound(role, subjects)


def cluster_binding(name: str, role: str, *subjects: str) -> Object:
    return _object("ClusterRoleBinding", name) | _bound(role, subjects)


def stored(*objects: Object) -> MemoryStorage:
    storage = MemoryStorage()
    for obj in objects:
        metadata = obj["metadata"]
        store = f"{obj['kind'].lower()}s.{RBAC_GROUP}"
        storage.put(store, metadata.get("namespace", ""), metadata["name"], obj, storage.revision + 1)
    return storage


def _object(kind: str, name: str, namespace: str = "") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{RBAC_GROUP}/v1", "kind": kind, "metadata": metadata}


def _bound(role: str, subjects: tuple[str, ...]) -> Object:
    kind, name = role.split()
    return {
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": name},
        "subjects": [_subject(*subject.split()) for subject in subjects],
    }


def _subject(kind: str, name: str) -> Object:
    if kind != "ServiceAccount":
        return {"kind": kind, "apiGroup": RBAC_GROUP, "name": name}
    namespace, _, account = name.rpartition("/")
    return {"kind": kind, "name": account, **({"namespace": namespace} if namespace else {})}
