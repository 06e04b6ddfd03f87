"""ModelServer, in two versions, and ModelImage: types, declarations and conversion."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.conversion import Spoke
from mooring.api.crds.markers import Int32, Markers
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.api.kinds import Kind
from mooring.api.meta import Condition, Meta
from mooring.kube.objects import Object
from mooring.runtime.effects import EffectRecord

GROUP = "sample.mooring.dev"


class ModelImageSpec(View, frozen=True):
    """What is served."""

    image: Annotated[str, Markers("The image that serves the model.", min_length=1)]


class ModelImage(View, frozen=True):
    """A model that can be served."""

    metadata: Meta = Meta()
    spec: Annotated[ModelImageSpec, Markers("What is served.")] = ModelImageSpec("")


class ModelServerSpec(View, frozen=True):
    """How a model is served."""

    model: Annotated[str, Markers("The name of the ModelImage.", min_length=1)]
    replicas: Annotated[Int32, Markers("How many pods serve it.", minimum=0, defaulted=True)] = 1
    gpus: Annotated[Int32, Markers("GPUs of each pod.", minimum=0, defaulted=True)] = 1


class ModelServerStatus(View, frozen=True):
    """How far it is."""

    ready_replicas: Annotated[Int32, Markers("Pods that are ready.")] = 0
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers("Ready says whether all pods are.", list_type="map", list_map_keys=("type",)),
    ] = ()
    effects: Annotated[
        dict[str, EffectRecord],
        Markers("The last run of each effect.", of={"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    ] = msgspec.field(default_factory=dict)


class ModelServer(View, frozen=True):
    """Pods that serve one model."""

    metadata: Meta = Meta()
    spec: Annotated[ModelServerSpec, Markers("How the model is served.")] = ModelServerSpec("")
    status: Annotated[ModelServerStatus, Markers("How far it is.")] = ModelServerStatus()


class OldModelServerSpec(View, frozen=True):
    """How a model is served, as v1alpha1 spells it."""

    model_name: Annotated[str, Markers("The name of the ModelImage.", min_length=1)]
    replicas: Annotated[Int32, Markers("How many pods serve it.", minimum=0, defaulted=True)] = 1


class OldModelServer(View, frozen=True):
    """Pods that serve one model, as v1alpha1 has them."""

    metadata: Meta = Meta()
    spec: Annotated[OldModelServerSpec, Markers("How the model is served.")] = OldModelServerSpec("")
    status: Annotated[ModelServerStatus, Markers("How far it is.")] = ModelServerStatus()


def _renamed(obj: Object, names: dict[str, str]) -> Object:
    """With fields of the spec under other names; one whose new name is empty has no place in the other version."""
    if "spec" not in obj:
        return obj
    spec = {names.get(name, name): value for name, value in obj["spec"].items()}
    return {**obj, "spec": {name: value for name, value in spec.items() if name}}


def _to_hub(obj: Object) -> Object:
    return _renamed(obj, {"modelName": "model"})


def _from_hub(obj: Object) -> Object:
    return _renamed(obj, {"model": "modelName", "gpus": ""})


MODEL_IMAGES = CustomResource(GROUP, "ModelImage", "modelimages", versions=(Version("v1", ModelImage, columns=(AGE,)),))
MODEL_SERVERS = CustomResource(
    GROUP,
    "ModelServer",
    "modelservers",
    versions=(
        Version("v1", ModelServer, columns=(PrinterColumn("Ready", "integer", ".status.readyReplicas"), AGE)),
        Version("v1alpha1", OldModelServer, columns=(AGE,), conversion=Spoke(_to_hub, _from_hub)),
    ),
    short_names=("ms",),
)

MODEL_IMAGE = Kind(f"{GROUP}/v1", "ModelImage", ModelImage, optional=True)
MODEL_SERVER = Kind(f"{GROUP}/v1", "ModelServer", ModelServer, optional=True)
