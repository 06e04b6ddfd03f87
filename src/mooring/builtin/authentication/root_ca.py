"""Publishes the cluster's authority: a ConfigMap `kube-root-ca.crt` in every namespace, put right when it is changed.

Pods verify the API with it. The API server says which authority it is, in the ConfigMap in which every API server names
the one of its clients: here one authority vouches for both.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.views import ConfigMap
from mooring.api.kinds import Key
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch
from mooring.runtime.reads import everywhere, named
from mooring.runtime.view import View
from mooring.workloads.kinds import CONFIG_MAP, NAMESPACE

NAME: Final = "kube-root-ca.crt"
AUTHORITY: Final = Key("kube-system", "extension-apiserver-authentication")
_ENTRY: Final = "ca.crt"
_AUTHORITY_ENTRY: Final = "client-ca-file"
_DESCRIPTION: Final = "kubernetes.io/description"
_DESCRIBED: Final = {
    _DESCRIPTION: (
        "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
        "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
        "Kubernetes clusters."
    )
}
_PUBLISHED: Final = everywhere(CONFIG_MAP, NAME)
_BY_NAME: Final = named(CONFIG_MAP)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    namespace = view.get(NAMESPACE, *key)
    if namespace is None or namespace.metadata.deleting:
        return Decision()
    source = view.get(_BY_NAME, *AUTHORITY)
    authority = "" if source is None else source.data.get(_AUTHORITY_ENTRY, "")
    if not authority:
        return Decision()
    found = view.get(_PUBLISHED, key.name, NAME)
    if found is None:
        metadata = {"name": NAME, "namespace": key.name, "annotations": _DESCRIBED}
        return Decision(children=(Create(_PUBLISHED, {"metadata": metadata, "data": {_ENTRY: authority}}),))
    return _put_right(found, authority)


def _put_right(found: ConfigMap, authority: str) -> Decision:
    metadata = found.metadata
    if metadata.deleting or (found.data == {_ENTRY: authority} and metadata.annotations.get(_DESCRIPTION)):
        return Decision()
    data = {**dict.fromkeys(found.data), _ENTRY: authority}
    body = {"metadata": {"annotations": _DESCRIBED}, "data": data}
    return Decision(children=(Patch(_PUBLISHED, Key(metadata.namespace, metadata.name), body),))


CONTROLLER: Final = Controller(
    "root-ca",
    reconcile,
    of=NAMESPACE,
    reads=(_PUBLISHED, _BY_NAME),
    writes={_PUBLISHED: ("create", "patch")},
)
