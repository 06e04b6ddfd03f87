"""What rules allow, whom bindings are about, and what the reason of an answer says."""

from __future__ import annotations

import pytest

from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes
from mooring.apiserver.authorization.chain import authorizer_chain
from mooring.apiserver.authorization.rbac import RbacAuthorizer
from mooring.kube.objects import Object
from mooring.registry.storage import MemoryStorage
from tests.apiserver.authorization.roles import binding, cluster_binding, cluster_role, role, rule, stored, urls, user

ADA = user("ada", "ops")


def asked(verb: str, resource: str, *, group: str = "", name: str = "", namespace: str = "default") -> Attributes:
    plural, _, subresource = resource.partition("/")
    return Attributes(ADA, verb, group, plural, subresource, namespace, name)


RULES: list[tuple[str, Object, Attributes, bool]] = [
    ("the verb and the resource that it names", rule("get", "pods"), asked("get", "pods"), True),
    ("no other verb", rule("get", "pods"), asked("list", "pods"), False),
    ("no other resource", rule("get", "pods"), asked("get", "secrets"), False),
    ("no other group", rule("get", "pods"), asked("get", "pods", group="metrics.k8s.io"), False),
    ("every verb with a star", rule("*", "pods"), asked("escalate", "pods"), True),
    ("every group with a star", rule("get", "pods", groups="*"), asked("get", "pods", group="x.io"), True),
    ("every resource with a star, and what is below it", rule("get", "*"), asked("get", "pods/log"), True),
    ("no subresource by its resource", rule("get", "pods"), asked("get", "pods/log"), False),
    ("a subresource by its path", rule("get", "pods/log"), asked("get", "pods/log"), True),
    ("no resource by its subresource", rule("get", "pods/log"), asked("get", "pods"), False),
    ("a subresource of everything", rule("get", "*/scale"), asked("get", "deployments/scale"), True),
    ("a subresource of everything is no other one", rule("get", "*/scale"), asked("get", "pods/status"), False),
    ("no subresource by a star behind the slash", rule("get", "pods/*"), asked("get", "pods/log"), False),
    ("the name that it lists", rule("get", "pods", names="a,b"), asked("get", "pods", name="b"), True),
    ("no other name", rule("get", "pods", names="a"), asked("get", "pods", name="b"), False),
    ("no list by a name", rule("list", "pods", names="a"), asked("list", "pods"), False),
    ("no resource by a URL", urls("*", "*"), asked("get", "pods"), False),
]


@pytest.mark.parametrize(("name", "given", "about", "allowed"), RULES, ids=[case[0] for case in RULES])
def test_a_rule_allows(name: str, given: Object, about: Attributes, allowed: bool) -> None:
    rbac = RbacAuthorizer(stored(cluster_role("it", given), cluster_binding("it", "ClusterRole it", "User ada")))
    assert (rbac(about).decision is AccessDecision.ALLOW) is allowed


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/slis", False),
        ("/healthz/*", "/healthz/ping", True),
        ("/healthz/*", "/healthz", False),
        ("*", "/anything", True),
        ("/api*", "/apis/apps", True),
    ],
)
def test_a_url_ends_with_a_star_or_is_exact(url: str, path: str, allowed: bool) -> None:
    rbac = RbacAuthorizer(
        stored(cluster_role("it", urls("get", url)), cluster_binding("it", "ClusterRole it", "User ada"))
    )
    assert (rbac(Attributes(ADA, "get", path=path)).decision is AccessDecision.ALLOW) is allowed
    assert rbac(Attributes(ADA, "post", path=path)).decision is AccessDecision.NO_OPINION


SUBJECTS: list[tuple[str, Object, str]] = [
    (
        "a user everywhere",
        cluster_binding("b", "ClusterRole r", "User ada"),
        'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ada"',
    ),
    (
        "the first of the subjects that fits",
        cluster_binding("b", "ClusterRole r", "User bob", "Group ops", "User ada"),
        'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "ops"',
    ),
    (
        "a role in its namespace",
        binding("b", "Role r", "Group ops"),
        'RBAC: allowed by RoleBinding "b/default" of Role "r" to Group "ops"',
    ),
    (
        "a cluster role in one namespace",
        binding("b", "ClusterRole r", "User ada"),
        'RBAC: allowed by RoleBinding "b/default" of ClusterRole "r" to User "ada"',
    ),
    ("nobody by the name of a group", cluster_binding("b", "ClusterRole r", "User ops", "Group ada"), ""),
    ("nobody in another namespace", binding("b", "Role r", "User ada", namespace="other"), ""),
    (
        "a role that is missing",
        binding("b", "Role gone", "User ada"),
        'RBAC: role.rbac.authorization.k8s.io "gone" not found',
    ),
    (
        "a cluster role that is missing",
        cluster_binding("b", "ClusterRole gone", "User ada"),
        'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    ),
]


@pytest.mark.parametrize(("name", "bound", "reason"), SUBJECTS, ids=[case[0] for case in SUBJECTS])
def test_a_binding_is_about(name: str, bound: Object, reason: str) -> None:
    pods = rule("get", "pods")
    rbac = RbacAuthorizer(stored(role("r", pods), role("r", pods, namespace="other"), cluster_role("r", pods), bound))
    answer = rbac(asked("get", "pods"))
    assert answer.reason == reason
    assert (answer.decision is AccessDecision.ALLOW) is reason.startswith("RBAC: allowed")


def test_a_service_account_is_of_the_namespace_of_its_binding_unless_it_says_another() -> None:
    rbac = RbacAuthorizer(
        stored(
            role("r", rule("get", "pods")),
            binding("near", "Role r", "ServiceAccount builder"),
            binding("far", "Role r", "ServiceAccount ci/builder"),
        )
    )
    for namespace, name in (("default", "near"), ("ci", "far")):
        builder = user(f"system:serviceaccount:{namespace}:builder", "system:serviceaccounts")
        expected = f'RoleBinding "{name}/default" of Role "r" to ServiceAccount "builder/{namespace}"'
        assert rbac(asked("get", "pods")._replace(user=builder)).reason == f"RBAC: allowed by {expected}"


def test_several_missing_roles_are_listed_once_each() -> None:
    rbac = RbacAuthorizer(
        stored(
            cluster_binding("a", "ClusterRole x", "User ada"),
            cluster_binding("b", "ClusterRole x", "User ada"),
            cluster_binding("c", "ClusterRole y", "User ada"),
        )
    )
    one, two = (f'clusterrole.rbac.authorization.k8s.io "{name}" not found' for name in "xy")
    assert rbac(asked("get", "pods")).reason == f"RBAC: [{one}, {two}]"


class CountedStorage(MemoryStorage):
    """Counts how often all objects of a store are read."""

    def __init__(self, *objects: Object) -> None:
        super().__init__()
        self.reads = 0
        self._stores = stored(*objects)._stores

    def items(self, store: str, namespace: str | None = None) -> list[Object]:
        self.reads += 1
        return super().items(store, namespace)


def test_rules_are_collected_once_for_a_user_and_namespace_until_they_change() -> None:
    pods = rule("get", "pods")
    storage = CountedStorage(cluster_role("r", pods), cluster_binding("b", "ClusterRole r", "User ada"))
    rbac = RbacAuthorizer(storage)
    for verb in ("get", "list", "get"):
        rbac(asked(verb, "pods"))
    assert storage.reads == 2
    rbac(asked("get", "pods", namespace="other"))
    rbac(asked("get", "pods")._replace(user=user("ada", "dev")))
    assert storage.reads == 6
    rbac.forget()
    rbac(asked("get", "pods"))
    assert storage.reads == 8


def test_names_that_clients_make_up_do_not_fill_the_memory() -> None:
    rbac = RbacAuthorizer(stored())
    for number in range(5000):
        rbac(asked("get", f"kind-{number}"))
        rbac(asked("get", "pods", namespace=f"n{number}"))
    assert len(rbac._grants) < 4200
    assert len(rbac.grants(ADA, "default")._matches) < 1100


def test_privileged_groups_come_before_everything_else() -> None:
    def nobody(about: Attributes) -> AccessAnswer:
        return AccessAnswer(AccessDecision.DENY, "nobody")

    authorize = authorizer_chain(RbacAuthorizer(stored()), [nobody])
    everything = asked("delete", "nodes")
    for group, reason in (("system:masters", ""), ("mooring:legacy-token", "token made before authorization")):
        assert authorize(everything._replace(user=user("root", group))) == (AccessDecision.ALLOW, reason)


def test_the_reasons_of_all_who_have_no_opinion_are_told() -> None:
    rbac = RbacAuthorizer(stored(cluster_binding("b", "ClusterRole gone", "User ada")))
    authorize = authorizer_chain(rbac, [lambda about: AccessAnswer(AccessDecision.NO_OPINION, "no node")])
    answer = authorize(asked("get", "pods"))
    assert answer == (
        AccessDecision.NO_OPINION,
        'no node\nRBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )


def test_a_denial_ends_the_chain() -> None:
    rbac = RbacAuthorizer(stored(cluster_role("r", rule("*", "*")), cluster_binding("b", "ClusterRole r", "User ada")))
    authorize = authorizer_chain(rbac, [lambda about: AccessAnswer(AccessDecision.DENY, "never")])
    assert authorize(asked("get", "pods")) == (AccessDecision.DENY, "never")
