"""Resources of other projects in our words, as a measure of what markers can say: their hardest parts.

A Workspace stands for fields beside spec, open templates and values that are structs, a ByoHost for built-in types and
quantities inside.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Markers, Quantity, Time
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.api.meta import Meta
from mooring.kube.objects import Object

Text = Annotated[str, Markers("A text.")]
Texts = Annotated[tuple[str, ...], Markers("Texts.")]
Flag = Annotated[bool, Markers("A switch.")]
Conditions = Annotated[
    tuple[Annotated[Object, Markers(of="meta.v1.Condition")], ...], Markers("What holds at the moment.")
]

# KAITO's Workspace.


class PresetOptions(View, frozen=True):
    """Where a private model is."""

    image: Text = ""
    image_pull_secrets: Texts = ()
    model_access_secret: Text = ""


class Preset(View, frozen=True):
    """A model that is known by name."""

    name: Text
    access_mode: Annotated[Literal["public", "private"], Markers("Who can get it.", defaulted=True)] = "public"
    preset_options: PresetOptions | None = None


class DataSource(View, frozen=True):
    """Where data come from."""

    name: Text = ""
    image: Text = ""
    image_pull_secrets: Texts = ()
    urls: Texts = ()
    volume_source: Annotated[Any, Markers("A volume.")] = None


class Adapter(View, frozen=True):
    """Something that changes a model."""

    source: DataSource | None = None
    strength: Text = ""


class Inference(View, frozen=True):
    """What is served."""

    preset: Preset | None = None
    template: Annotated[Any, Markers("A pod.")] = None
    config: Text = ""
    adapters: Annotated[tuple[Adapter, ...], Markers("What changes the model.")] = ()


class Partition(View, frozen=True):
    """A part of a GPU."""

    # Upstream says the values twice, once with the type and once with the field.
    mode: Annotated[str, Markers("How it is cut.", extra={"allOf": [{"enum": ["mig", "accelerator"]}] * 2})]
    count: Annotated[int | None, Markers("How many.", minimum=1)] = None
    profile: Text = ""


class Resource(View, frozen=True):
    """The nodes."""

    label_selector: Annotated[Object, Markers("The nodes that will do.", of="meta.v1.LabelSelector")]
    count: Annotated[int, Markers("How many.", defaulted=True)] = 1
    instance_type: Text = ""
    preferred_nodes: Texts = ()
    partition: Partition | None = None


class Metric(View, frozen=True):
    """One number."""

    description: Text
    value: Text
    unit: Text = ""
    config: Annotated[Labels | None, Markers("How it was measured.")] = None


class Performance(View, frozen=True):
    """What was measured."""

    metrics: Annotated[dict[str, Metric] | None, Markers("Numbers by name.")] = None


class WorkspaceStatus(View, frozen=True):
    """What there is."""

    worker_nodes: Texts = ()
    conditions: Conditions = ()
    performance: Performance | None = None
    state: Text = ""
    target_node_count: Annotated[Int32, Markers("How many nodes there will be.")] = 0


class Workspace(View, frozen=True):
    """A model at work on nodes of its own."""

    metadata: Meta
    resource: Resource | None = None
    inference: Inference | None = None
    status: WorkspaceStatus = WorkspaceStatus()


WORKSPACES = CustomResource(
    "kaito.sh",
    "Workspace",
    "workspaces",
    versions=(
        Version(
            "v1beta1",
            Workspace,
            columns=(
                PrinterColumn("Instance", "string", ".resource.instanceType"),
                *(
                    PrinterColumn(name, "string", f'.status.conditions[?(@.type=="{name}")].status')
                    for name in ("ResourceReady", "InferenceReady", "JobStarted", "WorkspaceSucceeded")
                ),
                PrinterColumn("TargetNodeCount", "integer", ".status.targetNodeCount"),
                PrinterColumn("State", "string", ".status.state"),
                AGE,
            ),
        ),
    ),
    short_names=("wk", "wks"),
    categories=("workspace",),
)

# BYOH's ByoHost.

Reference = Annotated[Object | None, Markers("Another object.", of="core.v1.ObjectReference")]


class HostInfo(View, frozen=True):
    """What runs on it."""

    osname: Text = ""
    osimage: Text = ""
    architecture: Text = ""


class HostNetwork(View, frozen=True):
    """A way in."""

    mac_addr: Text
    connected: Flag = False
    ip_addrs: Texts = ()
    is_default: Flag = False
    network_interface_name: Text = ""


class HostCondition(View, frozen=True):
    """A condition of Cluster API."""

    type: Text
    status: Text
    last_transition_time: Annotated[Time, Markers("When.")]
    severity: Text = ""
    reason: Text = ""
    message: Text = ""


class HostSpec(View, frozen=True):
    """What becomes of it."""

    bootstrap_secret: Reference = None
    installation_secret: Reference = None
    capacity: Annotated[dict[str, Quantity] | None, Markers("What it has.")] = None
    download_mode: Annotated[Literal["offline", "online"] | None, Markers("Where binaries come from.")] = None
    join_mode: Annotated[Literal["kubeadm", "tlsBootstrap"] | None, Markers("How it joins.")] = None
    kubernetes_version: Text = ""
    labels: Annotated[Labels | None, Markers("Labels of its node.")] = None
    manage_kube_proxy: Flag = False
    priority: Annotated[Int32, Markers("Which comes first.")] = 0
    taints: Annotated[tuple[Annotated[Object, Markers(of="core.v1.Taint")], ...], Markers("Taints of its node.")] = ()
    uninstallation_script: Text = ""


class HostStatus(View, frozen=True):
    """What it is."""

    machine_ref: Reference = None
    conditions: Annotated[tuple[HostCondition, ...], Markers("What holds at the moment.")] = ()
    hostinfo: HostInfo | None = None
    network: Annotated[tuple[HostNetwork, ...], Markers("All ways in.")] = ()


class ByoHost(View, frozen=True):
    """A machine that somebody brought."""

    metadata: Meta
    spec: HostSpec | None = None
    status: HostStatus | None = None


BYO_HOSTS = CustomResource(
    "infrastructure.cluster.x-k8s.io",
    "ByoHost",
    "byohosts",
    versions=(
        Version(
            "v1beta1",
            ByoHost,
            columns=(
                PrinterColumn("OSName", "string", ".status.hostinfo.osname"),
                PrinterColumn("OSImage", "string", ".status.hostinfo.osimage"),
                PrinterColumn("Arch", "string", ".status.hostinfo.architecture"),
            ),
        ),
    ),
    short_names=("byoh",),
)
