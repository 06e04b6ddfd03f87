"""kwok's Stage as a custom resource, so that its manifests can be applied.

Its types hold the fields that are followed here and those that are refused with a sentence, so that nothing is dropped
without a word. They are there for the schema: a Stage is read as it was written.
"""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int64, Markers
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version, definition
from mooring.api.meta import Condition
from mooring.kube.objects import Object

__all__ = ["STAGES", "stage_definition"]


class _Cel(View, frozen=True):
    """An expression in CEL, which is not understood here."""

    expression: Annotated[str, Markers("The expression.")]


class _Jq(View, frozen=True):
    """The same in its newer form."""

    expression: Annotated[str, Markers("The path.")] = ""


class _Source(View, frozen=True):
    expression_from: Annotated[str, Markers('A path into the object, as in .metadata.annotations["delay"].')] = ""
    jq: _Jq | None = None
    cel: _Cel | None = None


class _Event(View, frozen=True):
    """An event that is told of the object."""

    type: Annotated[str, Markers("Normal or Warning.")] = ""
    reason: Annotated[str, Markers("A word for machines.")] = ""
    message: Annotated[str, Markers("A sentence for people.")] = ""


class _Finalizer(View, frozen=True):
    """One finalizer."""

    value: Annotated[str, Markers("Its name.")] = ""


class _Finalizers(View, frozen=True):
    """Finalizers that are added or removed."""

    add: Annotated[tuple[_Finalizer, ...], Markers("Those to add.")] = ()
    remove: Annotated[tuple[_Finalizer, ...], Markers("Those to remove.")] = ()
    empty: Annotated[bool, Markers("Whether all are removed.")] = False


class _Impersonation(View, frozen=True):
    """Whom to write as; not followed here."""

    username: Annotated[str, Markers("A user.")]


class _Patch(View, frozen=True):
    """A change of the object."""

    subresource: Annotated[str, Markers("status, or nothing for the object itself.")] = ""
    root: Annotated[str, Markers("The field that the template is about.")] = ""
    template: Annotated[str, Markers("A Go template that makes the change in YAML.")] = ""
    type: Annotated[str, Markers("How the change is put in.", enum=("json", "merge", "strategic"))] = ""
    impersonation: _Impersonation | None = None


class _Step(View, frozen=True):
    """One step."""

    patch: _Patch | None = None
    event: _Event | None = None
    finalizers: _Finalizers | None = None
    delete: Annotated[bool, Markers("Whether the object is deleted.")] = False
    apply: Annotated[Object | None, Markers("An object to apply, which is not understood here.")] = None


class _Next(View, frozen=True):
    """What happens when the delay is over."""

    event: _Event | None = None
    finalizers: _Finalizers | None = None
    delete: Annotated[bool, Markers("Whether the object is deleted.")] = False
    patches: Annotated[tuple[_Patch, ...], Markers("Changes of the object, one after the other.")] = ()
    status_template: Annotated[str, Markers("A Go template that makes changes of the status in YAML.")] = ""
    status_subresource: Annotated[str, Markers("The subresource that holds the status.", defaulted=True)] = "status"
    status_patch_as: _Impersonation | None = None


_Operator = Annotated[str, Markers("How values are looked at: In, NotIn, Exists or DoesNotExist.")]
_Values = Annotated[tuple[str, ...], Markers("The values for In and NotIn.")]


class _JqExpression(View, frozen=True):
    """The same in its newer form."""

    key: Annotated[str, Markers("A path into the object.")] = ""
    operator: _Operator = ""
    values: _Values = ()


class _Expression(View, frozen=True):
    """One condition."""

    key: Annotated[
        str, Markers('A path into the object, as in .status.phase or .conditions.[] | select( .type == "Ready" ).')
    ] = ""
    operator: _Operator = ""
    values: _Values = ()
    jq: _JqExpression | None = None
    cel: _Cel | None = None


class _Selector(View, frozen=True):
    """The objects that the Stage applies to, and the state that they must be in. An empty one selects all."""

    match_labels: Annotated[Labels | None, Markers("Labels that an object must have.")] = None
    match_annotations: Annotated[Labels | None, Markers("Annotations that an object must have.")] = None
    match_expressions: Annotated[tuple[_Expression, ...], Markers("Conditions that must all hold.")] = ()


class _Delay(View, frozen=True):
    """How long an object stays as it is before it changes."""

    duration_milliseconds: Annotated[Int64 | None, Markers("How long to wait.", minimum=0)] = None
    duration_from: Annotated[
        _Source | None, Markers("Where the object says how long: a duration such as 90s, or a moment.")
    ] = None
    jitter_duration_milliseconds: Annotated[
        Int64 | None, Markers("The longest wait; each object waits for some time in between.", minimum=0)
    ] = None
    jitter_duration_from: Annotated[_Source | None, Markers("Where the object says what the longest wait is.")] = None


class _Reference(View, frozen=True):
    """The kind that it drives."""

    kind: Annotated[str, Markers("Pod or Node.")]
    api_group: Annotated[str, Markers("The version of the kind.", defaulted=True)] = "v1"


class _Spec(View, frozen=True):
    """What changes, on which objects, and when."""

    resource_ref: _Reference
    selector: _Selector | None = None
    weight: Annotated[
        Int64, Markers("Of several Stages that match, one is drawn by weight.", minimum=0, defaulted=True)
    ] = 0
    weight_from: Annotated[_Source | None, Markers("Where the object says what the weight is.")] = None
    delay: _Delay | None = None
    next: _Next | None = None
    steps: Annotated[tuple[_Step, ...], Markers("What happens, one after the other; the newer form of next.")] = ()
    immediate_next_stage: Annotated[bool, Markers("Not needed here: the next Stage is always looked for at once.")] = (
        False
    )


class _Status(View, frozen=True):
    """What became of it."""

    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers("Used: whether simulated nodes follow the Stage.", list_type="map", list_map_keys=("type",)),
    ] = ()


class _Stage(View, frozen=True):
    """A step in the life of simulated nodes and their pods."""

    spec: _Spec
    status: _Status = _Status()


STAGES: Final = CustomResource(
    "kwok.x-k8s.io",
    "Stage",
    "stages",
    versions=(
        Version(
            "v1alpha1",
            _Stage,
            columns=(
                PrinterColumn("Kind", "string", ".spec.resourceRef.kind"),
                PrinterColumn("Used", "string", '.status.conditions[?(@.type=="Used")].status'),
                AGE,
            ),
        ),
    ),
    scope="Cluster",
    # Groups under k8s.io are protected; this is how a definition of one says that it may be there.
    annotations={"api-approved.kubernetes.io": "unapproved, a form of kwok's own definition"},
)


def stage_definition() -> Object:
    """The definition as it is applied to a cluster. It is shared and must not be changed."""
    return definition(STAGES)
