"""The `options` of an AdmissionReview: CreateOptions, UpdateOptions or DeleteOptions, after the operation."""

from mooring.apiserver.messages.options import DeleteOptions
from mooring.apiserver.messages.request import HttpRequest
from mooring.kube.objects import Object

__all__ = ["delete_options_object", "write_options_object"]


_KINDS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}


def write_options_object(request: HttpRequest, operation: str) -> Object:
    """The options of a create, an update or a patch, which counts as one of the other two."""
    options_object: Object = {"kind": _KINDS[operation], "apiVersion": "meta.k8s.io/v1"}
    if dry_run := request.query.get("dryRun"):
        options_object["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation"):
        if value := request.text(name):
            options_object[name] = value
    return options_object


def delete_options_object(options: DeleteOptions) -> Object:
    options_object: Object = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    preconditions = {"uid": options.uid, "resourceVersion": options.resource_version}
    given = {
        "gracePeriodSeconds": options.grace,
        "preconditions": {name: value for name, value in preconditions.items() if value} or None,
        "propagationPolicy": options.propagation,
        "dryRun": ["All"] if options.dry_run else None,
    }
    return options_object | {name: value for name, value in given.items() if value is not None}
