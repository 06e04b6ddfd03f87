"""The Workspace API, kaito.sh/v1beta1: its names, and typed views of it.

A Workspace has no `spec`: what it needs (`resource`) and what it runs (`inference` or `tuning`) stand at its top.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.core.types import LabelSelector as Selector
from mooring.api.crds.markers import Int32, Markers
from mooring.api.meta import AnnotatedMeta, Condition

GROUP: Final = "kaito.sh"
API_VERSION: Final = f"{GROUP}/v1beta1"
OLD_API_VERSION: Final = f"{GROUP}/v1alpha1"
KIND: Final = "Workspace"
PLURAL: Final = "workspaces"

# Labels that say to which Workspace an object belongs; a selector cannot ask for them.
NAME_LABEL: Final = f"{GROUP}/workspace"
NAMESPACE_LABEL: Final = f"{GROUP}/workspacenamespace"
KARPENTER_NAME_LABEL: Final = "karpenter.kaito.sh/workspace-name"
KARPENTER_NAMESPACE_LABEL: Final = "karpenter.kaito.sh/workspace-namespace"
# By these nodes and claims say whose they are.
OWNER_LABELS: Final = (
    (NAME_LABEL, NAMESPACE_LABEL),
    (KARPENTER_NAME_LABEL, KARPENTER_NAMESPACE_LABEL),
)
RESERVED_LABELS: Final = frozenset(
    {
        NAME_LABEL,
        NAMESPACE_LABEL,
        f"{GROUP}/ragengine",
        f"{GROUP}/ragenginenamespace",
        KARPENTER_NAME_LABEL,
        KARPENTER_NAMESPACE_LABEL,
        "karpenter.kaito.sh/inferenceset",
        "karpenter.kaito.sh/inferenceset-namespace",
    }
)
# Annotations that people write.
RUNTIME: Final = f"{GROUP}/runtime"
TRANSFORMERS: Final = "transformers"
BYPASS_RESOURCE_CHECKS: Final = f"{GROUP}/bypass-resource-checks"
PERFORMANCE_MODE: Final = f"{GROUP}/performance-mode"
LOCAL_WEIGHTS: Final = f"{GROUP}/use-local-weights"
NODE_IMAGE_FAMILY: Final = f"{GROUP}/node-image-family"
NODE_CLASS: Final = f"{GROUP}/node-class-name"
MODEL_STREAMING: Final = f"{GROUP}/model-streaming"
LOAD_BALANCER: Final = f"{GROUP}/enablelb"
DISABLE_BENCHMARK: Final = f"{GROUP}/disable-benchmark"
# Labels of a Workspace that its pods carry too.
INFERENCE_SET: Final = "inferenceset.kaito.sh/created-by"
MULTI_ROLE: Final = "multiroleinference.kaito.sh/created-by"
INFERENCE_ROLE: Final = f"{GROUP}/inference-role"
# Annotations that the controller writes.
REVISION: Final = "workspace.kaito.io/revision"
REVISION_HASH: Final = "workspace.kaito.io/hash"

FINALIZER: Final = "workspace.finalizer.kaito.sh"
INFERENCE_CONFIG: Final = "inference_config.yaml"

ConfigMapName = Annotated[str, Markers("A ConfigMap in the Workspace's namespace with the arguments.")]


class Partition(View, frozen=True):
    mode: Annotated[str, Markers("Slices of one GPU (mig) or whole GPUs (accelerator).", enum=("mig", "accelerator"))]
    profile: Annotated[str, Markers("The MIG profile, such as 2g.24gb; for mig only.")] = ""
    count: Annotated[int, Markers("How many whole GPUs a pod gets; for accelerator only.", minimum=1)] = 0


class ResourceSpec(View, frozen=True):
    """The nodes that a Workspace runs on."""

    label_selector: Annotated[
        Selector,
        Markers(
            "The labels of the nodes. matchLabels, and matchExpressions with the operator In and one value.",
            of="meta.v1.LabelSelector",
        ),
    ]
    count: Annotated[
        int, Markers("How many nodes are needed. Where a preset needs more, that many are.", defaulted=True)
    ] = 1
    instance_type: Annotated[
        str,
        Markers("The type of new nodes. Needed with node auto-provisioning, and not allowed without it."),
    ] = ""
    partition: Annotated[Partition | None, Markers("The part of a node's GPUs that a pod gets.")] = None
    preferred_nodes: Annotated[
        tuple[str, ...], Markers("Without effect: nodes are chosen by labelSelector alone. Label them instead.")
    ] = ()


class PresetOptions(View, frozen=True):
    image: Annotated[str, Markers("Without effect.")] = ""
    image_pull_secrets: Annotated[tuple[str, ...], Markers("Without effect.")] = ()
    model_access_secret: Annotated[
        str, Markers("A Secret in the Workspace's namespace whose key HF_TOKEN gives access to the model.")
    ] = ""


class Preset(View, frozen=True):
    name: Annotated[str, Markers("The model: an id of Hugging Face, or one of the known shorter names.")]
    access_mode: Annotated[str, Markers("Without effect.", enum=("public", "private"), defaulted=True)] = "public"
    preset_options: Annotated[PresetOptions, Markers("How to get at the model.")] = PresetOptions()


class DataSource(View, frozen=True):
    name: Annotated[str, Markers("The name of the data, a DNS subdomain.")] = ""
    image: Annotated[str, Markers("An image with the data in its directory data.")] = ""
    image_pull_secrets: Annotated[tuple[str, ...], Markers("Secrets with access to the image.")] = ()
    urls: Annotated[tuple[str, ...], Markers("Where the data can be downloaded.")] = ()
    volume_source: Annotated[Any, Markers("A volume that holds the data.")] = None


class Adapter(View, frozen=True):
    source: Annotated[DataSource | None, Markers("Where the adapter comes from.")] = None
    strength: Annotated[str, Markers("How much the adapter counts, from 0 to 1.")] = ""


class Inference(View, frozen=True):
    preset: Annotated[Preset | None, Markers("A model that is known, with settings that fit it.")] = None
    template: Annotated[
        Any,
        Markers("A pod template of one's own, in place of a preset."),
    ] = None
    config: ConfigMapName = ""
    adapters: Annotated[tuple[Adapter, ...], Markers("Adapters on top of the model.")] = ()


class DataDestination(View, frozen=True):
    image: Annotated[str, Markers("The image that the result is pushed to.")] = ""
    image_push_secret: Annotated[str, Markers("The Secret with the right to push.")] = ""
    volume_source: Annotated[Any, Markers("A volume that the result is written to.")] = None


class Tuning(View, frozen=True):
    input: Annotated[DataSource, Markers("What the model learns from.")]
    output: Annotated[DataDestination, Markers("Where the result goes.")]
    preset: Annotated[Preset | None, Markers("The model that is tuned.")] = None
    method: Annotated[str, Markers("lora or qlora.")] = ""
    config: ConfigMapName = ""


class PerformanceMetric(View, frozen=True):
    description: Annotated[str, Markers("What was measured.")]
    value: Annotated[str, Markers("The figure.")]
    unit: Annotated[str, Markers("Its unit.")] = ""
    config: Annotated[Labels, Markers("The settings it was measured with.")] = msgspec.field(default_factory=dict)


class Performance(View, frozen=True):
    metrics: Annotated[dict[str, Annotated[PerformanceMetric, Markers("One figure.")]], Markers("Figures by name.")] = (
        msgspec.field(default_factory=dict)
    )


class WorkspaceStatus(View, frozen=True):
    worker_nodes: Annotated[tuple[str, ...], Markers("The nodes that match the selector, sorted.")] = ()
    target_node_count: Annotated[Int32, Markers("How many nodes the workload needs.")] = 0
    state: Annotated[str, Markers("Pending, Ready or NotReady.")] = ""
    performance: Annotated[Performance | None, Markers("What the workload was measured to do.")] = None
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers(
            "NodesReady: enough nodes match and are ready. NodeClaimReady: the nodes that were asked for are there. "
            "ResourceReady: both. InferenceReady: the pods serve. Placeable: whether every pod can be scheduled, and "
            "if not, why and what would help. WorkspaceSucceeded: all is there."
        ),
    ] = ()


class Workspace(View, frozen=True):
    """A model, served or tuned on nodes that are chosen by their labels."""

    resource: Annotated[ResourceSpec, Markers("The nodes that are needed.")] = ResourceSpec(Selector())
    metadata: AnnotatedMeta = AnnotatedMeta()
    inference: Annotated[Inference | None, Markers("A model that is served.")] = None
    tuning: Annotated[Tuning | None, Markers("A model that is tuned.")] = None
    status: Annotated[WorkspaceStatus, Markers("What was seen last.")] = WorkspaceStatus()
    api_version: str = API_VERSION

    @property
    def is_old(self) -> bool:
        """Whether it was written as v1alpha1, which gives every Workspace an instance type."""
        return self.api_version == OLD_API_VERSION
