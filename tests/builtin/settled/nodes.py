"""The nodes of all cases: two that are ready, of which one has a fast disk."""

from __future__ import annotations

from datetime import UTC, datetime

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing import node
from mooring.testing.http import Api

NODES: tuple[Object, ...] = (
    node("n0", zone="z0", labels={"disk": "ssd"}),
    node("n1", zone="z1", labels={"disk": "hdd"}),
)


def ready(api: Api, wanted: Object) -> None:
    """Say of a node that it is there and ready, now."""
    name, now = wanted["metadata"]["name"], datetime.now(UTC)
    api.post("/api/v1/nodes", wanted)
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
    meta = {"name": name, "namespace": "kube-node-lease"}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
    if api.post(leases, lease).code == 409:
        api.patch(f"{leases}/{name}", "merge", {"spec": spec})
    conditions = [
        {
            "type": "Ready",
            "status": "True",
            "reason": "X",
            "lastHeartbeatTime": timestamp(now),
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }
    ]
    status = {"conditions": conditions, "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}
    api.patch(f"/api/v1/nodes/{name}/status", "merge", {"status": {**wanted["status"], **status}})
