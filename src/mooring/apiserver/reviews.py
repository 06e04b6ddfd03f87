"""Questions about access, which are asked by creating an object and are answered in it: nothing is stored.

Whoever has a token may do everything; there are no rules to ask yet. The answers say so truthfully.
"""

from collections.abc import Callable
from typing import Any, Final

from mooring.apiserver.authentication.users import User
from mooring.apiserver.discovery import review_resources
from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.kube.status import InvalidError

__all__ = ["Authenticate", "review", "review_kind"]

Authenticate = Callable[[str | None], User | None]

_ANSWER: Final = {"allowed": True, "reason": "every authenticated user may do everything"}
_EVERYTHING: Final = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def review_kind(group: str, version: str, plural: str, namespace: str | None) -> str | None:
    """The kind of review that a path names, or None."""
    for resource in review_resources():
        if (resource.group, resource.version, resource.plural) == (group, version, plural):
            return resource.kind if group and resource.namespaced is (namespace is not None) else None
    return None


def review(group: str, kind: str, given: Object, user: User, authenticate: Authenticate) -> Object:
    """The review with its answer."""
    spec: Any = given.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    answered: Object = {"kind": kind, "apiVersion": f"{group}/v1", "metadata": {}}
    if kind == "SelfSubjectReview":
        return answered | {"status": {"userInfo": _info(user)}}
    if kind == "SelfSubjectRulesReview":
        return answered | {"spec": spec, "status": _EVERYTHING}
    if kind == "TokenReview":
        return answered | {"spec": spec, "status": _token_status(spec, authenticate)}
    if bool(spec.get("resourceAttributes")) is bool(spec.get("nonResourceAttributes")):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise InvalidError("", group, "", [invalid("spec.resourceAttributes", spec.get("resourceAttributes"), why)])
    return answered | {"spec": spec, "status": _ANSWER}


def _token_status(spec: Object, authenticate: Authenticate) -> Object:
    token = spec.get("token")
    owner = authenticate(token) if isinstance(token, str) else None
    if owner is None:
        return {"authenticated": False, "user": {}, "error": "the token is not one of this server's"}
    return {"authenticated": True, "user": _info(owner)}


def _info(user: User) -> Object:
    found: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    return {key: value for key, value in found.items() if value}
