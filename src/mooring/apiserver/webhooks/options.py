"""The options of a request as webhooks are told them: an object of the API, named after the operation."""

from mooring.apiserver.options import DeleteOptions
from mooring.apiserver.request import Request
from mooring.kube.objects import Object

__all__ = ["deletion_told", "write_told"]


_KINDS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}


def write_told(request: Request, operation: str) -> Object:
    """The options of a create, an update or a patch, which is told as one of the other two."""
    told: Object = {"kind": _KINDS[operation], "apiVersion": "meta.k8s.io/v1"}
    if dry_run := request.query.get("dryRun"):
        told["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation"):
        if value := request.text(name):
            told[name] = value
    return told


def deletion_told(options: DeleteOptions) -> Object:
    told: Object = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    preconditions = {"uid": options.uid, "resourceVersion": options.resource_version}
    given = {
        "gracePeriodSeconds": options.grace,
        "preconditions": {name: value for name, value in preconditions.items() if value} or None,
        "propagationPolicy": options.propagation,
        "dryRun": ["All"] if options.dry_run else None,
    }
    return told | {name: value for name, value in given.items() if value is not None}
