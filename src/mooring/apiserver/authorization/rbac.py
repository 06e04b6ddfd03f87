"""The RBAC authorizer: what roles allow the users that bindings name.

A user's rules are collected once for each namespace and kept until a role or a binding changes. Within them, the rules
that match a verb on a resource are looked up once, so that a request costs two look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes
from mooring.apiserver.authorization.policy_rules import PolicyRule, rules_of
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError, UnknownError
from mooring.registry.storage import Storage

__all__ = ["RBAC_GROUP", "Grants", "RbacAuthorizer"]

RBAC_GROUP: Final = "rbac.authorization.k8s.io"

_ROLES: Final = {"Role": f"roles.{RBAC_GROUP}", "ClusterRole": f"clusterroles.{RBAC_GROUP}"}
_ROLE_BINDINGS: Final = f"rolebindings.{RBAC_GROUP}"
_CLUSTER_ROLE_BINDINGS: Final = f"clusterrolebindings.{RBAC_GROUP}"
# Users in namespaces, and kinds of request of one user: clients choose both, so that neither may grow without end.
_MAX_CACHED_GRANTS: Final = 4096
_MAX_CACHED_MATCHES: Final = 1024


class _Grant(NamedTuple):
    rule: PolicyRule
    answer: AccessAnswer


class Grants:
    """All that bindings give one user in one namespace. `error` names the roles that bindings refer to in vain."""

    __slots__ = ("_grants", "_matches", "_refusal", "error")

    def __init__(self, grants: list[_Grant], errors: list[str]) -> None:
        self._grants = grants
        self.error = _aggregate(errors)
        self._matches: dict[tuple[str, ...], list[_Grant]] = {}
        self._refusal = AccessAnswer(AccessDecision.NO_OPINION, f"RBAC: {self.error}" if errors else "")

    @property
    def rules(self) -> list[PolicyRule]:
        return [grant.rule for grant in self._grants]

    def answer(self, about: Attributes) -> AccessAnswer:
        if about.path:
            key: tuple[str, ...] = about.verb, about.path
        else:
            key = about.verb, about.group, about.resource, about.subresource
        found = self._matches.get(key)
        if found is None:
            found = self._match(key)
        name = about.name
        for rule, answer in found:
            if not rule.resource_names or name in rule.resource_names:
                return answer
        return self._refusal

    def _match(self, key: tuple[str, ...]) -> list[_Grant]:
        if len(key) == 2:
            found = [grant for grant in self._grants if grant.rule.allows_path(*key)]
        else:
            found = [grant for grant in self._grants if grant.rule.allows(*key)]
        if len(self._matches) >= _MAX_CACHED_MATCHES:
            self._matches.clear()
        self._matches[key] = found
        return found


class RbacAuthorizer:
    """Answers by the roles and bindings of a storage. `forget` is called after each of their changes."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._grants: dict[tuple[str, tuple[str, ...], str], Grants] = {}

    def forget(self) -> None:
        self._grants.clear()

    def __call__(self, about: Attributes) -> AccessAnswer:
        return self.grants(about.user, about.namespace).answer(about)

    def grants(self, user: User, namespace: str) -> Grants:
        """What the user may do in a namespace; everywhere when it is empty."""
        key = user.name, user.groups, namespace
        found = self._grants.get(key)
        if found is None:
            if len(self._grants) >= _MAX_CACHED_GRANTS:
                self._grants.clear()
            found = self._grants[key] = self._collect(user, namespace)
        return found

    def role_rules(self, reference: Object, namespace: str) -> tuple[PolicyRule, ...]:
        """The rules of the role that a binding in a namespace refers to; NotFoundError without such a role."""
        kind, name = reference["kind"], reference["name"]
        if kind not in _ROLES:
            raise UnknownError(f"unsupported role reference kind: {go_quote(kind)}")
        role = self._storage.get(_ROLES[kind], namespace if kind == "Role" else "", name)
        if role is None:
            raise NotFoundError.of(f"{kind.lower()}s", RBAC_GROUP, name)
        return rules_of(role)

    def _collect(self, user: User, namespace: str) -> Grants:
        grants: list[_Grant] = []
        errors: list[str] = []
        for binding, subject in self._bindings(user, namespace):
            reference = binding["roleRef"]
            try:
                rules = self.role_rules(reference, namespace)
            except NotFoundError:
                errors.append(f"{reference['kind'].lower()}.{RBAC_GROUP} {go_quote(reference['name'])} not found")
                continue
            except UnknownError as error:
                errors.append(error.message)
                continue
            answer = AccessAnswer(AccessDecision.ALLOW, f"RBAC: allowed by {_described(binding, subject)}")
            grants += [_Grant(rule, answer) for rule in rules]
        return Grants(grants, errors)

    def _bindings(self, user: User, namespace: str) -> Iterator[tuple[Object, Object]]:
        """The bindings that are about the user, each with the first of its subjects that is."""
        bindings = list(self._storage.items(_CLUSTER_ROLE_BINDINGS))
        if namespace:
            bindings += self._storage.items(_ROLE_BINDINGS, namespace)
        for binding in bindings:
            inside = binding["metadata"].get("namespace", "")
            for subject in binding.get("subjects") or ():
                if _is_about(subject, user, inside):
                    yield binding, subject
                    break


def _is_about(subject: Object, user: User, namespace: str) -> bool:
    kind, name = subject["kind"], subject["name"]
    if kind == "User":
        return bool(user.name == name)
    if kind == "Group":
        return name in user.groups
    inside: Any = subject.get("namespace") or namespace
    return kind == "ServiceAccount" and bool(inside) and user.name == f"system:serviceaccount:{inside}:{name}"


def _described(binding: Object, subject: Object) -> str:
    metadata, reference = binding["metadata"], binding["roleRef"]
    name, inside = metadata["name"], metadata.get("namespace", "")
    kind = "RoleBinding" if inside else "ClusterRoleBinding"
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or inside}"
    role = f"{reference['kind']} {go_quote(reference['name'])}"
    shown = go_quote(f"{name}/{inside}" if inside else name)
    return f"{kind} {shown} of {role} to {subject['kind']} {go_quote(who)}"


def _aggregate(errors: list[str]) -> str:
    different = list(dict.fromkeys(errors))
    return f"[{', '.join(different)}]" if len(different) > 1 else "".join(different)
