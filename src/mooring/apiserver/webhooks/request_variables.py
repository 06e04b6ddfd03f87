"""A request as expressions see it: `request`, `authorizer` and the objects."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from mooring.admission.reviews import GroupVersionKind
from mooring.apiserver.authentication.users import User, user_info
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes
from mooring.apiserver.authorization.attributes import Authorizer as Authorize
from mooring.apiserver.webhooks.off_loop import on_this_loop
from mooring.apiserver.webhooks.review import AdmissionAttributes
from mooring.kube.cel.authorizer import Authorizer, CheckAnswer, PathCheck, ResourceCheck
from mooring.kube.cel.functions.times import read_timestamp
from mooring.kube.objects import Object
from mooring.registry import Resource

__all__ = ["namespace_variable", "request_variables"]

_NAMESPACE_FIELDS: Final = (
    "name",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
)
_TIMES: Final = ("creationTimestamp", "deletionTimestamp")


def request_variables(
    about: AdmissionAttributes,
    resource: Resource,
    kind: GroupVersionKind,
    obj: Object | None,
    old: Object | None,
    authorize: Authorize,
) -> dict[str, Any]:
    """`resource` and `kind` are those in which the objects are shown."""
    authorizer = Authorizer(partial(_decide, on_this_loop(authorize), about.user))
    check = ResourceCheck(
        authorizer, about.resource.group, about.resource.plural, about.subresource, about.namespace, about.name
    )
    return {
        "object": obj,
        "oldObject": old,
        "request": _request(about, resource, kind),
        "namespaceObject": None,
        "authorizer": authorizer,
        "authorizer.requestResource": check,
    }


def _request(about: AdmissionAttributes, resource: Resource, kind: GroupVersionKind) -> Object:
    made: Object = {
        "uid": "",
        "kind": _kind(kind),
        "resource": _resource(resource),
        "subResource": about.subresource,
        "requestKind": _kind(about.kind),
        "requestResource": _resource(about.resource),
        "requestSubResource": about.subresource,
        "name": about.name,
        "namespace": about.namespace,
        "operation": about.operation,
        "userInfo": user_info(about.user),
        "dryRun": about.dry_run,
        "options": about.options,
    }
    optional = ("subResource", "requestSubResource", "name", "namespace")
    return {key: value for key, value in made.items() if value or key not in optional}


def _kind(kind: GroupVersionKind) -> Object:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


def namespace_variable(namespace: Object | None) -> Object | None:
    """A namespace, of whose metadata expressions see a part."""
    if namespace is None:
        return None
    metadata = {key: value for key, value in namespace["metadata"].items() if key in _NAMESPACE_FIELDS}
    for key in _TIMES:
        if key in metadata:
            metadata[key] = read_timestamp(metadata[key])
    return {"metadata": metadata, "spec": namespace.get("spec") or {}, "status": namespace.get("status") or {}}


def _decide(authorize: Authorize, user: User, check: PathCheck | ResourceCheck, verb: str) -> CheckAnswer:
    account = check.authorizer.service_account
    if account is not None:
        namespace, name = account
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        user = User(f"system:serviceaccount:{namespace}:{name}", groups)
    if isinstance(check, PathCheck):
        asked = Attributes(user, verb, path=check.path)
    else:
        asked = Attributes(user, verb, check.group, check.resource, check.subresource, check.namespace, check.name, "*")
    answer = authorize(asked)
    return CheckAnswer(answer.decision is AccessDecision.ALLOW, answer.reason)
