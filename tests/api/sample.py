"""The custom resource that docs/writing-a-kind.md builds, of two versions: copies of a model, kept near the GPUs."""

from __future__ import annotations

from typing import Annotated, Literal

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.conversion import Spoke
from mooring.api.crds.markers import Int32, Int64, Markers, Quantity, ValidationRule
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, ScaleSubresource, Version
from mooring.api.meta import Condition, Meta
from mooring.kube.objects import Object


class Source(View, frozen=True):
    """Where the weights come from."""

    repository: Annotated[str, Markers("The repository, with its registry.", pattern="^[a-z0-9./-]+$")]
    tag: Annotated[str | None, Markers("The tag; the newest one if there is none.", pattern="^[A-Za-z0-9_.-]+$")] = None


class ModelCacheSpec(View, frozen=True):
    """The copies that are wanted."""

    markers = Markers(
        validations=(
            ValidationRule("self.replicas < 100 || has(self.storage)", "a hundred copies need storage of their own"),
        )
    )

    source: Source
    replicas: Annotated[Int32, Markers("How many nodes keep a copy.", minimum=0, maximum=5000, defaulted=True)] = 1
    storage: Annotated[Quantity | None, Markers("How much room a copy gets.")] = None
    eviction: Annotated[
        Literal["Never", "WhenFull"], Markers("Whether a node under pressure may drop its copy.", defaulted=True)
    ] = "Never"
    nodes: Annotated[LabelSelector | None, Markers("The nodes that may keep one.", of="meta.v1.LabelSelector")] = None
    pull_secrets: Annotated[
        tuple[str, ...], Markers("Secrets with access to the repository.", list_type="set", max_items=8)
    ] = ()


class ModelCacheStatus(View, frozen=True):
    """The copies that there are."""

    replicas: Annotated[Int32, Markers("How many nodes have a copy.")] = 0
    observed_generation: Annotated[Int64, Markers("The generation of the spec that this status is about.")] = 0
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers("Ready: every copy is there.", list_type="map", list_map_keys=("type",)),
    ] = ()


class ModelCache(View, frozen=True):
    """Copies of a model, kept on nodes so that pods start without a download."""

    metadata: Meta
    spec: ModelCacheSpec
    status: ModelCacheStatus = ModelCacheStatus()


class OldSpec(View, frozen=True):
    """The copies that are wanted."""

    image: Annotated[str, Markers("Repository and tag.", pattern="^[a-z0-9./-]+(:[A-Za-z0-9_.-]+)?$")]
    copies: Annotated[Int32, Markers("How many nodes keep a copy.", minimum=0, maximum=5000, defaulted=True)] = 1


class OldModelCache(View, frozen=True):
    """Copies of a model, as the first version had them."""

    metadata: Meta
    spec: OldSpec
    status: ModelCacheStatus = ModelCacheStatus()


def to_hub(cache: Object) -> Object:
    spec = cache.get("spec", {})
    made: Object = {}
    if "image" in spec:
        repository, _, tag = spec["image"].partition(":")
        made["source"] = {"repository": repository} | ({"tag": tag} if tag else {})
    if "copies" in spec:
        made["replicas"] = spec["copies"]
    return {**cache, "spec": made}


def from_hub(cache: Object) -> Object:
    spec = cache.get("spec", {})
    made: Object = {}
    source = spec.get("source", {})
    if "repository" in source:
        made["image"] = f"{source['repository']}:{source['tag']}" if "tag" in source else source["repository"]
    if "replicas" in spec:
        made["copies"] = spec["replicas"]
    return {**cache, "spec": made}


READY = PrinterColumn("Ready", "integer", ".status.replicas", "Nodes that have a copy")
MODEL_CACHES = CustomResource(
    "example.com",
    "ModelCache",
    "modelcaches",
    versions=(
        Version("v1", ModelCache, columns=(READY, AGE), scale=ScaleSubresource()),
        Version(
            "v1alpha1",
            OldModelCache,
            columns=(READY, AGE),
            conversion=Spoke(to_hub, from_hub),
            deprecated=True,
            deprecation_warning="example.com/v1alpha1 ModelCache is deprecated; write example.com/v1",
        ),
    ),
    short_names=("mc",),
    categories=("models",),
)
