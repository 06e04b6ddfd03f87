"""Questions about access, which are asked by creating an object and are answered in it: nothing is stored."""

from datetime import datetime
from typing import Any, Final

from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.users import User, user_info
from mooring.apiserver.authorization.access_control import AccessControl
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes
from mooring.apiserver.authorization.policy_rules import PolicyRule
from mooring.apiserver.authorization.request_attributes import demanded_fields
from mooring.apiserver.discovery import review_resources
from mooring.apiserver.token_reviews import token_status
from mooring.kube.errors import FieldError, invalid
from mooring.kube.node_identity import node_of
from mooring.kube.objects import Object
from mooring.kube.schemas.builtin import builtin_schema
from mooring.kube.status import BadRequestError, InvalidError
from mooring.kube.times import timestamp
from mooring.registry.request_body import check_fields, check_type
from mooring.registry.write_options import Options

__all__ = ["check_review", "review", "review_kind"]

_AUTHENTICATION: Final = "authentication.k8s.io"
_AUTHORIZATION: Final = "authorization.k8s.io"
_NODE_RULES: Final = "node authorizer does not support user rule resolution"


def review_kind(group: str, version: str, plural: str, namespace: str | None) -> str | None:
    """The kind of review that a path names, or None."""
    for resource in review_resources():
        if (resource.group, resource.version, resource.plural) == (group, version, plural):
            return resource.kind if group and resource.namespaced is (namespace is not None) else None
    return None


def check_review(kind: str, given: Any, options: Options) -> None:
    """Refuse what is no review of that kind, and say which fields are unknown."""
    resource = next(each for each in review_resources() if each.kind == kind)
    check_type(resource, given)
    check_fields(resource, builtin_schema(resource.api_version, kind), given, options)


def review(
    kind: str,
    given: Object,
    user: User,
    namespace: str | None,
    access: AccessControl,
    accounts: ServiceAccountTokens,
    now: datetime,
) -> Object:
    """The review with its answer. `namespace` is that of the path."""
    spec = _part(given, "spec")
    group = _AUTHENTICATION if kind in ("SelfSubjectReview", "TokenReview") else _AUTHORIZATION
    answered: Object = {"kind": kind, "apiVersion": f"{group}/v1", "metadata": {}}
    if kind == "SelfSubjectReview":
        return answered | {"metadata": {"creationTimestamp": timestamp(now)}, "status": {"userInfo": user_info(user)}}
    if kind == "TokenReview":
        metadata = {key: value for key, value in _part(given, "metadata").items() if key != "namespace"}
        return answered | {
            "metadata": metadata,
            "spec": spec,
            "status": token_status(spec, access.authenticate, accounts),
        }
    if kind == "SelfSubjectRulesReview":
        return answered | {"spec": {}, "status": _rules_status(spec, user, access)}
    metadata = dict(_part(given, "metadata"))
    if kind == "LocalSubjectAccessReview":
        if metadata.setdefault("namespace", namespace) != namespace:
            raise BadRequestError(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        answered["metadata"] = {"namespace": namespace}
    errors = _errors(kind, spec, metadata)
    if errors:
        # A real server names no kind here.
        raise InvalidError("", _AUTHORIZATION, "", errors)
    subject = user if kind == "SelfSubjectAccessReview" else _subject(spec)
    return answered | {"spec": spec, "status": _access_status(spec, subject, access)}


def _access_status(spec: Object, subject: User, access: AccessControl) -> Object:
    answer = access.authorizer(_attributes(spec, subject))
    status: Object = {"allowed": answer.decision is AccessDecision.ALLOW}
    if answer.decision is AccessDecision.DENY:
        status["denied"] = True
    return status | ({"reason": answer.reason} if answer.reason else {})


def _attributes(spec: Object, subject: User) -> Attributes:
    asked = _part(spec, "resourceAttributes")
    if spec.get("resourceAttributes") is None:
        path = _part(spec, "nonResourceAttributes")
        return Attributes(subject, _text(path, "verb"), path=_text(path, "path") or "/")
    verb, group, resource, subresource, namespace, name = (
        _text(asked, field) for field in ("verb", "group", "resource", "subresource", "namespace", "name")
    )
    fields = _fields(_part(asked, "fieldSelector"))
    version = _text(asked, "version") or "*"
    return Attributes(subject, verb, group, resource, subresource, namespace, name, version, fields=fields)


def _fields(selector: Object) -> tuple[tuple[str, str], ...]:
    """The fields that a selector wants to be equal to a value."""
    requirements: Any = selector.get("requirements")
    given = [each for each in requirements if isinstance(each, dict)] if isinstance(requirements, list) else []
    single = [each for each in given if each.get("operator") == "In" and len(_texts(each, "values")) == 1]
    required = tuple((_text(each, "key"), _texts(each, "values")[0]) for each in single)
    return (*demanded_fields([_text(selector, "rawSelector")]), *required)


def _subject(spec: Object) -> User:
    extra = _part(spec, "extra")
    pairs = tuple((str(key), _texts(extra, key)) for key in extra)
    return User(_text(spec, "user"), _texts(spec, "groups"), _text(spec, "uid"), pairs)


def _errors(kind: str, spec: Object, metadata: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    asked_path = _part(spec, "nonResourceAttributes")
    shown = {"Path": _text(asked_path, "path"), "Verb": _text(asked_path, "verb")}
    errors: list[FieldError] = []
    if resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        errors.append(invalid("spec.nonResourceAttributes", shown, why))
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        errors.append(invalid("spec.resourceAttributes", None, why))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    local = kind == "LocalSubjectAccessReview"
    # What is in no namespace loses the name of one on its way here.
    ignored = {"managedFields", "creationTimestamp", "namespace"}
    if any(value for field, value in metadata.items() if field not in ignored):
        why = "must be empty except for namespace" if local else "must be empty"
        errors.append(invalid("metadata", metadata, why))
    if local:
        asked = _text(_part(spec, "resourceAttributes"), "namespace")
        if resource is not None and asked != metadata["namespace"]:
            errors.append(invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"))
        if path is not None:
            errors.append(invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request"))
    return errors


def _rules_status(spec: Object, user: User, access: AccessControl) -> Object:
    namespace = _text(spec, "namespace")
    if not namespace:
        raise BadRequestError("no namespace on request")
    grants, is_node = access.rbac.grants(user, namespace), node_of(user.name, user.groups) is not None
    status: Object = {
        "resourceRules": [_resource_rule(rule) for rule in grants.rules if rule.resources],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)} for rule in grants.rules if rule.urls
        ],
        # What a node may do follows from its pods, and is no list of rules.
        "incomplete": is_node,
    }
    problems = [_NODE_RULES] if is_node else []
    problems += [grants.error] if grants.error else []
    shown = f"[{', '.join(problems)}]" if len(problems) > 1 else "".join(problems)
    return status | ({"evaluationError": shown} if shown else {})


def _resource_rule(rule: PolicyRule) -> Object:
    found: Object = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.api_groups),
        "resources": list(rule.resources),
        "resourceNames": list(rule.resource_names),
    }
    return {key: value for key, value in found.items() if value}


# Bodies are not checked against a schema, so every value may be of any type.


def _part(obj: Object, field: str) -> Object:
    found: Any = obj.get(field)
    return found if isinstance(found, dict) else {}


def _text(obj: Object, field: str) -> str:
    found: Any = obj.get(field)
    return found if isinstance(found, str) else ""


def _texts(obj: Object, field: str) -> tuple[str, ...]:
    found: Any = obj.get(field)
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()
