"""Three resources of other projects in our words, as a measure of what markers can say: their hardest parts.

Each stands for something: a Workspace for fields beside spec, open templates and values that are structs; a ByoHost
for built-in types and quantities inside; a NotebookValidationJob for patterns, defaults and enums at every level.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Int64, Markers, Quantity, Time
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.api.meta import Meta
from mooring.kube.objects import Object

Text = Annotated[str, Markers("A text.")]
Texts = Annotated[tuple[str, ...], Markers("Texts.")]
Flag = Annotated[bool, Markers("A switch.")]
Off = Annotated[bool, Markers("A switch that is off.", defaulted=True)]
On = Annotated[bool, Markers("A switch that is on.", defaulted=True)]
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

# The NotebookValidationJob of the notebook validator.

Duration = Annotated[str, Markers("How long.", pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", defaulted=True)]
Mode = Annotated[Int32 | None, Markers("Permissions.", minimum=0, maximum=0o777)]
NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
NUMBER = r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


class Git(View, frozen=True):
    """A repository."""

    url: Annotated[str, Markers("Where it is.", pattern="^((https?|git|ssh)://|git@).*$")]
    ref: Text
    credentials_secret: Text = ""


class Notebook(View, frozen=True):
    """A notebook in a repository."""

    git: Git
    path: Annotated[str, Markers("Where it is inside.", pattern=r"^.*\.ipynb$")]


class Comparison(View, frozen=True):
    """When two outputs are the same."""

    strategy: Annotated[Literal["exact", "normalized"], Markers("How closely.", defaulted=True)] = "normalized"
    floating_point_tolerance: Annotated[
        str, Markers("How far numbers may be apart.", pattern=f"^{NUMBER}", defaulted=True)
    ] = "0.0001"
    ignore_timestamps: On = True
    ignore_execution_count: On = True
    ignore_output_types: Texts = ()
    custom_timestamp_patterns: Texts = ()


class Output(View, frozen=True):
    """What a cell must print."""

    cell: Annotated[int, Markers("Its number.", minimum=0)]
    type: Text = ""
    shape: Text = ""
    min_value: Annotated[str, Markers("The least.", pattern=f"^-?{NUMBER}")] = ""
    max_value: Annotated[str, Markers("The most.", pattern=f"^-?{NUMBER}")] = ""
    not_empty: Off = False


class Item(View, frozen=True):
    """A file of a volume."""

    key: Annotated[str, Markers("What.", min_length=1)]
    path: Annotated[str, Markers("Where.", min_length=1, pattern="^[^/].*$")]
    mode: Mode = None


class ConfigMapVolume(View, frozen=True):
    """A volume of settings."""

    name: Annotated[str, Markers("Whose.", min_length=1)]
    default_mode: Mode = None
    items: Annotated[tuple[Item, ...], Markers("Its files.")] = ()
    optional: Flag = False


class EmptyDir(View, frozen=True):
    """A volume with nothing in it."""

    medium: Annotated[Literal["", "Memory"], Markers("On what.")] = ""
    size_limit: Annotated[
        str, Markers("How much.", pattern=r"^([0-9]+(\.[0-9]+)?)(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$")
    ] = ""


class Volume(View, frozen=True):
    """A volume of one kind or another."""

    name: Annotated[str, Markers("Its name.", max_length=63, pattern=NAME)]
    config_map: ConfigMapVolume | None = None
    empty_dir: EmptyDir | None = None


class JobToleration(View, frozen=True):
    """A taint that does not matter."""

    key: Text = ""
    operator: Annotated[Literal["Exists", "Equal"], Markers("How it is compared.", defaulted=True)] = "Equal"
    value: Text = ""
    effect: Annotated[Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"], Markers("Its effect.")] = ""
    toleration_seconds: Annotated[Int64 | None, Markers("For how long.")] = None


class PodConfig(View, frozen=True):
    """Where it runs."""

    container_image: Text
    service_account_name: Annotated[str, Markers("As whom.", defaulted=True)] = "default"
    tolerations: Annotated[tuple[JobToleration, ...], Markers("Taints that do not matter.")] = ()
    volumes: Annotated[tuple[Volume, ...], Markers("Its volumes.")] = ()


class ValidationConfig(View, frozen=True):
    """How strict it is."""

    level: Annotated[
        Literal["learning", "development", "staging", "production"], Markers("In a word.", defaulted=True)
    ] = "development"
    strict_mode: Off = False
    fail_on_stderr: Off = False
    fail_on_warnings: Off = False
    require_explicit_exit_codes: Off = False
    verify_assertions: Off = False
    check_output_types: Off = False
    detect_silent_failures: On = True
    expected_outputs: Annotated[tuple[Output, ...], Markers("What cells must print.")] = ()


class JobSpec(View, frozen=True):
    """What is run."""

    notebook: Notebook
    pod_config: PodConfig
    golden_notebook: Notebook | None = None
    comparison_config: Comparison | None = None
    validation_config: ValidationConfig | None = None
    timeout: Duration = "30m"


class CellResult(View, frozen=True):
    """What became of a cell."""

    cell_index: Annotated[int, Markers("Its number.", minimum=0)]
    status: Annotated[Literal["Success", "Failure", "Skipped"], Markers("In a word.")]
    error_message: Text = ""
    output: Text = ""
    execution_time: Text = ""


class JobStatus(View, frozen=True):
    """What became of it."""

    phase: Annotated[
        str,
        Markers(
            "In a word.",
            enum=(
                "Initializing",
                "Building",
                "BuildComplete",
                "ValidationRunning",
                "Succeeded",
                "Failed",
                "Pending",
                "Running",
            ),
        ),
    ] = ""
    start_time: Annotated[Time | None, Markers("When it began.")] = None
    completion_time: Annotated[Time | None, Markers("When it ended.")] = None
    last_retry_time: Annotated[Time | None, Markers("When it was tried last.")] = None
    retry_count: Annotated[int, Markers("How often.")] = 0
    message: Text = ""
    validation_pod_name: Text = ""
    conditions: Conditions = ()
    results: Annotated[tuple[CellResult, ...], Markers("Cell by cell.")] = ()


class NotebookValidationJob(View, frozen=True):
    """A notebook that is run to see whether it still works."""

    metadata: Meta
    spec: JobSpec | None = None
    status: JobStatus = JobStatus()


NOTEBOOK_VALIDATION_JOBS = CustomResource(
    "mlops.mlops.dev",
    "NotebookValidationJob",
    "notebookvalidationjobs",
    versions=(
        Version(
            "v1alpha1",
            NotebookValidationJob,
            columns=(
                PrinterColumn("Phase", "string", ".status.phase"),
                PrinterColumn("Notebook", "string", ".spec.notebook.path"),
                AGE,
                PrinterColumn("Message", "string", ".status.message", priority=1),
            ),
        ),
    ),
    short_names=("nvj", "nvjob"),
)
