"""From declared webhooks to the objects that make an API server call them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Rule, Webhook
from mooring.runtime.webhooks.target import WebhookTarget

GROUP: Final = "admissionregistration.k8s.io/v1"
KINDS: Final = {"mutating": "MutatingWebhookConfiguration", "validating": "ValidatingWebhookConfiguration"}
CONVERT_PATH: Final = "/convert"
_OUTSIDE_SYSTEM: Final = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}


def admit_path(webhook: Webhook) -> str:
    return f"/admit/{webhook.name}"


def hook_entry(webhook: Webhook, client: Object) -> Object:
    """One webhook as a configuration lists it, complete, so that nothing of it is left to defaults."""
    entry: Object = {
        "name": webhook.name,
        "clientConfig": client,
        "rules": [_rule(rule) for rule in webhook.rules],
        "failurePolicy": webhook.failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": _namespace_selector(webhook),
        "objectSelector": dict(webhook.object_selector),
        # A pure function has none.
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout_seconds,
        "admissionReviewVersions": ["v1"],
    }
    if webhook.phase == "mutating":
        entry["reinvocationPolicy"] = "IfNeeded" if webhook.reinvoked else "Never"
    return entry


def _rule(rule: Rule) -> Object:
    group, _, version = rule.api_version.rpartition("/")
    return {
        "apiGroups": ["*" if rule.api_version == "*" else group],
        "apiVersions": [version],
        "resources": [rule.resource],
        "operations": list(rule.operations),
        "scope": "*",
    }


def _namespace_selector(webhook: Webhook) -> Object:
    selector = dict(webhook.namespace_selector)
    if webhook.is_about_pods:
        selector["matchExpressions"] = [*selector.get("matchExpressions", ()), _OUTSIDE_SYSTEM]
    return selector


def configurations(name: str, webhooks: Iterable[Webhook], target: WebhookTarget, bundle: str) -> list[Object]:
    """The configurations that make a server call the webhooks; `bundle` has the authorities that it must trust."""
    found = []
    known = tuple(webhooks)
    for phase, kind in KINDS.items():
        entries = [hook_entry(each, target.client(admit_path(each), bundle)) for each in known if each.phase == phase]
        if entries:
            found.append({"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "webhooks": entries})
    return found


def conversion_intent(definition: str, target: WebhookTarget, bundle: str) -> Object:
    """What is applied to a definition to have its kind converted by us."""
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": target.client(CONVERT_PATH, bundle)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": definition},
        "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}},
    }
