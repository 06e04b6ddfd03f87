"""Webhooks to tell stories with: a sidecar that is put into pods, and a guard over config maps."""

from __future__ import annotations

from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts
from mooring.runtime.view import View
from mooring.runtime.webhooks import Admitted, Conversion, Denied, Request, Rule, Webhook, absent
from mooring.workloads.kinds import NODE

SIDE: Object = {"name": "side", "image": "registry.example.com/side:1"}


def put_sidecar(request: Request, view: View) -> Admitted | Denied:
    pod = request.object or {}
    containers = pod["spec"]["containers"]
    if any(each["name"] == "side" for each in containers):
        return Admitted(warnings=("there is a sidecar already",))
    return Admitted({**pod, "spec": {**pod["spec"], "containers": [SIDE, *containers]}})


def guard(request: Request, view: View) -> Admitted | Denied:
    """A config map may name a node that there is, a size that is a number, and a zone that some node is in."""
    data = (request.object or {}).get("data") or {}
    if "size" in data and not data["size"].isdecimal():
        return Denied(errors=(invalid("data.size", data["size"], "must be a number"),))
    if "node" in data and view.get(NODE, "", data["node"]) is None:
        return Denied(f"there is no node {data['node']}; create it first")
    if "zone" in data and not any(each.metadata.labels.get("zone") == data["zone"] for each in view.list(NODE)):
        return Denied(f"no node is in zone {data['zone']}", absent=(absent(NODE),))
    warnings = ("a colour is of no use",) if "colour" in data else ()
    return Admitted(warnings=warnings)


SIDECAR = Webhook(
    "sidecar.hooks.example.com",
    "mutating",
    put_sidecar,
    (Rule("v1", "pods"),),
    object_selector={"matchLabels": {"sidecar": "yes"}},
)
GUARD = Webhook(
    "guard.hooks.example.com",
    "validating",
    guard,
    (Rule("v1", "configmaps", ("CREATE", "UPDATE")),),
    reads=(NODE,),
    object_selector={"matchLabels": {"guarded": "yes"}},
)


def convert_gadget(obj: Object, wanted: str) -> Object:
    spec = obj["spec"]
    if wanted.endswith("/v1"):
        return {**obj, "apiVersion": wanted, "spec": {"size": f"{spec['width']}x{spec['height']}"}}
    width, _, height = spec["size"].partition("x")
    return {**obj, "apiVersion": wanted, "spec": {"width": int(width), "height": int(height)}}


GADGETS = Conversion("hooks.example.com", "Gadget", "gadgets", convert_gadget)


def gadget_definition() -> Object:
    fields = {"v1": {"size": {"type": "string"}}, "v2": {"width": {"type": "integer"}, "height": {"type": "integer"}}}
    versions = []
    for name, properties in fields.items():
        spec = {"type": "object", "properties": properties}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
        versions.append({"name": name, "served": True, "storage": name == "v2", "schema": schema})
    # A webhook that nobody serves, until the real one is registered.
    nowhere = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:9/"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": GADGETS.definition},
        "spec": {
            "group": GADGETS.group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": versions,
            "conversion": {"strategy": "Webhook", "webhook": nowhere},
        },
    }


_NAMES = ("sidecar-webhook", "guard-webhook")
HOOKS = Feature("hooks", webhooks=Parts(_NAMES, lambda: (SIDECAR, GUARD)), on_request=frozenset(_NAMES))
"""These webhooks as a feature of the product, which then has no others."""
