"""Devices and claims to them, for tests: a class, slices of nodes, templates, and pods that claim."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing.builders import pod

DRIVER = "gpu.example.com"
ONE_DEVICE = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}


def device_class(name: str = "gpu", expression: str = f'device.driver == "{DRIVER}"') -> Object:
    return _object("DeviceClass", name, {"selectors": [{"cel": {"expression": expression}}]})


def resource_slice(node: str, *devices: str, name: str = "", driver: str = DRIVER) -> Object:
    """The devices that a driver offers on a node."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": [{"name": device} for device in devices]}
    return _object("ResourceSlice", name or node, spec)


def resource_claim_template(name: str = "one-gpu", spec: Object = ONE_DEVICE) -> Object:
    return _object("ResourceClaimTemplate", name, {"spec": spec})


def resource_claim(name: str, spec: Object = ONE_DEVICE) -> Object:
    return _object("ResourceClaim", name, spec)


def claiming_pod(name: str, *, template: str = "one-gpu", claim: str = "", **facts: Any) -> Object:
    """A pod with a claim of its own, made from a template, or with one that exists."""
    reference = {"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": template}
    made = pod(name, **facts)
    made["spec"]["resourceClaims"] = [{"name": "gpu", **reference}]
    return made


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
