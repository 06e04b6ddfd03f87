"""Which webhooks a request concerns, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.admission.rules import Hook, hooks_of, invocation, is_exempt, selects_namespace, selects_object
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Resource, Resources
from mooring.registry.resources import builtin_resources

RESOURCES = Resources(builtin_resources())
PODS = RESOURCES.of_kind("v1", "Pod")
NODES = RESOURCES.of_kind("v1", "Node")
NAMESPACES = RESOURCES.of_kind("v1", "Namespace")
DEPLOYMENTS = RESOURCES.of_kind("apps/v1", "Deployment")
OLD_SCALERS = RESOURCES.of_kind("autoscaling/v1", "HorizontalPodAutoscaler")
SCALERS = RESOURCES.of_kind("autoscaling/v2", "HorizontalPodAutoscaler")


def hook(**rule: Any) -> Hook:
    apart = ("matchPolicy", "namespaceSelector", "objectSelector")
    rest: Object = {name: rule.pop(name) for name in apart if name in rule}
    usual = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    entry: Object = {"name": "h.example.com", "clientConfig": {}, "rules": [usual | rule], **rest}
    return hooks_of({"metadata": {"name": "c"}, "webhooks": [entry]})[0]


def called(found: Hook, resource: Resource, subresource: str = "", operation: str = "CREATE") -> Resource | None:
    matched = invocation(found, resource, subresource, operation, RESOURCES.in_store(resource.store))
    return None if matched is None else matched.resource


@pytest.mark.parametrize(
    ("rule", "resource", "subresource", "operation", "covered"),
    [
        ({}, PODS, "", "CREATE", True),
        # `*` is every resource and no sub-resource.
        ({}, PODS, "status", "UPDATE", False),
        ({"resources": ["*/*"]}, PODS, "status", "UPDATE", True),
        ({"resources": ["*/*"]}, PODS, "", "UPDATE", True),
        ({"resources": ["pods/*"]}, PODS, "binding", "CREATE", True),
        ({"resources": ["pods/*"]}, PODS, "", "CREATE", True),
        ({"resources": ["*/scale"]}, DEPLOYMENTS, "scale", "UPDATE", True),
        ({"resources": ["*/scale"]}, DEPLOYMENTS, "status", "UPDATE", False),
        ({"resources": ["pods"]}, DEPLOYMENTS, "", "CREATE", False),
        ({"apiGroups": [""]}, DEPLOYMENTS, "", "CREATE", False),
        ({"apiGroups": ["", "apps"]}, DEPLOYMENTS, "", "CREATE", True),
        ({"apiVersions": ["v2"]}, DEPLOYMENTS, "", "CREATE", False),
        ({"operations": ["UPDATE", "DELETE"]}, PODS, "", "CREATE", False),
        ({"operations": ["UPDATE", "DELETE"]}, PODS, "", "DELETE", True),
        ({"scope": "Namespaced"}, PODS, "", "CREATE", True),
        ({"scope": "Namespaced"}, NODES, "", "CREATE", False),
        # A namespace is in no namespace.
        ({"scope": "Namespaced"}, NAMESPACES, "", "CREATE", False),
        ({"scope": "Cluster"}, NAMESPACES, "", "CREATE", True),
        ({"scope": "Cluster"}, PODS, "", "CREATE", False),
    ],
)
def test_rules(rule: Object, resource: Resource, subresource: str, operation: str, covered: bool) -> None:
    assert (called(hook(**rule), resource, subresource, operation) is resource) == covered


def test_versions_of_the_same_objects_are_equivalent_unless_meant_exactly() -> None:
    newer = {"apiGroups": ["autoscaling"], "apiVersions": ["v2"]}
    assert called(hook(**newer), OLD_SCALERS) is SCALERS
    assert called(hook(**newer), SCALERS) is SCALERS
    assert called(hook(**newer, matchPolicy="Exact"), OLD_SCALERS) is None
    # Who has a rule for the version that was used gets that one.
    assert called(hook(**newer | {"apiVersions": ["v2", "v1"]}), OLD_SCALERS) is OLD_SCALERS


def test_configurations_are_exempt() -> None:
    exempt = {each.kind for each in RESOURCES if is_exempt(each)}
    assert exempt == {
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }


def labelled(**labels: str) -> Object:
    return {"metadata": {"labels": labels}}


@pytest.mark.parametrize(
    ("new", "old", "selected"),
    [
        (labelled(a="b"), None, True),
        (labelled(), None, False),
        (labelled(), labelled(a="b"), True),
        (None, labelled(a="b"), True),
        ({"metadata": {}}, None, False),
    ],
)
def test_an_object_is_selected_by_its_old_or_new_labels(new: Object | None, old: Object | None, selected: bool) -> None:
    assert selects_object(hook(objectSelector={"matchLabels": {"a": "b"}}), new, old) == selected
    assert selects_object(hook(), new, old)


@pytest.mark.parametrize(
    ("resource", "subresource", "namespace", "new", "selected"),
    [
        (PODS, "", "yes", None, True),
        (PODS, "", "no", None, False),
        (NODES, "", "", None, True),
        (NAMESPACES, "", "new", labelled(a="b"), True),
        (NAMESPACES, "", "yes", labelled(), False),
        (NAMESPACES, "", "yes", None, True),
        (NAMESPACES, "status", "yes", labelled(), True),
    ],
)
def test_namespaces_are_selected_by_their_labels(
    resource: Resource, subresource: str, namespace: str, new: Object | None, selected: bool
) -> None:
    spaces = {"yes": labelled(a="b"), "no": labelled()}
    found = hook(namespaceSelector={"matchLabels": {"a": "b"}})
    assert selects_namespace(found, resource, subresource, namespace, new, spaces.get) == selected


def test_a_namespace_that_is_not_there_is_not_found() -> None:
    found = hook(namespaceSelector={"matchLabels": {"a": "b"}})
    with pytest.raises(NotFoundError, match='namespaces "gone" not found'):
        selects_namespace(found, PODS, "", "gone", None, lambda _: None)
