"""Requests of people with few rights: which attributes a request has, and how a refusal reads."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.apiserver.authorization.roles import ROLES, binding, cluster_binding, cluster_role, role, rule, urls
from tests.apiserver.world import CONFIGMAPS, PODS, Api, failed
from tests.registry.world import config

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def may(api: Api, *rules: Object, everywhere: bool = True) -> None:
    """Give ada a role with these rules."""
    kind = "ClusterRole" if everywhere else "Role"
    made = cluster_role("ada", *rules) if everywhere else role("ada", *rules)
    bound = (cluster_binding if everywhere else binding)("ada", f"{kind} ada", "User ada")
    below = ROLES if everywhere else f"{ROLES}/namespaces/default"
    api.made(f"{below}/{kind.lower()}s", made)
    api.made(f"{below}/{kind.lower()}bindings", bound)


REFUSALS = [
    (
        "GET",
        PODS,
        'pods is forbidden: User "ada" cannot list resource "pods" in API group "" in the namespace "default"',
    ),
    (
        "GET",
        f"{PODS}?watch=1",
        'pods is forbidden: User "ada" cannot watch resource "pods" in API group "" in the namespace "default"',
    ),
    (
        "GET",
        "/api/v1/pods",
        'pods is forbidden: User "ada" cannot list resource "pods" in API group "" at the cluster scope',
    ),
    (
        "GET",
        f"{PODS}/web",
        'pods "web" is forbidden: User "ada" cannot get resource "pods" in API group "" in the namespace "default"',
    ),
    (
        "GET",
        f"{PODS}?fieldSelector=metadata.name%3Dweb",
        'pods "web" is forbidden: User "ada" cannot list resource "pods" in API group "" in the namespace "default"',
    ),
    (
        "PUT",
        f"{DEPLOYMENTS}/web/scale",
        'deployments.apps "web" is forbidden: User "ada" cannot update resource "deployments/scale" '
        'in API group "apps" in the namespace "default"',
    ),
    (
        "PATCH",
        f"{DEPLOYMENTS}/web",
        'deployments.apps "web" is forbidden: User "ada" cannot patch resource "deployments" '
        'in API group "apps" in the namespace "default"',
    ),
    (
        "POST",
        f"{PODS}/web/binding",
        'pods "web" is forbidden: User "ada" cannot create resource "pods/binding" '
        'in API group "" in the namespace "default"',
    ),
    (
        "DELETE",
        DEPLOYMENTS,
        'deployments.apps is forbidden: User "ada" cannot deletecollection resource "deployments" '
        'in API group "apps" in the namespace "default"',
    ),
    (
        "DELETE",
        "/api/v1/nodes/n1",
        'nodes "n1" is forbidden: User "ada" cannot delete resource "nodes" in API group "" at the cluster scope',
    ),
    (
        "GET",
        "/api/v1/namespaces/default",
        'namespaces "default" is forbidden: User "ada" cannot get resource "namespaces" '
        'in API group "" in the namespace "default"',
    ),
    (
        "POST",
        "/apis/nowhere.io/v1/things",
        'things.nowhere.io is forbidden: User "ada" cannot create resource "things" '
        'in API group "nowhere.io" at the cluster scope',
    ),
    ("GET", "/metrics", 'forbidden: User "ada" cannot get path "/metrics"'),
    ("POST", "/nowhere", 'forbidden: User "ada" cannot post path "/nowhere"'),
    ("GET", "/<b>", 'forbidden: User "ada" cannot get path "/&lt;b&gt;"'),
]


@pytest.mark.parametrize(("method", "path", "message"), REFUSALS, ids=[f"{each[0]} {each[1]}" for each in REFUSALS])
def test_a_refusal_reads(api: Api, method: str, path: str, message: str) -> None:
    answer = api.send(method, path, **api.user("ada"))
    assert failed(answer) == (403, "Forbidden")
    assert answer.body["message"] == message


def test_the_details_of_a_refusal_name_the_object_and_are_empty_for_a_path(api: Api) -> None:
    ada = api.user("ada")
    details = api.get(f"{DEPLOYMENTS}/web", **ada).body["details"]
    assert details == {"name": "web", "group": "apps", "kind": "deployments"}
    assert api.get("/metrics", **ada).body["details"] == {}


def test_a_role_counts_from_the_next_request_on_and_no_longer_when_it_is_gone(api: Api) -> None:
    ada = api.user("ada")
    assert api.get(CONFIGMAPS, **ada).code == 403
    may(api, rule("list", "configmaps"), everywhere=False)
    assert api.get(CONFIGMAPS, **ada).code == 200
    assert api.get("/api/v1/configmaps", **ada).code == 403
    api.delete(f"{ROLES}/namespaces/default/rolebindings/ada")
    assert api.get(CONFIGMAPS, **ada).code == 403


def test_a_binding_without_its_role_is_named_in_the_refusal(api: Api) -> None:
    api.made(f"{ROLES}/clusterrolebindings", cluster_binding("b", "ClusterRole gone", "User ada"))
    message = api.get("/api/v1/nodes", **api.user("ada")).body["message"]
    assert message.endswith('at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')


def test_what_is_allowed_but_not_there_is_not_found(api: Api) -> None:
    may(api, rule("*", "*", groups="*"))
    ada = api.user("ada")
    assert failed(api.get(f"{CONFIGMAPS}/nothing", **ada)) == (404, "NotFound")
    assert api.get("/apis/nowhere.io/v1/things", **ada).code == 404


def test_a_watch_of_one_name_needs_a_right_to_that_name_only(api: Api) -> None:
    may(api, rule("list,watch", "configmaps", names="mine"))
    ada = api.user("ada")
    assert api.get(f"{CONFIGMAPS}?fieldSelector=metadata.name=mine", **ada).code == 200
    assert api.get(f"{CONFIGMAPS}?fieldSelector=metadata.name==mine", **ada).code == 200
    assert api.get(f"{CONFIGMAPS}?fieldSelector=metadata.name!=mine", **ada).code == 403
    assert api.get(f"{CONFIGMAPS}?fieldSelector=metadata.name=other", **ada).code == 403
    assert api.get(CONFIGMAPS, **ada).code == 403


def test_an_apply_or_update_that_creates_needs_the_right_to_create(api: Api) -> None:
    may(api, rule("patch,update", "configmaps,leases", groups=",coordination.k8s.io"))
    ada = api.user("ada")
    whole = {"apiVersion": "v1", "kind": "ConfigMap", **config("c")}
    applied = api.apply(f"{CONFIGMAPS}/c?fieldManager=ada", whole, **ada)
    assert applied.body["message"] == (
        'configmaps "c" is forbidden: User "ada" cannot create resource "configmaps" '
        'in API group "" in the namespace "default"'
    )
    lease = {"metadata": {"name": "l", "namespace": "default"}, "spec": {}}
    assert failed(api.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", lease, **ada)) == (
        403,
        "Forbidden",
    )
    assert failed(api.put(f"{CONFIGMAPS}/c", config("c"), **ada)) == (404, "NotFound")
    api.made(CONFIGMAPS, config("c"))
    assert api.apply(f"{CONFIGMAPS}/c?fieldManager=ada&force=true", whole, **ada).code == 200
    assert api.put(f"{CONFIGMAPS}/c", config("c"), **ada).code == 200


def test_everybody_sees_health_and_version_and_authenticated_users_discovery(api: Api) -> None:
    api.bootstrap_rbac()
    ada = api.user("ada")
    for path in ("/healthz", "/livez", "/readyz", "/version"):
        assert api.get(path, **ada).code == 200
    for path in ("/api", "/apis", "/api/v1", "/apis/apps/v1", "/openapi/v3"):
        assert api.get(path, **ada).code == 200
        refused = api.get(path, authorization="")
        assert refused.body["message"] == f'forbidden: User "system:anonymous" cannot get path "{path}"'


def test_paths_are_granted_to_the_letter(api: Api) -> None:
    may(api, urls("get", "/metrics"))
    ada = api.user("ada")
    assert api.get("/metrics", **ada).code == 200
    assert api.get("//metrics", **ada).code == 403
