"""Escalation checks: nobody grants rights through roles and bindings that they do not have themselves.

A role needs its rules, or the verb escalate on it; a binding needs the rules of its role, or the verb bind on that. An
aggregationRule may gather any rule, so that it needs all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mooring.apiserver.authentication.users import LEGACY_TOKENS, MASTERS, User
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes, Authorizer
from mooring.apiserver.authorization.policy_rules import (
    FULL_AUTHORITY,
    PolicyRule,
    compact,
    compact_text,
    missing_rules,
    quoted_list,
    rules_of,
)
from mooring.apiserver.authorization.rbac import RBAC_GROUP, RbacAuthorizer
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError, ForbiddenError, NotFoundError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["EscalationCheck"]

_ROLE_NAME: Final = re.compile(rf"\b(?:cluster)?role\.{re.escape(RBAC_GROUP)}")
_ROLES: Final = frozenset({f"roles.{RBAC_GROUP}", f"clusterroles.{RBAC_GROUP}"})
_BINDINGS: Final = frozenset({f"rolebindings.{RBAC_GROUP}", f"clusterrolebindings.{RBAC_GROUP}"})
# What a garbage collector writes, and what the server itself does: a write of these alone grants nothing.
_HARMLESS: Final = frozenset({"ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation"})


class EscalationCheck:
    """An admission function. It runs after mutating admission, whose changes count, and before validation."""

    def __init__(self, authorize: Authorizer, rbac: RbacAuthorizer) -> None:
        self._authorize = authorize
        self._rbac = rbac

    def __call__(self, request: AdmissionRequest, view: ClusterView) -> Object | None:
        store, obj = request.resource.store, request.object
        if (store not in _ROLES and store not in _BINDINGS) or obj is None or _is_privileged(request):
            return None
        if request.old_object is not None and _same_grants(obj, request.old_object):
            return None
        user = User(request.user, request.groups)
        if store in _ROLES:
            self._check_role(request, user, obj)
        else:
            self._check_binding(request, user, obj)
        return None

    def _check_role(self, request: AdmissionRequest, user: User, role: Object) -> None:
        # The name is in the path of an update only.
        name = "" if request.operation == "CREATE" else request.name
        if self._allowed(user, "escalate", request.resource.plural, request.namespace, name):
            return
        self._confirm(request, user, rules_of(role))
        if (_aggregates(role) or _aggregates(request.old_object)) and self._missing(
            user, request.namespace, FULL_AUTHORITY
        ):
            raise _forbidden(request, "must have cluster-admin privileges to use the aggregationRule")

    def _check_binding(self, request: AdmissionRequest, user: User, binding: Object) -> None:
        reference, namespace = binding["roleRef"], request.namespace
        if self._allowed(user, "bind", f"{reference['kind'].lower()}s", namespace, reference["name"]):
            return
        if reference["kind"] == "Role" and not namespace:
            raise BadRequestError("Namespace parameter required.")
        try:
            rules = self._rbac.role_rules(reference, namespace)
        except NotFoundError:
            # The real server takes the role for an object of the kind that is written, here and below.
            raise NotFoundError.of(request.resource.plural, RBAC_GROUP, reference["name"]) from None
        self._confirm(request, user, rules)

    def _allowed(self, user: User, verb: str, resource: str, namespace: str, name: str) -> bool:
        about = Attributes(user, verb, RBAC_GROUP, resource, "", namespace, name, "*")
        return self._authorize(about).decision is AccessDecision.ALLOW

    def _missing(self, user: User, namespace: str, rules: Sequence[PolicyRule]) -> list[PolicyRule]:
        return missing_rules(self._rbac.grants(user, namespace).rules, rules)

    def _confirm(self, request: AdmissionRequest, user: User, rules: Sequence[PolicyRule]) -> None:
        missing = self._missing(user, request.namespace, rules)
        if not missing:
            return
        shown = "\n".join(sorted({compact_text(rule) for rule in compact(missing)}))
        who = f"user {go_quote(user.name)} (groups={quoted_list(user.groups)})"
        why = f"{who} is attempting to grant RBAC permissions not currently held:\n{shown}"
        error = self._rbac.grants(user, request.namespace).error
        if error:
            why += f"; resolution errors: [{_ROLE_NAME.sub(request.resource.qualified, error)}]"
        raise _forbidden(request, why)


def _is_privileged(request: AdmissionRequest) -> bool:
    """Whether nothing is checked: writes of the server itself have no user."""
    return not request.user or MASTERS in request.groups or LEGACY_TOKENS in request.groups


def _same_grants(new: Object, old: Object) -> bool:
    return _compared(new) == _compared(old)


def _compared(obj: Object) -> Object:
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in _HARMLESS}}


def _aggregates(role: Object | None) -> bool:
    return bool(role and role.get("aggregationRule", {}).get("clusterRoleSelectors"))


def _forbidden(request: AdmissionRequest, why: str) -> ForbiddenError:
    return ForbiddenError.of(request.resource.plural, RBAC_GROUP, request.name, why)
