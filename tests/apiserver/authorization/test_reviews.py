"""Access reviews say what the authorizers would."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.apiserver.authorization.roles import ROLES, binding, cluster_binding, cluster_role, role, rule, urls
from tests.apiserver.world import Api, Headers

GROUP = "/apis/authorization.k8s.io/v1"
OWN = f"{GROUP}/selfsubjectaccessreviews"
OTHERS = f"{GROUP}/subjectaccessreviews"
LOCAL = f"{GROUP}/namespaces/default/localsubjectaccessreviews"
PODS: Object = {"verb": "list", "resource": "pods", "namespace": "default"}


@pytest.fixture
def ada(api: Api) -> Headers:
    api.bootstrap_rbac()
    below = f"{ROLES}/namespaces/default"
    api.made(f"{below}/roles", role("r", rule("list", "pods"), rule("get", "secrets", names="mine")))
    api.made(f"{below}/rolebindings", binding("b", "Role r", "User ada"))
    return api.user("ada")


def status(api: Api, path: str, spec: Object, **headers: str) -> Any:
    answer = api.post(path, {"spec": spec}, **headers)
    assert answer.code == 201, answer.body
    return answer.body["status"]


def test_a_user_asks_about_themselves(api: Api, ada: Headers) -> None:
    allowed = {"allowed": True, "reason": 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "ada"'}
    assert status(api, OWN, {"resourceAttributes": PODS}, **ada) == allowed
    assert status(api, OWN, {"resourceAttributes": {**PODS, "verb": "get"}}, **ada) == {"allowed": False}
    assert status(api, OWN, {"resourceAttributes": {**PODS, "namespace": ""}}, **ada) == {"allowed": False}
    path = {"verb": "get", "path": "/metrics"}
    assert status(api, OWN, {"nonResourceAttributes": path}, **ada) == {"allowed": False}
    assert status(api, OWN, {"nonResourceAttributes": {**path, "path": "/healthz"}}, **ada)["allowed"]
    secret = {"verb": "get", "resource": "secrets", "namespace": "default"}
    assert status(api, OWN, {"resourceAttributes": {**secret, "name": "mine"}}, **ada)["allowed"]
    assert not status(api, OWN, {"resourceAttributes": secret}, **ada)["allowed"]


def test_only_who_may_asks_about_others(api: Api, ada: Headers) -> None:
    spec = {"resourceAttributes": PODS, "user": "ada", "groups": ["x"]}
    assert status(api, OTHERS, spec)["allowed"]
    assert status(api, LOCAL, spec)["allowed"]
    assert not status(api, OTHERS, {**spec, "user": "bob"})["allowed"]
    assert status(api, OTHERS, {**spec, "user": "", "groups": ["system:masters"]}) == {"allowed": True}
    refused = api.post(OTHERS, {"spec": spec}, **ada)
    assert refused.body["message"] == (
        'subjectaccessreviews.authorization.k8s.io is forbidden: User "ada" cannot create resource '
        '"subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope'
    )


def test_missing_roles_are_the_reason_of_a_refusal(api: Api, ada: Headers) -> None:
    api.made(f"{ROLES}/clusterrolebindings", cluster_binding("b", "ClusterRole gone", "User ada"))
    missing = 'clusterrole.rbac.authorization.k8s.io "gone" not found'
    spec = {"resourceAttributes": {**PODS, "verb": "delete"}}
    assert status(api, OWN, spec, **ada) == {"allowed": False, "reason": f"RBAC: {missing}"}
    rules = status(api, f"{GROUP}/selfsubjectrulesreviews", {"namespace": "default"}, **ada)
    assert rules["evaluationError"] == missing


def test_the_rules_of_a_user_in_a_namespace(api: Api, ada: Headers) -> None:
    api.made(f"{ROLES}/clusterroles", cluster_role("c", urls("get", "/metrics")))
    api.made(f"{ROLES}/clusterrolebindings", cluster_binding("c", "ClusterRole c", "User ada"))
    found = status(api, f"{GROUP}/selfsubjectrulesreviews", {"namespace": "default"}, **ada)
    assert rule("list", "pods") in found["resourceRules"]
    assert rule("get", "secrets", names="mine") in found["resourceRules"]
    assert rule("create", "selfsubjectreviews", groups="authentication.k8s.io") in found["resourceRules"]
    assert urls("get", "/metrics") in found["nonResourceRules"]
    assert (found["incomplete"], "evaluationError" in found) == (False, False)
    elsewhere = status(api, f"{GROUP}/selfsubjectrulesreviews", {"namespace": "kube-system"}, **ada)
    assert rule("list", "pods") not in elsewhere["resourceRules"]
    nowhere = api.post(f"{GROUP}/selfsubjectrulesreviews", {"spec": {}}, **ada)
    assert (nowhere.code, nowhere.body["message"]) == (400, "no namespace on request")


BAD: list[tuple[str, Object, str]] = [
    (OWN, {"spec": {}}, "exactly one of nonResourceAttributes or resourceAttributes must be specified"),
    (
        OWN,
        {"spec": {"resourceAttributes": PODS, "nonResourceAttributes": {"path": "/"}}},
        "cannot be specified in combination with resourceAttributes",
    ),
    (OWN, {"metadata": {"name": "x"}, "spec": {"resourceAttributes": PODS}}, "must be empty"),
    (OTHERS, {"spec": {"resourceAttributes": PODS}}, "at least one of user or group must be specified"),
    (
        LOCAL,
        {"spec": {"user": "ada", "resourceAttributes": {**PODS, "namespace": "other"}}},
        "must match metadata.namespace",
    ),
    (LOCAL, {"spec": {"user": "ada", "nonResourceAttributes": {"path": "/"}}}, "disallowed on this kind of request"),
]


@pytest.mark.parametrize(("path", "body", "why"), BAD, ids=[case[2] for case in BAD])
def test_a_question_that_makes_no_sense_is_invalid(api: Api, path: str, body: Object, why: str) -> None:
    answer = api.post(path, body)
    assert answer.code == 422
    assert why in answer.body["message"]
