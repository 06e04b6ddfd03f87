"""The CustomResourceDefinition of kwok's Stage, so that its manifests can be applied.

It holds the fields that are followed here and those that are refused with a sentence, so that nothing is dropped
without a word.
"""

from __future__ import annotations

from typing import Any, Final

from mooring.kube.objects import Object

_GROUP: Final = "kwok.x-k8s.io"


def _text(said: str, **more: Any) -> Object:
    return {"type": "string", "description": said, **more}


def _number(said: str, **more: Any) -> Object:
    return {"type": "integer", "format": "int64", "description": said, **more}


def _truth(said: str) -> Object:
    return {"type": "boolean", "description": said}


def _object(said: str, properties: Object, required: tuple[str, ...] = ()) -> Object:
    found: Object = {"type": "object", "description": said, "properties": properties}
    return found | ({"required": list(required)} if required else {})


def _list(said: str, item: Object) -> Object:
    return {"type": "array", "description": said, "items": item}


def _texts(said: str) -> Object:
    return {"type": "object", "description": said, "additionalProperties": {"type": "string"}}


_CEL: Final = _object(
    "An expression in CEL, which is not understood here.", {"expression": _text("The expression.")}, ("expression",)
)
_OPERATOR: Final = _text("How values are looked at: In, NotIn, Exists or DoesNotExist.")
_VALUES: Final = _list("The values for In and NotIn.", {"type": "string"})


def _source(said: str) -> Object:
    return _object(
        said,
        {
            "expressionFrom": _text("A path into the object, as in .metadata.annotations[\"delay\"]."),
            "jq": _object("The same in its newer form.", {"expression": _text("The path.")}),
            "cel": _CEL,
        },
    )  # fmt: skip


def _event() -> Object:
    return _object(
        "An event that is told of the object.",
        {
            "type": _text("Normal or Warning."),
            "reason": _text("A word for machines."),
            "message": _text("A sentence for people."),
        },
    )


def _finalizers() -> Object:
    item = _object("One finalizer.", {"value": _text("Its name.")})
    return _object(
        "Finalizers that are added or removed.",
        {
            "add": _list("Those to add.", item),
            "remove": _list("Those to remove.", item),
            "empty": _truth("Whether all are removed."),
        },
    )


def _impersonation() -> Object:
    return _object("Whom to write as; not followed here.", {"username": _text("A user.")}, ("username",))


def _patch() -> Object:
    return _object(
        "A change of the object.",
        {
            "subresource": _text("status, or nothing for the object itself."),
            "root": _text("The field that the template is about."),
            "template": _text("A Go template that makes the change in YAML."),
            "type": _text("How the change is put in.", enum=["json", "merge", "strategic"]),
            "impersonation": _impersonation(),
        },
    )


def _steps() -> Object:
    apply = {"type": "object", "description": "An object to apply, which is not understood here."}
    return _list(
        "What happens, one after the other; the newer form of next.",
        _object(
            "One step.",
            {
                "patch": _patch(),
                "event": _event(),
                "finalizers": _finalizers(),
                "delete": _truth("Whether the object is deleted."),
                "apply": apply | {"x-kubernetes-preserve-unknown-fields": True},
            },
        ),
    )


def _next() -> Object:
    return _object(
        "What happens when the delay is over.",
        {
            "event": _event(),
            "finalizers": _finalizers(),
            "delete": _truth("Whether the object is deleted."),
            "patches": _list("Changes of the object, one after the other.", _patch()),
            "statusTemplate": _text("A Go template that makes changes of the status in YAML."),
            "statusSubresource": _text("The subresource that holds the status.", default="status"),
            "statusPatchAs": _impersonation(),
        },
    )


def _selector() -> Object:
    newer = _object(
        "The same in its newer form.",
        {"key": _text("A path into the object."), "operator": _OPERATOR, "values": _VALUES},
    )
    expression = _object(
        "One condition.",
        {
            "key": _text('A path into the object, as in .status.phase or .conditions.[] | select( .type == "Ready" ).'),
            "operator": _OPERATOR,
            "values": _VALUES,
            "jq": newer,
            "cel": _CEL,
        },
    )
    return _object(
        "The objects that the Stage applies to, and the state that they must be in. An empty one selects all.",
        {
            "matchLabels": _texts("Labels that an object must have."),
            "matchAnnotations": _texts("Annotations that an object must have."),
            "matchExpressions": _list("Conditions that must all hold.", expression),
        },
    )


def _spec() -> Object:
    delay = {
        "durationMilliseconds": _number("How long to wait.", minimum=0),
        "durationFrom": _source("Where the object says how long: a duration such as 90s, or a moment."),
        "jitterDurationMilliseconds": _number(
            "The longest wait; each object waits for some time in between.", minimum=0
        ),
        "jitterDurationFrom": _source("Where the object says what the longest wait is."),
    }
    reference = {
        "apiGroup": _text("The version of the kind.", default="v1"),
        "kind": _text("Pod or Node."),
    }
    return _object(
        "What changes, on which objects, and when.",
        {
            "resourceRef": _object("The kind that it drives.", reference, ("kind",)),
            "selector": _selector(),
            "weight": _number("Of several Stages that match, one is drawn by weight.", minimum=0, default=0),
            "weightFrom": _source("Where the object says what the weight is."),
            "delay": _object("How long an object stays as it is before it changes.", delay),
            "next": _next(),
            "steps": _steps(),
            "immediateNextStage": _truth("Not needed here: the next Stage is always looked for at once."),
        },
        ("resourceRef",),
    )


def _status() -> Object:
    condition = {
        "type": _text("Used."),
        "status": _text("True or False."),
        "reason": _text("A word for machines."),
        "message": _text("Why it is not used."),
        "lastTransitionTime": _text("When that changed last.", format="date-time"),
    }
    conditions = _list("Whether the Stage is used.", _object("One condition.", condition, ("type", "status")))
    return _object("What became of it.", {"conditions": conditions | _BY_TYPE})


_BY_TYPE: Final = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
_COLUMNS: Final = (
    {"name": "Kind", "type": "string", "jsonPath": ".spec.resourceRef.kind"},
    {"name": "Used", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Used")].status'},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
)


def stage_definition() -> Object:
    """The definition as it is applied to a cluster."""
    schema = _object(
        "A step in the life of simulated nodes and their pods.",
        {
            "apiVersion": _text("The version of this form."),
            "kind": _text("Stage."),
            "metadata": {"type": "object"},
            "spec": _spec(),
            "status": _status(),
        },
        ("spec",),
    )
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": list(_COLUMNS),
    }
    names = {"kind": "Stage", "listKind": "StageList", "plural": "stages", "singular": "stage"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"stages.{_GROUP}", "annotations": {_APPROVED: _WHY}},
        "spec": {"group": _GROUP, "names": names, "scope": "Cluster", "versions": [version]},
    }


# Groups under k8s.io are protected; this is how a definition of one says that it may be there.
_APPROVED: Final = "api-approved.kubernetes.io"
_WHY: Final = "unapproved, a form of kwok's own definition"
