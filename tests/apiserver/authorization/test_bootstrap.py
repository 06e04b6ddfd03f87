"""The roles and bindings of every cluster: created at the first start, completed at later ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.apiserver.authorization.bootstrap import bootstrap_rbac
from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.apiserver.authorization.roles import rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GROUP = "rbac.authorization.k8s.io/v1"
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"


def started() -> Registry:
    registry = Registry(now=NOW, seed=1)
    bootstrap_rbac(registry, now=NOW)
    return registry


def find(registry: Registry, kind: str, name: str, namespace: str = "") -> Any:
    found = registry.find(GROUP, kind, namespace, name)
    assert found is not None
    return found


def update(registry: Registry, kind: str, obj: Object) -> None:
    registry.update(registry.resource(GROUP, kind), obj, now=NOW)


def test_there_are_as_many_as_in_a_real_cluster_with_metrics() -> None:
    registry = started()
    counts = {
        kind: registry.count(registry.resource(GROUP, kind))
        for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    }
    assert counts == {"ClusterRole": 68 + 1, "ClusterRoleBinding": 49, "Role": 7, "RoleBinding": 7}


def test_they_are_marked_and_complete() -> None:
    registry = started()
    admin = find(registry, "ClusterRole", "cluster-admin")
    assert admin["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
    assert admin["metadata"]["annotations"] == {AUTOUPDATE: "true"}
    assert admin["rules"] == [rule("*", "*", groups="*"), {"verbs": ["*"], "nonResourceURLs": ["*"]}]
    view = find(registry, "ClusterRole", "view")
    selector = {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}
    assert view["aggregationRule"] == {"clusterRoleSelectors": [selector]}
    assert view["rules"] is None
    anybody = find(registry, "ClusterRoleBinding", "system:public-info-viewer")
    assert [each["name"] for each in anybody["subjects"]] == ["system:authenticated", "system:unauthenticated"]
    signer = find(registry, "RoleBinding", "system:controller:bootstrap-signer", "kube-public")
    assert signer["subjects"] == [{"kind": "ServiceAccount", "name": "bootstrap-signer", "namespace": "kube-system"}]


def test_a_second_start_writes_nothing() -> None:
    registry = started()
    before = registry.revision
    bootstrap_rbac(registry, now=NOW)
    assert registry.revision == before


def test_what_is_missing_comes_back_and_what_is_more_stays() -> None:
    registry = started()
    role = find(registry, "ClusterRole", "system:basic-user")
    mine = rule("get", "pods")
    update(registry, "ClusterRole", {**role, "rules": [mine], "metadata": {"name": role["metadata"]["name"]}})
    binding = find(registry, "ClusterRoleBinding", "system:basic-user")
    ada = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ada"}
    update(registry, "ClusterRoleBinding", {**binding, "subjects": [ada]})
    registry.delete(registry.resource(GROUP, "ClusterRole"), "", "view", now=NOW)
    bootstrap_rbac(registry, now=NOW)
    found = find(registry, "ClusterRole", "system:basic-user")
    assert found["rules"][0] == mine
    assert rule("create", "selfsubjectreviews", groups="authentication.k8s.io") in found["rules"][1:]
    assert found["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
    subjects = find(registry, "ClusterRoleBinding", "system:basic-user")["subjects"]
    assert [each["name"] for each in subjects] == ["ada", "system:authenticated"]
    assert find(registry, "ClusterRole", "view")


def test_a_binding_to_another_role_is_made_anew() -> None:
    registry = started()
    binding = find(registry, "ClusterRoleBinding", "system:discovery")
    bindings = registry.resource(GROUP, "ClusterRoleBinding")
    registry.delete(bindings, "", "system:discovery", now=NOW)
    wrong = {**binding["roleRef"], "name": "view"}
    registry.create(bindings, {**binding, "metadata": {"name": "system:discovery"}, "roleRef": wrong}, now=NOW)
    bootstrap_rbac(registry, now=NOW)
    assert find(registry, "ClusterRoleBinding", "system:discovery")["roleRef"] == binding["roleRef"]


def test_one_that_cannot_be_put_right_is_told_of_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    registry = started()
    binding = find(registry, "ClusterRoleBinding", "system:discovery")
    bindings = registry.resource(GROUP, "ClusterRoleBinding")
    registry.delete(bindings, "", "system:discovery", now=NOW)
    metadata = {"name": "system:discovery", "finalizers": ["example.com/stays"]}
    wrong = {**binding["roleRef"], "name": "view"}
    registry.create(bindings, {**binding, "metadata": metadata, "roleRef": wrong}, now=NOW)
    registry.delete(bindings, "", "system:monitoring", now=NOW)
    bootstrap_rbac(registry, now=NOW)
    [record] = caplog.records
    assert record.getMessage() == (
        "ClusterRoleBinding system:discovery is not as it should be: "
        'clusterrolebindings.rbac.authorization.k8s.io "system:discovery" already exists'
    )
    assert find(registry, "ClusterRoleBinding", "system:monitoring")


def test_what_says_so_is_left_alone() -> None:
    registry = started()
    role = find(registry, "ClusterRole", "system:discovery")
    metadata = {"name": "system:discovery", "annotations": {AUTOUPDATE: "false"}}
    update(registry, "ClusterRole", {**role, "rules": [], "metadata": metadata})
    before = registry.revision
    bootstrap_rbac(registry, now=NOW)
    assert registry.revision == before
    assert find(registry, "ClusterRole", "system:discovery")["rules"] is None
