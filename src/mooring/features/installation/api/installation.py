"""Installation: charts that Helm shall have released, in order, with the rights of the person who asked for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Int64, Markers
from mooring.api.meta import Condition, Meta
from mooring.features.installation.api.chart import HelmChart
from mooring.runtime.effects import EffectRecord

Phase = Literal[
    "Pending", "Checking", "Installing", "Installed", "Upgrading", "RollingBack", "Uninstalling", "Failed", "Cancelled"
]
StepState = Literal["Waiting", "Running", "Done", "Failed", "Skipped", "Cancelled"]


class ChartRepository(View, frozen=True):
    """Where charts are fetched from."""

    name: Annotated[
        str, Markers("What the repository is called in commands for people.", pattern=r"^[A-Za-z0-9][-A-Za-z0-9._]*$")
    ]
    url: Annotated[
        str,
        Markers(
            "The address under which its index.yaml is, or oci:// and the place in a registry that has the charts.",
            pattern=r"^(https?|oci)://[^\s]+$",
        ),
    ]

    @property
    def is_registry(self) -> bool:
        """Whether charts are in a registry of images: they have no index, and are named by their whole address."""
        return self.url.startswith("oci://")


class Requester(View, frozen=True):
    """Who asked for it, as the API server knows them."""

    username: Annotated[str, Markers("The name of the user.")] = ""
    groups: Annotated[tuple[str, ...], Markers("The groups of the user.", list_type="atomic")] = ()


class InstallationSpec(View, frozen=True):
    """What Helm shall have released."""

    repository: Annotated[ChartRepository, Markers("Where the charts are fetched from.")]
    charts: Annotated[
        tuple[HelmChart, ...],
        Markers(
            "The charts, in the order in which they are installed; they are uninstalled in the reverse.",
            list_type="map",
            list_map_keys=("name",),
            min_items=1,
            max_items=16,
        ),
    ]
    crds: Annotated[
        Literal["Missing", "Chart"],
        Markers(
            "Missing makes the custom resource definitions of a chart that the cluster lacks, and leaves all others "
            "alone. Chart leaves them to Helm, which makes them at the first installation only.",
            defaulted=True,
        ),
    ] = "Missing"
    conflicts_with: Annotated[
        tuple[str, ...],
        Markers(
            "Controllers of Mooring that do the same work; while one of them runs, nothing is installed.",
            list_type="set",
            max_items=16,
        ),
    ] = ()
    timeout_seconds: Annotated[
        Int32,
        Markers("How long a chart may take until all it brought is ready.", minimum=1, maximum=86400, defaulted=True),
    ] = 600
    suspend: Annotated[bool, Markers("Whether what runs is cancelled and nothing more is done.")] = False
    attempt: Annotated[
        Int32, Markers("Raise it to have everything tried again after a failure.", minimum=1, defaulted=True)
    ] = 1
    rollback_to: Annotated[
        Int32 | None,
        Markers(
            "A revision of the release, where there is one chart. While it is set, Helm rolls back to it instead of "
            "installing.",
            minimum=1,
        ),
    ] = None
    requested_by: Annotated[
        Requester | None,
        Markers(
            "Who changed this spec last. Helm acts with their rights. The API server fills it in; nobody else can."
        ),
    ] = None


class StepStatus(View, frozen=True):
    """One thing that is done, and how far it is."""

    name: Annotated[str, Markers("What the step is called.")]
    title: Annotated[str, Markers("What the step does, for people.")] = ""
    command: Annotated[str, Markers("What a person would type to do the same.")] = ""
    state: Annotated[StepState, Markers("How far it is.")] = "Waiting"
    started_at: Annotated[str | None, Markers("When it began.", format="date-time")] = None
    finished_at: Annotated[str | None, Markers("When it ended.", format="date-time")] = None
    output: Annotated[str, Markers("The end of what was printed; it grows while the step runs.")] = ""
    run: Annotated[str, Markers("The id of its run, under which status.effects has it.")] = ""


class HelmRelease(View, frozen=True):
    """A release as Helm has it."""

    name: Annotated[str, Markers("The name of the release.")]
    namespace: Annotated[str, Markers("Its namespace.")] = ""
    chart: Annotated[str, Markers("The name of its chart.")] = ""
    version: Annotated[str, Markers("The version of its chart.")] = ""
    app_version: Annotated[str, Markers("The version of what the chart installs.")] = ""
    revision: Annotated[Int32, Markers("Its newest revision.")] = 0
    status: Annotated[
        str, Markers("What Helm says of that revision: deployed, failed, pending-install and others.")
    ] = ""
    updated: Annotated[str | None, Markers("When Helm last changed it.")] = None
    good_revision: Annotated[Int32, Markers("The newest revision that was fully installed; 0 where there is none.")] = 0

    @property
    def is_pending(self) -> bool:
        """Whether an operation of Helm is under way, or was when its process ended."""
        return self.status.startswith("pending-")


class InstallationStatus(View, frozen=True):
    """How far it is."""

    observed_generation: Annotated[Int64, Markers("The generation of the spec that the steps are about.")] = 0
    phase: Annotated[Phase, Markers("How far it is, in a word.")] = "Pending"
    message: Annotated[str, Markers("How far it is, in a sentence.")] = ""
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers("Ready: Helm has released what the spec says, or why not.", list_type="map", list_map_keys=("type",)),
    ] = ()
    steps: Annotated[
        tuple[StepStatus, ...],
        Markers("What is done, in order.", list_type="map", list_map_keys=("name",)),
    ] = ()
    releases: Annotated[
        tuple[HelmRelease, ...],
        Markers("The releases, as they were seen last.", list_type="map", list_map_keys=("name",)),
    ] = ()
    created_namespaces: Annotated[
        tuple[str, ...], Markers("The namespaces that were not there before.", list_type="set")
    ] = ()
    effects: Annotated[
        dict[str, EffectRecord],
        Markers("The last run of each effect.", of={"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    ] = msgspec.field(default_factory=dict)


class Installation(View, frozen=True):
    """Charts that Helm shall have released."""

    metadata: Meta = Meta()
    spec: Annotated[InstallationSpec, Markers("What Helm shall have released.")] = InstallationSpec(
        ChartRepository("", ""), ()
    )
    status: Annotated[InstallationStatus, Markers("How far it is.")] = InstallationStatus()


def as_object(step: StepStatus | HelmRelease) -> dict[str, Any]:
    """As a status has it, without what is not known."""
    return {name: value for name, value in msgspec.to_builtins(step).items() if value not in (None, "")}
