"""The rights of the processes of `mooring up`: what the chosen controllers declare, and no more.

The API server itself needs one: kubelets ask whether it may read logs and enter pods, as they ask about anybody.

They are ordinary ClusterRoles and bindings, written by the API server's process before it answers the first request,
and brought up to date at each start. Their rules are made from the declarations by `python -m scripts.rbac`, because
the API server's process loads no controller.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from mooring.kube.node_identity import node_user
from mooring.kube.objects import Object
from mooring.net.certificates import KUBELET_CLIENT_USER
from mooring.supervisor.access import CONTROLLERS_USER

if TYPE_CHECKING:
    from mooring.registry import Registry

__all__ = ["BINDING_PREFIX", "MANAGED_BY_UP", "RULES", "grant_rights"]

RULES: Final = Path(__file__).parent / "data" / "rules.json"
"""The rules of every controller, by its name, and those of the runtime under all of them."""

_RUNTIME: Final = "runtime"
_FLEET: Final = "fleet"
_KUBELETS: Final = "kubelets"
_LOCAL_VOLUMES: Final = "local-volumes"
# Removing a local volume is the node's part: it has the files. A kubelet has no right to see volumes of no pod of its.
_LOCAL_VOLUMES_RULES: Final = [
    {"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get", "list", "watch", "patch", "delete"]}
]
_GROUP: Final = "rbac.authorization.k8s.io"
_LABELS: Final = {"app.kubernetes.io/part-of": "mooring", "app.kubernetes.io/managed-by": "mooring-up"}

# Who reads them can tell which controllers run.
BINDING_PREFIX: Final = "mooring-up:"
MANAGED_BY_UP: Final = "app.kubernetes.io/managed-by=mooring-up"


def grant_rights(
    registry: Registry, controllers: Collection[str], fleet_rules: Sequence[Object], *, now: datetime, node: str = ""
) -> None:
    """Give the controllers process the rights of these controllers, and take those of others away.

    `node` is the name of this machine as a node, empty where it is none.
    """
    rules = msgspec.json.decode(RULES.read_bytes(), type=dict[str, list[Object]])
    chosen = {name: rules[name] for name in (_RUNTIME, *controllers) if name in rules}
    chosen[_FLEET] = list(fleet_rules)
    roles = [_role(name, granted) for name, granted in chosen.items()]
    bindings = [*(_binding(name) for name in chosen), _kubelet_binding()]
    if node:
        roles.append(_role(_LOCAL_VOLUMES, _LOCAL_VOLUMES_RULES))
        subject = {"apiGroup": _GROUP, "kind": "User", "name": node_user(node)}
        bindings.append({**_binding(_LOCAL_VOLUMES), "subjects": [subject]})
    for wanted in (*roles, *bindings):
        _keep(registry, wanted, now)
    bound = {each["metadata"]["name"] for each in bindings}
    resource = registry.resource(f"{_GROUP}/v1", "ClusterRoleBinding")
    selector = ",".join(f"{key}={value}" for key, value in _LABELS.items())
    for found in registry.list(resource, label_selector=selector).items:
        if found["metadata"]["name"] not in bound:
            registry.delete(resource, "", found["metadata"]["name"], now=now)


def _role(name: str, rules: list[Object]) -> Object:
    metadata = {"name": f"{BINDING_PREFIX}{name}", "labels": dict(_LABELS)}
    return {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _binding(name: str) -> Object:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{BINDING_PREFIX}{name}", "labels": dict(_LABELS)},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": f"{BINDING_PREFIX}{name}"},
        "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": CONTROLLERS_USER}],
    }


def _kubelet_binding() -> Object:
    role = {"apiGroup": _GROUP, "kind": "ClusterRole", "name": "system:kubelet-api-admin"}
    subject = {"apiGroup": _GROUP, "kind": "User", "name": KUBELET_CLIENT_USER}
    return {**_binding(_KUBELETS), "roleRef": role, "subjects": [subject]}


def _keep(registry: Registry, wanted: Object, now: datetime) -> None:
    """Have an object as it is wanted. What people changed in it is undone: the process could do less, or more."""
    api_version, kind, name = wanted["apiVersion"], wanted["kind"], wanted["metadata"]["name"]
    resource = registry.resource(api_version, kind)
    found = registry.find(api_version, kind, "", name)
    if found is not None:
        different = {field for field in wanted.keys() - {"metadata"} if found.get(field) != wanted[field]}
        if not different and _LABELS.items() <= found["metadata"].get("labels", {}).items():
            return
        # The role of a binding cannot be changed.
        registry.delete(resource, "", name, now=now)
    registry.create(resource, wanted, now=now, manager=CONTROLLERS_USER)
