"""Questions about access, which are asked by creating an object and are answered in it: nothing is stored.

Whoever has a token may do everything; there are no rules to ask yet. The answers say so truthfully.
"""

from typing import Any, Final

from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.users import Authenticate, User, user_info
from mooring.apiserver.discovery import review_resources
from mooring.apiserver.token_reviews import token_status
from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.kube.status import InvalidError

__all__ = ["review", "review_kind"]

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


def review(
    group: str, kind: str, given: Object, user: User, authenticate: Authenticate, accounts: ServiceAccountTokens
) -> Object:
    """The review with its answer."""
    spec: Any = given.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    answered: Object = {"kind": kind, "apiVersion": f"{group}/v1", "metadata": {}}
    if kind == "SelfSubjectReview":
        return answered | {"status": {"userInfo": user_info(user)}}
    if kind == "SelfSubjectRulesReview":
        return answered | {"spec": spec, "status": _EVERYTHING}
    if kind == "TokenReview":
        return answered | {"spec": spec, "status": token_status(spec, authenticate, accounts)}
    if bool(spec.get("resourceAttributes")) is bool(spec.get("nonResourceAttributes")):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise InvalidError("", group, "", [invalid("spec.resourceAttributes", spec.get("resourceAttributes"), why)])
    return answered | {"spec": spec, "status": _ANSWER}
