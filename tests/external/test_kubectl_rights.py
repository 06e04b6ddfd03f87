"""Rights as people look at them and give them with kubectl."""

from __future__ import annotations

import time

from tests.external.kubectl import Kubectl

# Aggregated roles get their rules from a controller.
AGGREGATION_SECONDS = 20.0


def can_i(kubectl: Kubectl, *arguments: str) -> str:
    """The answer; kubectl also says no with its exit code."""
    return kubectl.run("auth", "can-i", *arguments).stdout.strip()


def wait_for_yes(kubectl: Kubectl, *arguments: str) -> None:
    deadline = time.monotonic() + AGGREGATION_SECONDS
    while can_i(kubectl, *arguments) != "yes":
        assert time.monotonic() < deadline, f"can-i {' '.join(arguments)} never became yes"
        time.sleep(0.1)


def test_a_user_gets_what_a_role_gives_and_no_more(kubectl: Kubectl) -> None:
    ada = "--as=ada"
    assert can_i(kubectl, "list", "pods", ada) == "no"
    kubectl("create", "rolebinding", "ada", "--clusterrole=view", "--user=ada")
    wait_for_yes(kubectl, "list", "pods", ada)
    assert can_i(kubectl, "list", "pods", ada, "-n", "default") == "no"
    assert can_i(kubectl, "list", "secrets", ada) == "no"
    assert can_i(kubectl, "get", "/healthz", ada) == "yes"
    kubectl("get", "pods", ada)
    said = kubectl.fails("create", "configmap", "c", ada)
    assert (
        'configmaps is forbidden: User "ada" cannot create resource "configmaps" in API group "" '
        f'in the namespace "{kubectl.namespace}"'
    ) in said
    listed = kubectl("auth", "can-i", "--list", ada)
    assert "selfsubjectaccessreviews.authorization.k8s.io" in listed
    assert "deployments.apps" in listed
    assert "*.*" not in listed
    assert "Username    ada" in kubectl("auth", "whoami", ada).replace("UserName", "Username")


def test_a_role_of_ones_own_becomes_part_of_view(newest: Kubectl) -> None:
    name = newest.namespace
    rule = {"verbs": ["get"], "apiGroups": [f"{name}.example.com"], "resources": ["wrecks"]}
    labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    newest.apply({**kind, "metadata": {"name": name, "labels": labels}, "rules": [rule]})
    newest("create", "rolebinding", "bob", "--clusterrole=view", "--user=bob")
    deadline = time.monotonic() + AGGREGATION_SECONDS
    while rule not in (newest.get("clusterrole", "view")["rules"] or ()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    newest("delete", "clusterrole", name)
    while rule in newest.get("clusterrole", "view")["rules"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_nobody_gives_themselves_more(newest: Kubectl) -> None:
    newest("create", "role", "roles", "--verb=create", "--resource=roles.rbac.authorization.k8s.io")
    newest("create", "rolebinding", "eve", "--role=roles", "--user=eve")
    said = newest.fails("create", "role", "all", "--verb=delete", "--resource=pods", "--as=eve")
    assert 'user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently' in said
    assert '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}' in said


def test_acting_as_somebody_needs_a_right(newest: Kubectl) -> None:
    assert can_i(newest, "impersonate", "users", "--as=eve") == "no"
    assert "Groups" in newest("auth", "whoami", "--as=eve", "--as-group=dev")
    service_account = f"system:serviceaccount:{newest.namespace}:default"
    assert f"system:serviceaccounts:{newest.namespace}" in newest("auth", "whoami", f"--as={service_account}")
