"""Nobody grants what they do not have, unless they may escalate or bind."""

from __future__ import annotations

import pytest

from mooring.apiserver.authorization.policy_rules import PolicyRule, missing_rules
from mooring.kube.objects import Object
from tests.apiserver.authorization.roles import ROLES, binding, cluster_binding, cluster_role, role, rule, urls
from tests.apiserver.world import Api, Headers

CLUSTER_ROLES = f"{ROLES}/clusterroles"
CLUSTER_BINDINGS = f"{ROLES}/clusterrolebindings"
NAMESPACED = f"{ROLES}/namespaces/default"
RBAC = "rbac.authorization.k8s.io"
WRITES = rule("create,update,patch,get", "roles,clusterroles,rolebindings,clusterrolebindings", groups=RBAC)
WHO = 'user "ada" (groups=["ops" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'

COVERS: list[tuple[str, PolicyRule, PolicyRule, int]] = [
    ("itself", PolicyRule(("get",), ("",), ("pods",)), PolicyRule(("get",), ("",), ("pods",)), 0),
    ("no second verb", PolicyRule(("get",), ("",), ("pods",)), PolicyRule(("get", "list"), ("",), ("pods",)), 1),
    ("all verbs by a star", PolicyRule(("*",), ("",), ("pods",)), PolicyRule(("*", "x"), ("",), ("pods",)), 0),
    ("no star by verbs", PolicyRule(("get",), ("",), ("pods",)), PolicyRule(("*",), ("",), ("pods",)), 1),
    ("subresources by a star", PolicyRule(("get",), ("",), ("*/a",)), PolicyRule(("get",), ("",), ("b/a",)), 0),
    ("one name by all", PolicyRule(("get",), ("",), ("x",)), PolicyRule(("get",), ("",), ("x",), ("n",)), 0),
    ("not all by one name", PolicyRule(("get",), ("",), ("x",), ("n",)), PolicyRule(("get",), ("",), ("x",)), 1),
    ("paths by a star", PolicyRule(("get",), urls=("/a/*",)), PolicyRule(("get",), urls=("/a/b", "/a/c*")), 0),
    ("no path above", PolicyRule(("get",), urls=("/a/*",)), PolicyRule(("get",), urls=("/a",)), 1),
]


@pytest.mark.parametrize(("name", "owned", "wanted", "missing"), COVERS, ids=[case[0] for case in COVERS])
def test_a_rule_covers(name: str, owned: PolicyRule, wanted: PolicyRule, missing: int) -> None:
    assert len(missing_rules([owned], [wanted])) == missing


@pytest.fixture
def ada(api: Api) -> Headers:
    """Ada writes roles and bindings, and reads pods."""
    api.made(CLUSTER_ROLES, cluster_role("ada", WRITES, rule("get,list", "pods")))
    api.made(CLUSTER_BINDINGS, cluster_binding("ada", "ClusterRole ada", "Group ops"))
    return api.user("ada", "ops")


def may_also(api: Api, *rules: Object) -> None:
    api.made(CLUSTER_ROLES, cluster_role("more", *rules))
    api.made(CLUSTER_BINDINGS, cluster_binding("more", "ClusterRole more", "User ada"))


def test_rights_that_one_has_are_granted_and_others_are_named(api: Api, ada: Headers) -> None:
    assert api.post(CLUSTER_ROLES, cluster_role("r", rule("get", "pods")), **ada).code == 201
    wanted = cluster_role("s", rule("get,delete,watch", "pods,secrets"), urls("get", "/metrics"))
    answer = api.post(CLUSTER_ROLES, wanted, **ada)
    assert answer.code == 403
    assert answer.body["message"] == (
        f'clusterroles.{RBAC} "s" is forbidden: {WHO}'
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "watch"]}\n'
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}'
    )
    assert answer.body["details"] == {"name": "s", "group": RBAC, "kind": "clusterroles"}
    named = role("n", rule("get", "secrets", names="a,b"))
    assert api.post(f"{NAMESPACED}/roles", named, **ada).body["message"] == (
        f'roles.{RBAC} "n" is forbidden: {WHO}'
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}\n'
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}'
    )


def test_missing_roles_of_ones_own_are_told_with_the_refusal(api: Api, ada: Headers) -> None:
    api.made(CLUSTER_BINDINGS, cluster_binding("b", "ClusterRole gone", "User ada"))
    message = api.post(CLUSTER_ROLES, cluster_role("s", rule("get", "secrets")), **ada).body["message"]
    assert message.endswith(f'; resolution errors: [clusterroles.{RBAC} "gone" not found]')


def test_a_role_cannot_be_extended_by_update_or_patch(api: Api, ada: Headers) -> None:
    api.made(CLUSTER_ROLES, cluster_role("r", rule("get", "pods")))
    wider = cluster_role("r", rule("*", "*"))
    assert api.put(f"{CLUSTER_ROLES}/r", wider, **ada).code == 403
    assert api.merge(f"{CLUSTER_ROLES}/r", {"rules": wider["rules"]}, **ada).code == 403
    assert api.apply(f"{CLUSTER_ROLES}/r?fieldManager=ada&force=true", wider, **ada).code == 403
    assert api.apply(f"{CLUSTER_ROLES}/new?fieldManager=ada", cluster_role("new", rule("*", "*")), **ada).code == 403


def test_only_owners_and_finalizers_of_a_larger_role_may_be_written(api: Api, ada: Headers) -> None:
    api.made(CLUSTER_ROLES, cluster_role("r", rule("*", "*")))
    assert api.merge(f"{CLUSTER_ROLES}/r", {"metadata": {"finalizers": ["example.com/x"]}}, **ada).code == 200
    assert api.merge(f"{CLUSTER_ROLES}/r", {"metadata": {"labels": {"a": "b"}}}, **ada).code == 403


def test_who_may_escalate_grants_anything(api: Api, ada: Headers) -> None:
    may_also(api, rule("escalate", "clusterroles", groups=RBAC))
    assert api.post(CLUSTER_ROLES, cluster_role("s", rule("*", "*")), **ada).code == 201
    assert api.post(f"{NAMESPACED}/roles", role("s", rule("*", "*")), **ada).code == 403


def test_an_aggregation_needs_everything(api: Api, ada: Headers) -> None:
    why = "must have cluster-admin privileges to use the aggregationRule"
    answer = api.post(CLUSTER_ROLES, cluster_role("s", aggregates="example.com/x"), **ada)
    assert (answer.code, answer.body["message"]) == (403, f'clusterroles.{RBAC} "s" is forbidden: {why}')
    api.made(CLUSTER_ROLES, cluster_role("s", aggregates="example.com/x"))
    assert api.put(f"{CLUSTER_ROLES}/s", cluster_role("s"), **ada).body["message"].endswith(why)
    may_also(api, rule("*", "*", groups="*"), urls("*", "*"))
    assert api.put(f"{CLUSTER_ROLES}/s", cluster_role("s"), **ada).code == 200


def test_a_binding_needs_the_rules_of_its_role_in_its_namespace(api: Api, ada: Headers) -> None:
    api.made(CLUSTER_ROLES, cluster_role("reads", rule("list", "pods")))
    api.made(CLUSTER_ROLES, cluster_role("writes", rule("delete", "pods")))
    assert api.post(CLUSTER_BINDINGS, cluster_binding("a", "ClusterRole reads", "User bob"), **ada).code == 201
    missing = f'{WHO}{{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}}'
    answer = api.post(CLUSTER_BINDINGS, cluster_binding("b", "ClusterRole writes", "User bob"), **ada)
    assert answer.body["message"] == f'clusterrolebindings.{RBAC} "b" is forbidden: {missing}'
    local = binding("b", "ClusterRole writes", "User bob")
    answer = api.post(f"{NAMESPACED}/rolebindings", local, **ada)
    assert answer.body["message"] == f'rolebindings.{RBAC} "b" is forbidden: {missing}'
    api.made(f"{NAMESPACED}/rolebindings", binding("mine", "ClusterRole writes", "User ada"))
    assert api.post(f"{NAMESPACED}/rolebindings", local, **ada).code == 201
    elsewhere = binding("b", "ClusterRole writes", "User bob", namespace="kube-system")
    assert api.post(f"{ROLES}/namespaces/kube-system/rolebindings", elsewhere, **ada).code == 403


def test_who_may_bind_a_role_binds_it_and_no_other(api: Api, ada: Headers) -> None:
    api.made(CLUSTER_ROLES, cluster_role("writes", rule("delete", "pods")))
    api.made(CLUSTER_ROLES, cluster_role("rules", rule("*", "*")))
    may_also(api, rule("bind", "clusterroles", groups=RBAC, names="writes"))
    assert api.post(CLUSTER_BINDINGS, cluster_binding("b", "ClusterRole writes", "User bob"), **ada).code == 201
    assert api.post(CLUSTER_BINDINGS, cluster_binding("c", "ClusterRole rules", "User bob"), **ada).code == 403


def test_a_binding_to_a_role_that_is_not_there_is_not_found(api: Api, ada: Headers) -> None:
    answer = api.post(CLUSTER_BINDINGS, cluster_binding("b", "ClusterRole gone", "User bob"), **ada)
    assert (answer.code, answer.body["message"]) == (404, f'clusterrolebindings.{RBAC} "gone" not found')


def test_masters_and_old_tokens_grant_anything(api: Api) -> None:
    for name in ("system:masters", "mooring:legacy-token"):
        made = cluster_role(name.split(":")[1], rule("*", "*"))
        assert api.post(CLUSTER_ROLES, made, **api.user("root", name)).code == 201


def test_a_signer_is_approved_by_who_has_a_right_to_it_or_to_its_domain(api: Api) -> None:
    group = "certificates.k8s.io"
    path = f"/apis/{group}/v1/certificatesigningrequests"
    everything = rule("*", "certificatesigningrequests,certificatesigningrequests/approval", groups=group)
    api.made(CLUSTER_ROLES, cluster_role("r", everything))
    api.made(CLUSTER_BINDINGS, cluster_binding("r", "ClusterRole r", "User ada"))
    ada = api.user("ada")
    api.made(path, request("example.com/serving"))
    approved = {
        "status": {"conditions": [{"type": "Approved", "status": "True", "reason": "R", "message": "m"}]},
    }
    answer = api.merge(f"{path}/csr/approval", approved, **ada)
    assert (answer.code, answer.body["message"]) == (
        403,
        f'certificatesigningrequests.{group} "csr" is forbidden: '
        'user not permitted to approve requests with signerName "example.com/serving"',
    )
    may_also(api, rule("approve", "signers", groups=group, names="example.com/*"))
    assert api.merge(f"{path}/csr/approval", approved, **ada).code == 200


def request(signer: str) -> Object:
    return {
        "metadata": {"name": "csr"},
        "spec": {
            "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K",
            "signerName": signer,
            "usages": ["digital signature"],
        },
    }
