"""The NotebookValidationJob of the notebook validator in our words: patterns, defaults and enums at every level."""

from __future__ import annotations

from typing import Annotated, Literal

from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Int64, Markers, Time
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.api.meta import Meta
from tests.api.upstream import Conditions, Flag, Text, Texts

Off = Annotated[bool, Markers("A switch that is off.", defaulted=True)]
On = Annotated[bool, Markers("A switch that is on.", defaulted=True)]
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
