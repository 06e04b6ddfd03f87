"""Tokens of ServiceAccounts in both homes: how they are asked for, what they claim, and when they are refused."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.testing.homes import Home
from mooring.testing.http import Answer, Api

NAMESPACE = "tokens"
ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture(scope="module")
def account(api: Api) -> Iterator[Object]:
    """A ServiceAccount in a namespace of these tests."""
    api.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    found = api.post(ACCOUNTS, {"metadata": {"name": "robot"}, "automountServiceAccountToken": False}).body
    yield found
    api.delete(f"/api/v1/namespaces/{NAMESPACE}")


def pod(api: Api, name: str) -> Object:
    spec = {"serviceAccountName": "robot", "containers": [{"name": "main", "image": "busybox"}]}
    answer = api.post(PODS, {"metadata": {"name": name}, "spec": spec})
    assert answer.code == 201, answer.body
    found: Object = answer.body
    return found


def ask(api: Api, spec: Object, name: str = "robot", **metadata: str) -> Answer:
    return api.post(f"{ACCOUNTS}/{name}/token", {"metadata": metadata, "spec": spec})


def bound_to(kind: str, name: str, **more: str) -> Object:
    return {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name, **more}}


def token_of(answer: Answer) -> str:
    assert answer.code == 201, answer.body
    found: str = answer.body["status"]["token"]
    return found


def claims_of(token: str) -> Object:
    part = token.split(".")[1]
    found: Object = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def review(api: Api, token: str, *audiences: str) -> Object:
    answer = api.post(REVIEWS, {"spec": {"token": token, "audiences": list(audiences)}})
    assert answer.code == 201, answer.body
    found: Object = answer.body["status"]
    return found


def refusal(api: Api, token: str) -> str:
    """Why a token is refused, once it is: a cluster reads accounts and pods from a cache that may lag behind."""
    deadline = time.monotonic() + 12
    while "error" not in (status := review(api, token)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return str(status.get("error"))


def test_a_token_request_is_answered_in_full(api: Api, account: Object) -> None:
    answer = ask(api, {"expirationSeconds": 1200})
    claims = claims_of(token_of(answer))
    assert answer.body["spec"] == {
        "audiences": [claims["iss"]],
        "expirationSeconds": 1200,
        "boundObjectRef": None,
    }
    metadata = answer.body["metadata"]
    assert {key: metadata[key] for key in ("name", "namespace")} == {"name": "robot", "namespace": NAMESPACE}
    assert set(answer.body["status"]) == {"token", "expirationTimestamp"}
    assert answer.body["kind"] == "TokenRequest"


def test_what_a_token_claims(api: Api, account: Object) -> None:
    made = pod(api, "claims")
    claims = claims_of(token_of(ask(api, bound_to("Pod", "claims"))))
    assert list(claims) == ["aud", "exp", "iat", "iss", "jti", "kubernetes.io", "nbf", "sub"]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["aud"] == [claims["iss"]]
    assert claims["sub"] == f"system:serviceaccount:{NAMESPACE}:robot"
    assert claims["kubernetes.io"] == {
        "namespace": NAMESPACE,
        "pod": {"name": "claims", "uid": made["metadata"]["uid"]},
        "serviceaccount": {"name": "robot", "uid": account["metadata"]["uid"]},
    }


def test_a_pods_own_token_warns_after_an_hour_and_ends_after_a_year(api: Api, account: Object) -> None:
    pod(api, "extended")
    answer = ask(api, bound_to("Pod", "extended") | {"expirationSeconds": 3607})
    claims = claims_of(token_of(answer))
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
    assert answer.body["spec"]["expirationSeconds"] == 3607


REFUSED = [
    (
        {"expirationSeconds": 599},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: '
        "may not specify a duration less than 10 minutes",
    ),
    (
        {"expirationSeconds": 2**32 + 1},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: '
        "may not specify a duration larger than 2^32 seconds",
    ),
    (bound_to("Pod", "nobody"), 404, 'pods "nobody" not found'),
    (bound_to("Secret", "nothing"), 404, 'secrets "nothing" not found'),
    (bound_to("Node", "nowhere"), 404, 'nodes "nowhere" not found'),
    (bound_to("ConfigMap", "x"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
]


@pytest.mark.parametrize(("spec", "code", "message"), REFUSED)
def test_a_request_that_is_refused(api: Api, account: Object, spec: Object, code: int, message: str) -> None:
    answer = ask(api, spec)
    assert (answer.code, answer.body["message"]) == (code, message)


def test_a_request_for_another_account_than_its_url_says(api: Api, account: Object) -> None:
    answer = ask(api, {}, uid="other")
    uid = account["metadata"]["uid"]
    why = f"the UID in the token request (other) does not match the UID of the service account ({uid})"
    message = f'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": {why}'
    assert (answer.code, answer.body["message"]) == (409, message)
    answer = ask(api, {}, name="nobody")
    assert (answer.code, answer.body["message"]) == (404, 'serviceaccounts "nobody" not found')
    assert api.get(f"{ACCOUNTS}/robot/token").code == 405


def test_a_pod_of_another_account_gets_no_token_of_this_one(api: Api, account: Object) -> None:
    pod(api, "robots")
    api.post(ACCOUNTS, {"metadata": {"name": "other"}})
    answer = ask(api, bound_to("Pod", "robots"), name="other")
    why = 'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.'
    assert (answer.code, answer.body["message"]) == (400, why)
    answer = ask(api, bound_to("Pod", "robots", uid="older"))
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"].startswith('Operation cannot be fulfilled on Pod "robots": the UID in the bound obj')


def test_whom_a_token_stands_for(api_server: Home, api: Api, account: Object) -> None:
    made = pod(api, "someone")
    token = token_of(ask(api, bound_to("Pod", "someone")))
    with Api(api_server.url, token, api_server.ca) as robot:
        answer = robot.post(WHO_AM_I, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    info = answer.body["status"]["userInfo"]
    assert info == {
        "username": f"system:serviceaccount:{NAMESPACE}:robot",
        "uid": account["metadata"]["uid"],
        "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated"],
        "extra": {
            "authentication.kubernetes.io/credential-id": [f"JTI={claims_of(token)['jti']}"],
            "authentication.kubernetes.io/pod-name": ["someone"],
            "authentication.kubernetes.io/pod-uid": [made["metadata"]["uid"]],
        },
    }
    issuer = claims_of(token)["iss"]
    assert review(api, token) == {"authenticated": True, "user": info, "audiences": [issuer]}


def test_a_token_counts_for_its_audiences_only(api_server: Home, api: Api, account: Object) -> None:
    token = token_of(ask(api, {"audiences": ["vault", "registry"]}))
    assert review(api, token, "vault", "elsewhere")["audiences"] == ["vault"]
    refused = review(api, token)
    assert "authenticated" not in refused
    why = f'token audiences ["vault" "registry"] is invalid for the target audiences ["{claims_of(token)["iss"]}"]'
    assert refused["error"] == f"[invalid bearer token, {why}]"
    with Api(api_server.url, token, api_server.ca) as robot:
        assert robot.get("/api").code == 401


def test_a_token_ends_with_what_it_is_bound_to(api: Api, account: Object) -> None:
    pod(api, "passing")
    # Two tokens, because a cluster remembers for some seconds which ones it has verified.
    token, another = (token_of(ask(api, bound_to("Pod", "passing"))) for _ in range(2))
    assert review(api, another)["authenticated"] is True
    api.delete(f"{PODS}/passing", {"gracePeriodSeconds": 0})
    assert refusal(api, token) == "[invalid bearer token, service account token has been invalidated]"


def test_a_token_ends_with_its_account(api: Api, account: Object) -> None:
    api.post(ACCOUNTS, {"metadata": {"name": "passing"}})
    token = token_of(ask(api, {}, name="passing"))
    api.delete(f"{ACCOUNTS}/passing")
    assert refusal(api, token) == '[invalid bearer token, serviceaccounts "passing" not found]'


@pytest.mark.parametrize("token", ["other", "a.b.c"])
def test_a_token_of_no_known_form(api: Api, token: str) -> None:
    assert review(api, token) == {"user": {}, "error": "invalid bearer token"}


def test_what_others_need_to_verify_tokens(api: Api, account: Object) -> None:
    found = api.get("/.well-known/openid-configuration").body
    assert set(found) == {
        "issuer",
        "jwks_uri",
        "response_types_supported",
        "subject_types_supported",
        "id_token_signing_alg_values_supported",
    }
    answer = api.get("/openid/v1/jwks", accept="application/jwk-set+json")
    keys: Any = answer.body if isinstance(answer.body, dict) else json.loads(answer.body)
    (key,) = keys["keys"]
    token = token_of(ask(api, {}))
    head = token.split(".")[0]
    header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    assert header == {"alg": key["alg"], "kid": key["kid"]}
    assert claims_of(token)["iss"] == found["issuer"]
    assert key["use"] == "sig"


# The volume of a pod's own token

MOUNTED_AT = "/var/run/secrets/kubernetes.io/serviceaccount"


def mounting(api: Api, name: str, *, account: Object, **spec: Any) -> Object:
    api.post(ACCOUNTS, {"metadata": {"name": name}, **account})
    containers = [
        {"name": "plain", "image": "x"},
        {"name": "own", "image": "x", "volumeMounts": [{"name": "own", "mountPath": MOUNTED_AT}]},
    ]
    wanted = {
        "serviceAccountName": name,
        "initContainers": [{"name": "init", "image": "x"}],
        "containers": containers,
        "volumes": [{"name": "own", "emptyDir": {}}],
    }
    answer = api.post(PODS, {"metadata": {"name": name}, "spec": wanted | spec})
    assert answer.code == 201, answer.body
    found: Object = answer.body["spec"]
    return found


def test_a_pod_gets_a_volume_with_its_token(api: Api, account: Object) -> None:
    spec = mounting(api, "mounting", account={})
    _own, volume = spec["volumes"]
    name = volume["name"]
    assert re.fullmatch("kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}", name)
    namespace = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    assert volume == {"name": name, "projected": {"sources": sources, "defaultMode": 420}}
    mount = {"name": name, "readOnly": True, "mountPath": MOUNTED_AT}
    plain, with_its_own = spec["containers"]
    assert plain["volumeMounts"] == spec["initContainers"][0]["volumeMounts"] == [mount]
    assert with_its_own["volumeMounts"] == [{"name": "own", "mountPath": MOUNTED_AT}]


@pytest.mark.parametrize(
    ("name", "of_the_account", "of_the_pod", "mounted"),
    [("a", False, None, False), ("b", False, True, True), ("c", True, False, False), ("d", None, False, False)],
)
def test_a_pod_may_do_without_its_token(
    api: Api, account: Object, name: str, of_the_account: bool | None, of_the_pod: bool | None, mounted: bool
) -> None:
    given = {} if of_the_account is None else {"automountServiceAccountToken": of_the_account}
    chosen = {} if of_the_pod is None else {"automountServiceAccountToken": of_the_pod}
    assert len(mounting(api, name, account=given, **chosen)["volumes"]) == 1 + mounted


def test_a_volume_of_that_name_is_taken_for_the_pods_own(api: Api, account: Object) -> None:
    volumes = [{"name": "own", "emptyDir": {}}, {"name": "kube-api-access-mine", "emptyDir": {}}]
    spec = mounting(api, "mine", account={}, volumes=volumes)
    assert [volume["name"] for volume in spec["volumes"]] == ["own", "kube-api-access-mine"]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-mine"
