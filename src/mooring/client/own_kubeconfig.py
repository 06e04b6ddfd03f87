"""The kubeconfig of an embedded server: written for its administrator, kept as its user changed it.

People set a namespace in it, add contexts, rename nothing of ours. A start therefore puts its own cluster, user and
context right and leaves all else as it is.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from mooring.kube.objects import Object

__all__ = ["ADMIN", "CLUSTER", "admin_token", "cluster_entry", "user_config", "with_cluster"]


CLUSTER: Final = "mooring"
ADMIN: Final = "mooring-admin"


def admin_token(config: Object) -> str | None:
    """The administrator's token in a kubeconfig of ours, if it still is there."""
    for entry in _entries(config, "users"):
        user = entry.get("user")
        if entry.get("name") == ADMIN and isinstance(user, dict):
            token = user.get("token")
            return token if isinstance(token, str) and token else None
    return None


def cluster_entry(config: Object) -> Object | None:
    """Where the server is and what proves it, in a kubeconfig of ours."""
    for entry in _entries(config, "clusters"):
        cluster = entry.get("cluster")
        if entry.get("name") == CLUSTER and isinstance(cluster, dict) and cluster.get("server"):
            return cluster
    return None


def user_config(cluster: Object, name: str, token: str) -> Object:
    """A whole kubeconfig for one user."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CLUSTER,
        "clusters": [{"name": CLUSTER, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": CLUSTER, "context": {"cluster": CLUSTER, "user": name}}],
    }


def with_cluster(config: Object, *, server: str, authority: bytes, token: str) -> Object:
    """The kubeconfig with access to this server in it. It becomes the current context where none is chosen."""
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(authority).decode()}
    context = {"cluster": CLUSTER, "user": ADMIN}
    return {
        **config,
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": config.get("current-context") or CLUSTER,
        "clusters": _with(_entries(config, "clusters"), CLUSTER, "cluster", cluster),
        "users": _with(_entries(config, "users"), ADMIN, "user", {"token": token}),
        "contexts": _with(_entries(config, "contexts"), CLUSTER, "context", context),
    }


def _entries(config: Object, name: str) -> list[Object]:
    items = config.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _with(entries: Sequence[Object], name: str, field: str, content: Object) -> list[Object]:
    """The entries with this one in it: ours to say what it is, the user's to add to it."""
    if not any(entry.get("name") == name for entry in entries):
        return [*entries, {"name": name, field: content}]
    return [_updated(entry, field, content) if entry.get("name") == name else entry for entry in entries]


def _updated(entry: Object, field: str, content: Object) -> Object:
    before = entry.get(field)
    return {**entry, field: {**(before if isinstance(before, dict) else {}), **content}}
