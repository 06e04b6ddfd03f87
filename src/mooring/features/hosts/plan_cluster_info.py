"""Where the API server is, in a plan: nowhere, but hosts that join must be told some address."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.features.hosts.bootstrap.kubeconfig import CLUSTER_INFO, CONFIG_MAP_BY_NAME
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision
from mooring.runtime.view import View

_KUBECONFIG: Final = "clusters:\n- cluster:\n    server: https://plan.invalid:6443\n"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    if view.get(CONFIG_MAP_BY_NAME, *CLUSTER_INFO) is not None:
        return Decision()
    metadata = {"namespace": CLUSTER_INFO.namespace, "name": CLUSTER_INFO.name}
    return Decision(children=(Create(CONFIG_MAP_BY_NAME, {"metadata": metadata, "data": {"kubeconfig": _KUBECONFIG}}),))


CONTROLLER = Controller(
    "plan-cluster-info", reconcile, reads=(CONFIG_MAP_BY_NAME,), writes={CONFIG_MAP_BY_NAME: ("create",)}
)
