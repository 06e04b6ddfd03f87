"""Builders for tests of what stands behind a Service."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing import pod
from mooring.testing.views import NOON

LABELS = {"app": "web"}


def service(
    *ports: Object,
    name: str = "web",
    headless: bool = False,
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A Service of the pods labelled `app: web`, as the API server stores it."""
    body: Object = {
        "selector": LABELS,
        "type": "ClusterIP",
        "clusterIP": "None" if headless else "10.96.0.7",
        "ipFamilies": ["IPv4"],
        "ports": list(ports),
        **spec,
    }
    metadata = {"name": name, "namespace": "default", "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": body}


def port(number: int, target: int | str | None = None, name: str = "", **more: Any) -> Object:
    return {"port": number, "targetPort": number if target is None else target, "protocol": "TCP", "name": name, **more}


def backend(
    name: str,
    ip: str = "",
    *,
    ready: bool = True,
    deleting: bool = False,
    phase: str = "Running",
    node: str = "a",
    ports: list[Object] | None = None,
    **spec: Any,
) -> Object:
    """A pod of the Service. Without an address it has none yet."""
    found = pod(name, node=node, labels=LABELS, **spec)
    found["metadata"]["uid"] = name
    found["spec"]["containers"][0]["ports"] = ports or []
    found["status"] = {
        "phase": phase,
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        **({"podIP": ip, "podIPs": [{"ip": ip}]} if ip else {}),
    }
    if deleting:
        found["metadata"]["deletionTimestamp"] = timestamp(NOON)
    return found


def written_endpoints(name: str, *ips: str) -> Object:
    """Endpoints that a person wrote, for a Service of that name."""
    subset = {"addresses": [{"ip": ip} for ip in ips], "ports": [{"port": 8080}]}
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name}, "subsets": [subset]}


def service_without_selector(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
