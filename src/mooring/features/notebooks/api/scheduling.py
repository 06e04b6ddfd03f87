"""Where a validation pod may land: tolerations, node selectors and affinity, as a job has them.

The types are written to the pod as they are read. An object that is given stays, empty as it may be: a label selector
without terms selects every pod, and an absent one none. An empty list is as good as none, and is left out.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Int64, Markers

__all__ = [
    "EFFECTS",
    "JobAffinity",
    "JobLabelSelector",
    "JobNodeAffinity",
    "JobNodeSelector",
    "JobPodAffinity",
    "JobToleration",
    "LabelExpression",
    "NodeExpression",
    "NodeTerm",
    "PodTerm",
    "WeightedNodeTerm",
    "WeightedPodTerm",
]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS: Final = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")

Weight = Annotated[Int32, Markers("How much it counts, from 1 to 100.", minimum=1, maximum=100)]
Values = Annotated[tuple[str, ...], Markers("The values that the operator compares with.")]


class JobToleration(View, frozen=True):
    """A taint that the pod tolerates. It permits a node and does not draw the pod there."""

    key: Annotated[str, Markers("The key of the taint; every key if empty, with the operator Exists.")] = ""
    operator: Annotated[
        str,
        Markers(
            "Equal compares the value, letter by letter; Exists does not.", enum=("Exists", "Equal"), defaulted=True
        ),
    ] = "Equal"
    value: Annotated[str, Markers("The value of the taint, for Equal.")] = ""
    effect: Annotated[str, Markers("The effect of the taint; every effect if empty.", enum=EFFECTS)] = ""
    toleration_seconds: Annotated[
        Int64 | None,
        Markers("How long the pod stays once the taint appears, for NoExecute alone; for ever if absent."),
    ] = None


class NodeExpression(View, frozen=True, omit_defaults=True):
    """A condition on one label or field of a node."""

    key: Annotated[str, Markers("The label, or the field.")]
    operator: Annotated[
        str, Markers("How they are compared.", enum=("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    ]
    values: Values = ()


class NodeTerm(View, frozen=True, omit_defaults=True):
    """Conditions that must all hold. Without any, no node matches."""

    match_expressions: Annotated[tuple[NodeExpression, ...], Markers("Conditions on labels.")] = ()
    match_fields: Annotated[tuple[NodeExpression, ...], Markers("Conditions on fields: metadata.name.")] = ()


class JobNodeSelector(View, frozen=True, omit_defaults=True):
    """Terms of which one must match."""

    node_selector_terms: Annotated[tuple[NodeTerm, ...], Markers("The terms.", min_items=1)]


class WeightedNodeTerm(View, frozen=True, omit_defaults=True):
    """A term that counts in favour of a node."""

    weight: Weight
    preference: Annotated[NodeTerm, Markers("The term.")]


class JobNodeAffinity(View, frozen=True, omit_defaults=True):
    """Nodes that the pod needs, or prefers."""

    required: Annotated[JobNodeSelector | None, Markers("What a node must have.")] = msgspec.field(
        default=None, name=_REQUIRED
    )
    preferred: Annotated[tuple[WeightedNodeTerm, ...], Markers("What counts in favour of a node.")] = msgspec.field(
        default=(), name=_PREFERRED
    )


class LabelExpression(View, frozen=True, omit_defaults=True):
    """A condition on one label."""

    key: Annotated[str, Markers("The label.")]
    operator: Annotated[str, Markers("How it is compared.", enum=("In", "NotIn", "Exists", "DoesNotExist"))]
    values: Values = ()


class JobLabelSelector(View, frozen=True, omit_defaults=True):
    """Conditions on labels that must all hold. Without any, everything is selected."""

    match_labels: Annotated[Labels, Markers("Labels with their values.")] = msgspec.field(default_factory=dict)
    match_expressions: Annotated[tuple[LabelExpression, ...], Markers("Other conditions.")] = ()


class PodTerm(View, frozen=True, omit_defaults=True):
    """Other pods, and how near is meant."""

    topology_key: Annotated[str, Markers("The label of nodes whose equal values mean the same place.")]
    label_selector: Annotated[
        JobLabelSelector | None, Markers("The pods that are meant: none if absent, all of them if empty.")
    ] = None
    namespaces: Annotated[tuple[str, ...], Markers("The namespaces of those pods; the job's own if absent.")] = ()
    namespace_selector: Annotated[
        JobLabelSelector | None, Markers("More namespaces of those pods, by label; all of them if empty.")
    ] = None


class WeightedPodTerm(View, frozen=True, omit_defaults=True):
    """A term that counts in favour of a node."""

    weight: Weight
    pod_affinity_term: Annotated[PodTerm, Markers("The term.")]


class JobPodAffinity(View, frozen=True, omit_defaults=True):
    """Other pods that the pod needs near, or prefers so; as anti-affinity, the other way round."""

    required: Annotated[tuple[PodTerm, ...], Markers("What must hold.")] = msgspec.field(default=(), name=_REQUIRED)
    preferred: Annotated[tuple[WeightedPodTerm, ...], Markers("What counts in favour of a node.")] = msgspec.field(
        default=(), name=_PREFERRED
    )


class JobAffinity(View, frozen=True, omit_defaults=True):
    """Rules about the nodes and the pods beside which the pod runs."""

    node_affinity: Annotated[JobNodeAffinity | None, Markers("Rules about nodes.")] = None
    pod_affinity: Annotated[JobPodAffinity | None, Markers("Pods to be near.")] = None
    pod_anti_affinity: Annotated[JobPodAffinity | None, Markers("Pods to keep away from.")] = None
