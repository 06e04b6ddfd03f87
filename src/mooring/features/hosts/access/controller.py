"""byoh-agent-rights: a Role for the agent of each host, with its own ByoHost and the Secrets of its claim.

Only a host that has an agent, or whose agent asks for its certificate, has one. Roles go with their hosts. A Secret is
in the Role only while the host's spec names it, so that a released host reads nothing any more. Nothing is granted that
the other controllers of hosts may not do themselves, so no right to escalate is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Bare, Meta
from mooring.api.rbac.views import PolicyRule
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST
from mooring.features.hosts.api.names import (
    AGENT,
    AGENT_REQUEST_PREFIX,
    AGENT_ROLE_PREFIX,
    AGENT_USER_PREFIX,
    API_VERSION,
    GROUP,
)
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST

_RBAC: Final = "rbac.authorization.k8s.io"


class AgentRole(Typed, frozen=True):
    metadata: Meta = Meta()
    rules: tuple[PolicyRule, ...] | None = None


ROLE: Final = Kind(f"{_RBAC}/v1", "Role", AgentRole)
ROLE_BINDING: Final = Kind(f"{_RBAC}/v1", "RoleBinding", Bare)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    host = view.get(BYO_HOST, *key)
    if host is None or host.metadata.deleting or not _has_agent(host, view):
        return Decision()
    name = f"{AGENT_ROLE_PREFIX}{host.metadata.name}"
    role, binding = view.get(ROLE, key.namespace, name), view.get(ROLE_BINDING, key.namespace, name)
    metadata = {"name": name, "namespace": key.namespace, "ownerReferences": [_owner(host)]}
    rules = tuple(_rules(host))
    plain = [_plain(rule) for rule in rules]
    writes: list[Write] = []
    if role is None:
        writes.append(Create(ROLE, {"metadata": metadata, "rules": plain}))
    elif role.rules != rules:
        writes.append(Patch(ROLE, key_of(role), {"rules": plain}))
    if binding is None:
        writes.append(Create(ROLE_BINDING, {"metadata": metadata, **_bound(name, host.metadata.name)}))
    return Decision(children=tuple(writes))


def _has_agent(host: HostClaim, view: View) -> bool:
    if AGENT in host.metadata.annotations:
        return True
    return view.get(CERTIFICATE_SIGNING_REQUEST, "", f"{AGENT_REQUEST_PREFIX}{host.metadata.name}") is not None


def _rules(host: HostClaim) -> Iterator[PolicyRule]:
    own = (host.metadata.name,)
    yield PolicyRule(("get", "list", "watch", "patch"), (GROUP,), ("byohosts",), own)
    yield PolicyRule(("patch",), (GROUP,), ("byohosts/status",), own)
    named = (host.spec.bootstrap_secret, host.spec.installation_secret)
    # A reference into another namespace gives no right there.
    here = ("", host.metadata.namespace)
    if secrets := sorted({each.name for each in named if each is not None and each.namespace in here}):
        yield PolicyRule(("get",), ("",), ("secrets",), tuple(secrets))


def _plain(rule: PolicyRule) -> Object:
    return {
        "apiGroups": list(rule.api_groups),
        "resources": list(rule.resources),
        "resourceNames": list(rule.resource_names),
        "verbs": list(rule.verbs),
    }


def _bound(role: str, host: str) -> Object:
    return {
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": f"{AGENT_USER_PREFIX}{host}"}],
    }


def _owner(host: HostClaim) -> Object:
    return {"apiVersion": API_VERSION, "kind": "ByoHost", "name": host.metadata.name, "uid": host.metadata.uid}


CONTROLLER: Final = Controller(
    "byoh-agent-rights",
    reconcile,
    of=BYO_HOST,
    reads=(ROLE, ROLE_BINDING, CERTIFICATE_SIGNING_REQUEST),
    writes={ROLE: ("create", "patch"), ROLE_BINDING: ("create",)},
)
