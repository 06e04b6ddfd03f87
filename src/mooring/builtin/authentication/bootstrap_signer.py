"""Signs the ConfigMap `cluster-info` in kube-public with every bootstrap token that is for signing.

A machine that holds a token reads the ConfigMap without trusting anybody, and believes what its token has signed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.bootstrap_tokens import detached_signature
from mooring.api.kinds import Key
from mooring.builtin.authentication.bootstrap_secrets import SECRET_BY_NAME, bootstrap_tokens
from mooring.builtin.metadata_kinds import SECRET_METADATA
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.workloads.kinds import CONFIG_MAP

CLUSTER_INFO: Final = Key("kube-public", "cluster-info")
_SIGNED: Final = "kubeconfig"
_SIGNATURE: Final = "jws-kubeconfig-"
_CONFIG_MAP_BY_NAME: Final = named(CONFIG_MAP)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    info = view.get(_CONFIG_MAP_BY_NAME, *CLUSTER_INFO)
    if info is None or info.metadata.deleting or _SIGNED not in info.data:
        return Decision()
    content = info.data[_SIGNED]
    wanted = {}
    for token in bootstrap_tokens(view).values():
        over = token.expires is not None and view.reached(token.expires)
        if token.signs and token.secret and not over:
            wanted[_SIGNATURE + token.id] = detached_signature(content, token.id, token.secret)
    known = {name: value for name, value in info.data.items() if name.startswith(_SIGNATURE)}
    if known == wanted:
        return Decision()
    return Decision(children=(Patch(_CONFIG_MAP_BY_NAME, CLUSTER_INFO, {"data": {**dict.fromkeys(known), **wanted}}),))


CONTROLLER: Final = Controller(
    "bootstrap-signer",
    reconcile,
    reads=(_CONFIG_MAP_BY_NAME, SECRET_METADATA, SECRET_BY_NAME),
    writes={_CONFIG_MAP_BY_NAME: ("patch",)},
)
