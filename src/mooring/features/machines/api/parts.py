"""What the kinds of cluster.x-k8s.io have in common: references to other objects, statuses, and gates."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Markers, Time, ValidationRule
from mooring.api.meta import Condition

DOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
# Group and version, and a group with or without one.
VERSIONED_GROUP: Final = rf"^{DOMAIN}/v[0-9][a-z0-9]*$"
GROUP_OR_VERSIONED: Final = rf"^{DOMAIN}(/v[0-9][a-z0-9]*)?$"
KIND_PATTERN: Final = "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"
CONDITION_TYPE: Final = rf"^({DOMAIN}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"

Conditions = Annotated[
    tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
    Markers("What was seen last, by type.", list_type="map", list_map_keys=("type",), max_items=32),
]
ClusterName = Annotated[str, Markers("The Cluster that it belongs to.", required=True, min_length=1, max_length=63)]


class ContractReference(View, frozen=True, omit_defaults=True):
    """An object of the same namespace, by group, kind and name. Its version follows from the group.

    Upstream allows a bare group only. A version behind it, or apiVersion in its place, is taken as well, because
    manifests for both versions of the API are in use with either spelling.
    """

    markers = Markers(
        validations=(ValidationRule("has(self.apiGroup) || has(self.apiVersion)", "apiGroup is required"),)
    )

    api_group: Annotated[
        str,
        Markers(
            "The group of the object; a version behind it is ignored.",
            min_length=1,
            max_length=253,
            pattern=GROUP_OR_VERSIONED,
        ),
    ] = ""
    kind: Annotated[
        str,
        Markers(
            "The kind of the object.",
            required=True,
            min_length=1,
            max_length=63,
            pattern=KIND_PATTERN,
        ),
    ] = ""
    name: Annotated[
        str, Markers("The name of the object.", required=True, min_length=1, max_length=253, pattern=f"^{DOMAIN}$")
    ] = ""
    api_version: Annotated[
        str,
        Markers("In place of apiGroup, as in v1beta1.", min_length=1, max_length=253, pattern=VERSIONED_GROUP),
    ] = ""

    @property
    def group(self) -> str:
        """The group alone, whichever way it is written."""
        return (self.api_group or self.api_version).partition("/")[0]

    @property
    def group_kind(self) -> tuple[str, str]:
        return self.group, self.kind

    @property
    def same_object(self) -> tuple[str, str, str]:
        """What two references to one object have in common."""
        return self.group, self.kind, self.name

    def __bool__(self) -> bool:
        return bool(self.name)


class ConditionGate(View, frozen=True, omit_defaults=True):
    """One more condition that counts."""

    condition_type: Annotated[
        str,
        Markers(
            "The type of the condition.",
            required=True,
            min_length=1,
            max_length=316,
            pattern=CONDITION_TYPE,
        ),
    ] = ""
    polarity: Annotated[
        str,
        Markers("Positive, the default: True is good. Negative: False is good.", enum=("Positive", "Negative")),
    ] = ""


class VersionCount(View, frozen=True):
    """How many Machines have a version."""

    version: Annotated[str, Markers("The version.", required=True, min_length=1, max_length=256)] = ""
    replicas: Annotated[Int32, Markers("How many have it.", minimum=1)] = 0


class DeprecatedCondition(View, frozen=True):
    """A condition as v1beta1 had them."""

    type: Annotated[str, Markers("Its type.", required=True, min_length=1, max_length=256)] = ""
    status: Annotated[str, Markers("True, False or Unknown.", required=True)] = ""
    severity: Annotated[str, Markers("Error, Warning or Info, where the status is False.", max_length=32)] = ""
    last_transition_time: Annotated[Time, Markers("When the status changed last.", required=True)] = ""
    reason: Annotated[str, Markers("The reason in one word.", min_length=1, max_length=256)] = ""
    message: Annotated[str, Markers("The reason in a sentence.", min_length=1, max_length=10240)] = ""


DeprecatedConditions = Annotated[tuple[DeprecatedCondition, ...], Markers("Conditions as v1beta1 had them.")]
FailureReason = Annotated[str, Markers("Why v1beta1 called it failed, in a word.")]
FailureMessage = Annotated[str, Markers("Why v1beta1 called it failed, in a sentence.", min_length=1, max_length=10240)]
Versions = Annotated[
    tuple[VersionCount, ...],
    Markers(
        "How many Machines have which version.",
        list_type="map",
        list_map_keys=("version",),
        min_items=1,
        max_items=100,
    ),
]
Replicas = Annotated[Int32, Markers("How many Machines there are.")]
ReadyReplicas = Annotated[Int32, Markers("How many Machines are ready.")]
AvailableReplicas = Annotated[Int32, Markers("How many Machines are ready for minReadySeconds.")]
UpToDateReplicas = Annotated[Int32, Markers("How many Machines are of the newest template.")]
SelectorText = Annotated[str, Markers("The selector as text, for autoscalers.", min_length=1, max_length=4096)]
