"""Access rules as they follow from declarations: a role for each controller and webhook, and one for what all share.

Rights are as narrow as RBAC can say. It knows neither label selectors nor metadata alone, and names only where they are
known beforehand; a controller that reads so is granted the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mooring.api.kinds import Kind
from mooring.catalog import Catalog
from mooring.client.rest_mapper import plural_of
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.rights import SUBRESOURCE_VERBS
from mooring.runtime.webhooks.model import Webhook
from mooring.runtime.webhooks.server import CONFIGURATION
from mooring.supervisor.external.process import LEASE
from mooring.supervisor.external.webhooks import CERTIFICATE_SECRET

__all__ = ["ACCOUNT", "NAMESPACE", "bindings_of", "namespaced_rules", "roles_of", "rules_by_name"]

ACCOUNT: Final = "mooring"
_NAMESPACE: Final = "mooring-system"
_GROUP: Final = "rbac.authorization.k8s.io"
_LABELS: Final = {"app.kubernetes.io/name": "mooring", "app.kubernetes.io/part-of": "mooring"}
_LEASES: Final = "coordination.k8s.io"
_VERBS: Final = (
    "get",
    "list",
    "watch",
    "create",
    "patch",
    "update",
    "delete",
    "escalate",
    "approve",
    "sign",
    "impersonate",
)
_READING: Final = ("list", "watch")
# The runtime's own roles, beside those that are called after controllers and webhooks.
RUNTIME: Final = "runtime"
WEBHOOKS: Final = "webhooks"
ELECTION: Final = "leader-election"
CERTIFICATES: Final = "webhook-certificates"

# Kinds that are named in rules and reviews, and of which there are no objects.
_NEVER_READ: Final = frozenset({"Signer", "SubjectAccessReview"})

NAMESPACE: Final[Object] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}

# Verbs by group and resource.
_Granted = dict[tuple[str, str], set[str]]


def roles_of(catalog: Catalog) -> list[Object]:
    """A ClusterRole for each part that can be run, and those of the runtime itself."""
    plurals = {(each.group, each.kind): each.plural for each in catalog.resources()}
    conflicts = catalog.conflicts
    found = [_role(RUNTIME, _runtime_rules()), _role(WEBHOOKS, _registration(catalog))]
    for controller in catalog.controllers():
        if controller.name in catalog.embedded_only:
            continue
        rules = _rules(_granted(controller, plurals))
        if (program := conflicts.get(controller.name)) is not None:
            # To warn of a program that does the same work.
            rules.append(_rule(_LEASES, ["leases"], ["get"], [program]))
        if (deployment := catalog.upstream.get(controller.name)) is not None:
            # To find out that another product does the same work.
            rules.append(_rule("apps", ["deployments"], ["list"], [deployment]))
        rules += _lease_rules(catalog, controller.name)
        found.append(_role(controller.name, rules))
    for switch in dict.fromkeys(each.switch for each in catalog.webhooks()):
        granted = _read_by([each for each in catalog.webhooks() if each.switch == switch], plurals)
        found.append(_role(switch, _rules(granted)))
    return found


def rules_by_name(catalog: Catalog) -> dict[str, list[Object]]:
    """The rules of every controller, by its name, and those of the runtime under all of them."""
    plurals = {(each.group, each.kind): each.plural for each in catalog.resources()}
    rules = {
        each.name: _rules(_granted(each, plurals)) + _lease_rules(catalog, each.name) for each in catalog.controllers()
    }
    return {RUNTIME: _runtime_rules(), **rules}


def _lease_rules(catalog: Catalog, controller: str) -> list[Object]:
    """To hold the Lease of a controller that has one. The name of what is created is not known to an authorizer."""
    if controller not in catalog.leases:
        return []
    _, lease = catalog.leases[controller]
    verbs = ["get", "list", "watch", "patch"]
    return [_rule(_LEASES, ["leases"], ["create"]), _rule(_LEASES, ["leases"], verbs, [lease])]


def _runtime_rules() -> list[Object]:
    return [_rule("", ["events"], ["create", "patch"])]


def namespaced_rules() -> dict[str, list[Object]]:
    """What `mooring run` needs in its own namespace, by the names of Roles: its Lease, and shared certificates."""
    return {
        # The name of what is being created is not known to an authorizer.
        ELECTION: [
            _rule(_LEASES, ["leases"], ["create"]),
            _rule(_LEASES, ["leases"], ["get", "patch"], [LEASE]),
        ],
        CERTIFICATES: [_rule("", ["secrets"], ["get", "patch"], [CERTIFICATE_SECRET])],
    }


def bindings_of(catalog: Catalog) -> list[Object]:
    """The service account of `mooring run`, with the roles of what runs by default."""
    account = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": _NAMESPACE}
    found: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": _NAMESPACE, "labels": dict(_LABELS)},
        },
    ]
    for name, rules in namespaced_rules().items():
        inside = {"name": f"mooring:{name}", "namespace": _NAMESPACE}
        found.append({"apiVersion": f"{_GROUP}/v1", "kind": "Role", "metadata": inside, "rules": rules})
        found.append(_binding("RoleBinding", dict(inside), "Role", account))
    for name in (RUNTIME, WEBHOOKS, *catalog.external):
        metadata = {"name": f"mooring:{name}", "labels": dict(_LABELS)}
        found.append(_binding("ClusterRoleBinding", metadata, "ClusterRole", dict(account)))
    return [{**each, "metadata": {**each["metadata"], "labels": dict(_LABELS)}} for each in found]


def _binding(kind: str, metadata: Object, role: str, account: Object) -> Object:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _GROUP, "kind": role, "name": metadata["name"]},
        "subjects": [dict(account)],
    }


def _role(name: str, rules: list[Object]) -> Object:
    metadata = {"name": f"mooring:{name}", "labels": {**_LABELS, "app.kubernetes.io/component": name}}
    return {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _registration(catalog: Catalog) -> list[Object]:
    """What it takes to be called by API servers: configurations of a known name, and the definitions of our kinds."""
    resources = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    rules = [_rule("admissionregistration.k8s.io", resources, ["create", "patch"], [CONFIGURATION])]
    if converted := sorted(each.definition for each in catalog.conversions()):
        rules.append(_rule("apiextensions.k8s.io", ["customresourcedefinitions"], ["get", "patch"], converted))
    return rules


def _granted(controller: Controller, plurals: Mapping[tuple[str, str], str]) -> _Granted:
    found: _Granted = {}
    for kind in controller.kinds:
        found.setdefault(_resource(kind, plurals), set()).update(_READING)
    for kind, rights in controller.writes.items():
        group, resource = _resource(kind, plurals)
        if set(rights) - {"finalizers", "impersonate"} and kind.kind not in _NEVER_READ:
            # What was refused or not answered is looked at live.
            found.setdefault((group, resource), set()).add("get")
        for right in rights:
            if right in SUBRESOURCE_VERBS:
                found.setdefault((group, f"{resource}/{right}"), set()).add(SUBRESOURCE_VERBS[right])
            else:
                found.setdefault((group, resource), set()).add(right)
    if controller.defined is not None:
        found["*", "*"] = {"get", *_READING, *controller.defined_writes}
    elif any(fold.defined is not None for fold in controller.folds):
        found["*", "*"] = set(_READING)
    return found


def _read_by(webhooks: Iterable[Webhook], plurals: Mapping[tuple[str, str], str]) -> _Granted:
    """What a webhook refuses for the lack of something, it looks for live; what it reads by name, it never follows."""
    found: _Granted = {}
    for kind in (kind for each in webhooks for kind in each.reads):
        found.setdefault(_resource(kind, plurals), set()).update(("get",) if kind.by_name else ("get", *_READING))
    return found


def _resource(kind: Kind[Any], plurals: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    group = kind.api_version.rpartition("/")[0]
    return group, plurals.get((group, kind.kind)) or plural_of(kind.kind)


def _rules(granted: _Granted) -> list[Object]:
    """One rule for the resources of a group that have the same verbs."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), verbs in sorted(granted.items()):
        together.setdefault((group, tuple(_ordered(verbs))), []).append(resource)
    return [_rule(group, resources, verbs) for (group, verbs), resources in together.items()]


def _ordered(verbs: set[str]) -> Iterator[str]:
    return (verb for verb in _VERBS if verb in verbs)


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Object:
    rule: Object = {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule
