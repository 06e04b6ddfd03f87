"""Webhooks to tell stories with: a sidecar that is put into pods, a guard over config maps, gadgets of two versions."""

from __future__ import annotations

from typing import Annotated

from mooring.api.core.types import View as Typed
from mooring.api.crds.conversion import Spoke
from mooring.api.crds.markers import Markers
from mooring.api.crds.resource import CustomResource, Version, definition
from mooring.api.meta import Meta
from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Conversion, Denied, Rule, Webhook, WebhookRequest, absent
from mooring.workloads.kinds import NODE

SIDE: Object = {"name": "side", "image": "registry.example.com/side:1"}


def put_sidecar(request: WebhookRequest, view: View) -> Admitted | Denied:
    pod = request.object or {}
    containers = pod["spec"]["containers"]
    if any(each["name"] == "side" for each in containers):
        return Admitted(warnings=("there is a sidecar already",))
    return Admitted({**pod, "spec": {**pod["spec"], "containers": [SIDE, *containers]}})


def guard(request: WebhookRequest, view: View) -> Admitted | Denied:
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


class OldGadgetSpec(Typed, frozen=True):
    """What is wanted."""

    size: Annotated[str, Markers("Width and height, as in 2x3.", pattern="^(0|[1-9][0-9]{0,3})x(0|[1-9][0-9]{0,3})$")]


class GadgetSpec(Typed, frozen=True):
    """What is wanted."""

    width: Annotated[int, Markers("How wide.", minimum=0, maximum=9999)]
    height: Annotated[int, Markers("How high.", minimum=0, maximum=9999)]


class OldGadget(Typed, frozen=True):
    """A gadget, as it was once described."""

    metadata: Meta
    spec: OldGadgetSpec


class Gadget(Typed, frozen=True):
    """A gadget."""

    metadata: Meta
    spec: GadgetSpec


def to_hub(gadget: Object) -> Object:
    width, _, height = gadget.get("spec", {}).get("size", "").partition("x")
    return {**gadget, "spec": {"width": int(width), "height": int(height)} if height else {}}


def from_hub(gadget: Object) -> Object:
    spec = gadget.get("spec", {})
    return {**gadget, "spec": {"size": f"{spec['width']}x{spec['height']}"} if len(spec) == 2 else {}}


GADGET_RESOURCE = CustomResource(
    "hooks.example.com",
    "Gadget",
    "gadgets",
    versions=(Version("v2", Gadget), Version("v1", OldGadget, conversion=Spoke(to_hub, from_hub))),
)
GADGETS = Conversion.of(GADGET_RESOURCE)


def gadget_definition() -> Object:
    return definition(GADGET_RESOURCE)


_NAMES = ("sidecar-webhook", "guard-webhook")
HOOKS = Feature("hooks", webhooks=Parts(_NAMES, lambda: (SIDECAR, GUARD)), on_request=frozenset(_NAMES))
"""These webhooks as a feature of the product, which then has no others."""
