"""Requests as another user, for those who may impersonate."""

from __future__ import annotations

import pytest

from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.impersonation import read_impersonation
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from tests.apiserver.authorization.roles import ROLES, cluster_binding, cluster_role, rule
from tests.apiserver.world import CONFIGMAPS, Api, Headers

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

USERS: list[tuple[str, list[tuple[str, str]], User]] = [
    ("a user", [("user", "jane")], User("jane", ("system:authenticated",))),
    (
        "a user with groups",
        [("user", "jane"), ("group", "a"), ("group", "b")],
        User("jane", ("a", "b", "system:authenticated")),
    ),
    (
        "a user whose groups say that they are all",
        [("user", "jane"), ("group", "system:authenticated")],
        User("jane", ("system:authenticated",)),
    ),
    (
        "a service account with the groups that it has",
        [("user", "system:serviceaccount:ci:builder")],
        User(
            "system:serviceaccount:ci:builder",
            ("system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"),
        ),
    ),
    ("nobody", [("user", "system:anonymous")], User("system:anonymous", ("system:unauthenticated",))),
    (
        "a user with uid and extra",
        [("user", "jane"), ("uid", "7"), ("extra-example.com%2fteam", "red"), ("extra-example.com%2fteam", "blue")],
        User("jane", ("system:authenticated",), "7", (("example.com/team", ("red", "blue")),)),
    ),
]


@pytest.mark.parametrize(("name", "headers", "user"), USERS, ids=[case[0] for case in USERS])
def test_headers_ask_for(name: str, headers: list[tuple[str, str]], user: User) -> None:
    found = read_impersonation([(f"impersonate-{key}".encode(), value.encode()) for key, value in headers])
    assert found is not None
    assert found.user() == user


def test_headers_that_name_no_user_are_refused() -> None:
    with pytest.raises(BadRequestError) as refused:
        read_impersonation([(b"impersonate-group", b"dev"), (b"impersonate-uid", b"7")])
    assert refused.value.message == (
        "requested [{Group  dev    } {UID  7  authentication.k8s.io/v1  }] without impersonating a user"
    )


def may(api: Api, *rules: Object) -> Headers:
    api.made(f"{ROLES}/clusterroles", cluster_role("r", *rules))
    api.made(f"{ROLES}/clusterrolebindings", cluster_binding("b", "ClusterRole r", "User ada"))
    return api.user("ada")


def test_the_administrator_acts_as_anybody_with_the_rights_of_that_user(api: Api) -> None:
    api.bootstrap_rbac()
    answer = api.post(WHO_AM_I, {}, impersonate_user="jane", impersonate_group="dev", impersonate_extra_team="red")
    assert answer.body["status"]["userInfo"] == {
        "username": "jane",
        "groups": ["dev", "system:authenticated"],
        "extra": {"team": ["red"]},
    }
    refused = api.get(CONFIGMAPS, impersonate_user="jane")
    assert refused.body["message"] == (
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" '
        'in API group "" in the namespace "default"'
    )


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (
            {"impersonate_user": "bob"},
            'users "bob" is forbidden: User "ada" cannot impersonate resource "users" '
            'in API group "" at the cluster scope',
        ),
        (
            {"impersonate_user": "system:serviceaccount:ci:builder"},
            'serviceaccounts "builder" is forbidden: User "ada" cannot impersonate resource "serviceaccounts" '
            'in API group "" in the namespace "ci"',
        ),
        (
            {"impersonate_user": "jane", "impersonate_group": "system:masters"},
            'groups "system:masters" is forbidden: User "ada" cannot impersonate resource "groups" '
            'in API group "" at the cluster scope',
        ),
        (
            {"impersonate_user": "jane", "impersonate_uid": "7"},
            'uids.authentication.k8s.io "7" is forbidden: User "ada" cannot impersonate resource "uids" '
            'in API group "authentication.k8s.io" at the cluster scope',
        ),
        (
            {"impersonate_user": "jane", "impersonate_extra_team": "red"},
            'userextras.authentication.k8s.io "red" is forbidden: User "ada" cannot impersonate resource '
            '"userextras/team" in API group "authentication.k8s.io" at the cluster scope',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_everything_that_is_asked_for_must_be_allowed(api: Api, headers: Headers, message: str) -> None:
    ada = may(api, rule("impersonate", "users", names="jane"))
    answer = api.get(CONFIGMAPS, **ada, **headers)
    assert (answer.code, answer.body["message"]) == (403, message)


def test_a_write_is_that_of_the_impersonated_user(api: Api) -> None:
    api.bootstrap_rbac()
    ada = may(api, rule("impersonate", "users,groups"))
    assert api.post(CONFIGMAPS, {"metadata": {"name": "c"}}, **ada).code == 403
    root = {"impersonate_user": "root", "impersonate_group": "system:masters"}
    assert api.post(CONFIGMAPS, {"metadata": {"name": "c"}}, **ada, **root).code == 201
