"""The audit log of both servers, event by event and field by field, for requests of every kind."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import pytest

from mooring.kube.objects import Object
from mooring.testing.homes import Home
from mooring.testing.http import Api
from tests.conformance.normal import UUID
from tests.conformance.users import ADMINISTRATOR, ANONYMOUS, Clients

NAMESPACE = "audited"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
ADMIN = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
USER = {"username": "user", "groups": ["system:authenticated"]}
STRANGER = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}
ALLOWED = {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
FORBIDDEN = {"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": ""}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
PATIENCE_SECONDS = 10.0

LIST = {"resource": "configmaps", "namespace": NAMESPACE, "apiVersion": "v1"}
ONE = {**LIST, "name": "one"}
OK: Object = {"metadata": {}, "code": 200}
MADE: Object = {"metadata": {}, "code": 201}


def refused(code: int, reason: str, message: str, **details: Any) -> Object:
    shown = {"details": details} if details else {}
    return {"metadata": {}, "status": "Failure", "message": message, "reason": reason, **shown, "code": code}


def config_map(name: str, **metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


class Case(NamedTuple):
    """A request, and its event but for what is the same in all events."""

    method: str
    path: str
    verb: str
    reference: Object | None
    status: Object
    body: Any = None
    user: str = ADMINISTRATOR
    content: str = "application/json"
    headers: dict[str, str] | None = None
    # Of the event: who sends it, and what differs from a usual one.
    sender: Object = ADMIN
    annotations: Object | None = ALLOWED
    more: Object | None = None
    stages: tuple[str, ...] = ("ResponseComplete",)


TWO_STAGES = ("ResponseStarted", "ResponseComplete")
ANONYMOUS_LIST = 'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" '
CASES = {
    "create": Case("POST", MAPS, "create", {**LIST, "name": "two"}, MADE, config_map("two")),
    "create with a generated name": Case(
        "POST",
        MAPS,
        "create",
        LIST,
        MADE,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}},
    ),
    "create what exists": Case(
        "POST",
        MAPS,
        "create",
        ONE,
        refused(409, "AlreadyExists", 'configmaps "one" already exists', name="one", kind="configmaps"),
        config_map("one"),
    ),
    "get": Case("GET", f"{MAPS}/one", "get", ONE, OK),
    "get what is not there": Case(
        "GET",
        f"{MAPS}/no",
        "get",
        {**LIST, "name": "no"},
        refused(404, "NotFound", 'configmaps "no" not found', name="no", kind="configmaps"),
    ),
    "list": Case("GET", f"{MAPS}?labelSelector=a%3Db&limit=3", "list", LIST, OK),
    "list everywhere": Case("GET", "/api/v1/configmaps", "list", {"resource": "configmaps", "apiVersion": "v1"}, OK),
    "list one": Case("GET", f"{MAPS}?fieldSelector=metadata.name%3Done", "list", ONE, OK),
    "watch": Case("GET", f"{MAPS}?watch=1&timeoutSeconds=1&labelSelector=none", "watch", LIST, OK, stages=TWO_STAGES),
    "a watch that may not be": Case(
        "GET",
        f"{MAPS}?watch=1&timeoutSeconds=1",
        "watch",
        LIST,
        refused(
            403,
            "Forbidden",
            'configmaps is forbidden: User "user" cannot watch resource "configmaps" in API group "" '
            f'in the namespace "{NAMESPACE}"',
            kind="configmaps",
        ),
        user="user",
        sender=USER,
        annotations=FORBIDDEN,
        stages=TWO_STAGES,
    ),
    "update what has changed": Case(
        "PUT",
        f"{MAPS}/one",
        "update",
        {**ONE, "resourceVersion": "7"},
        refused(
            409,
            "Conflict",
            'Operation cannot be fulfilled on configmaps "one": the object has been modified; '
            "please apply your changes to the latest version and try again",
            name="one",
            kind="configmaps",
        ),
        config_map("one", resourceVersion="7"),
    ),
    "patch": Case(
        "PATCH", f"{MAPS}/one", "patch", ONE, OK, {"data": {"a": "b"}}, content="application/merge-patch+json"
    ),
    "apply": Case(
        "PATCH",
        f"{MAPS}/applied?fieldManager=me",
        "patch",
        {**LIST, "name": "applied"},
        MADE,
        config_map("applied"),
        content="application/apply-patch+yaml",
    ),
    "dry run": Case("POST", f"{MAPS}?dryRun=All", "create", {**LIST, "name": "dry"}, MADE, config_map("dry")),
    "delete a collection": Case("DELETE", f"{MAPS}?labelSelector=no%3Dmatch", "deletecollection", LIST, OK),
    "a namespace": Case(
        "GET",
        f"/api/v1/namespaces/{NAMESPACE}",
        "get",
        {"resource": "namespaces", "namespace": NAMESPACE, "name": NAMESPACE, "apiVersion": "v1"},
        OK,
    ),
    "a sub-resource": Case(
        "GET",
        "/apis/apps/v1/namespaces/audited/deployments/no/scale",
        "get",
        {
            "resource": "deployments",
            "namespace": NAMESPACE,
            "name": "no",
            "apiGroup": "apps",
            "apiVersion": "v1",
            "subresource": "scale",
        },
        refused(404, "NotFound", 'deployments.apps "no" not found', name="no", group="apps", kind="deployments"),
    ),
    "logs": Case(
        "GET",
        f"/api/v1/namespaces/{NAMESPACE}/pods/no/log",
        "get",
        {"resource": "pods", "namespace": NAMESPACE, "name": "no", "apiVersion": "v1", "subresource": "log"},
        refused(404, "NotFound", 'pods "no" not found', name="no", kind="pods"),
        stages=TWO_STAGES,
    ),
    "a review": Case(
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "create",
        {"resource": "selfsubjectaccessreviews", "apiGroup": "authorization.k8s.io", "apiVersion": "v1"},
        MADE,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}},
        },
    ),
    "a kind that is not there": Case(
        "GET",
        "/apis/no.example.com/v1/things/x",
        "get",
        {"resource": "things", "name": "x", "apiGroup": "no.example.com", "apiVersion": "v1"},
        {"metadata": {}, "code": 404},
    ),
    "what is no resource": Case("GET", "/no-such-path?x=1", "get", None, {"metadata": {}, "code": 404}),
    "discovery": Case(
        "GET",
        "/api",
        "get",
        None,
        OK,
        user="user",
        sender=USER,
        annotations={
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole '
            '"system:discovery" to Group "system:authenticated"',
        },
    ),
    "a stranger": Case(
        "GET",
        MAPS,
        "list",
        LIST,
        refused(403, "Forbidden", f'{ANONYMOUS_LIST}in the namespace "{NAMESPACE}"', kind="configmaps"),
        user=ANONYMOUS,
        sender=STRANGER,
        annotations=FORBIDDEN,
    ),
    "a wrong token": Case(
        "GET",
        MAPS,
        "list",
        LIST,
        refused(401, "Unauthorized", "Unauthorized"),
        user=ANONYMOUS,
        headers={"Authorization": "Bearer wrong"},
        sender={},
        annotations=None,
        stages=("ResponseStarted",),
    ),
    "impersonation": Case(
        "GET",
        f"{MAPS}/one",
        "get",
        ONE,
        OK,
        headers={
            "Impersonate-User": "bob",
            "Impersonate-Group": "system:masters",
            "Impersonate-Uid": "u1",
            "Impersonate-Extra-scopes": "a",
        },
        more={
            "impersonatedUser": {
                "username": "bob",
                "uid": "u1",
                "groups": ["system:masters", "system:authenticated"],
                "extra": {"scopes": ["a"]},
            }
        },
    ),
    "impersonation that may not be": Case(
        "GET",
        MAPS,
        "list",
        LIST,
        refused(
            403,
            "Forbidden",
            'users "bob" is forbidden: User "user" cannot impersonate resource "users" in API group "" '
            "at the cluster scope",
            name="bob",
            kind="users",
        ),
        user="user",
        headers={"Impersonate-User": "bob"},
        sender=USER,
        annotations=None,
    ),
    "proxies": Case(
        "GET",
        f"{MAPS}/one",
        "get",
        ONE,
        OK,
        headers={"X-Forwarded-For": "10.1.2.3, junk", "X-Real-Ip": "10.9.9.9"},
        more={"sourceIPs": ["10.1.2.3", "10.9.9.9", "127.0.0.1"]},
    ),
    "a long name of a program": Case(
        "GET",
        f"{MAPS}/one",
        "get",
        ONE,
        OK,
        headers={"User-Agent": "x" * 1100},
        more={"userAgent": f"{'x' * 1024}...TRUNCATED"},
    ),
}


@pytest.fixture(scope="module", autouse=True)
def namespace(api: Api) -> Iterator[None]:
    made = api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    assert made.code == 201, made.body
    assert api.post(MAPS, config_map("one")).code == 201
    yield
    for name in [each["metadata"]["name"] for each in api.get(MAPS).body["items"]]:
        api.delete(f"{MAPS}/{name}")


@pytest.mark.parametrize("name", CASES)
def test_the_event_of_a_request_is_that_of_the_real_server(api_server: Home, clients: Clients, name: str) -> None:
    case = CASES[name]
    audit_id = f"audit of {name}"
    path, _, query = case.path.partition("?")
    answer = clients[case.user].request(
        case.method,
        path,
        case.body,
        content=case.content,
        accept="*/*",
        headers={"User-Agent": "suite", "Audit-ID": audit_id, **(case.headers or {})},
        **dict(parse_qsl(query)),
    )
    assert answer.headers["audit-id"] == audit_id
    found = events(api_server, lambda event: event["auditID"] == audit_id, len(case.stages))
    assert [normal(event) for event in found] == [expected(case, audit_id, stage) for stage in case.stages]


def expected(case: Case, audit_id: str, stage: str) -> Object:
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": audit_id,
        "stage": stage,
        "requestURI": case.path,
        "verb": case.verb,
        "user": case.sender,
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "suite",
        "responseStatus": case.status,
    }
    if case.reference is not None:
        event["objectRef"] = case.reference
    if case.annotations is not None:
        event["annotations"] = case.annotations
    return event | (case.more or {})


def events(home: Home, chosen: Callable[[Object], bool], count: int) -> list[Object]:
    """The chosen events, once there are as many; a moment later there must not be more."""
    end = time.monotonic() + PATIENCE_SECONDS
    while len(found := [event for event in home.audited() if chosen(event)]) < count and time.monotonic() < end:
        time.sleep(0.02)
    return found


def normal(event: Object) -> Object:
    """The event without its moments, which must be there and in order, and without what hangs on the token's file."""
    received, stage = event.pop("requestReceivedTimestamp"), event.pop("stageTimestamp")
    assert MOMENT.fullmatch(received), received
    assert MOMENT.fullmatch(stage), stage
    assert received <= stage
    if event["user"].get("username") == ADMIN["username"]:
        event["user"].pop("uid", None)
    for annotation in [each for each in event.get("annotations", ()) if each.startswith("apiserver.latency")]:
        # Of requests that took long, which is the machine's affair.
        del event["annotations"][annotation]
    return event


def test_a_request_without_an_id_gets_one(api_server: Home, api: Api) -> None:
    audit_id = api.get(f"{MAPS}/one").headers["audit-id"]
    assert UUID.fullmatch(audit_id)
    [event] = events(api_server, lambda event: event["auditID"] == audit_id, 1)
    assert event["requestURI"] == f"{MAPS}/one"


def test_an_update_tells_which_object_was_meant(api_server: Home, api: Api) -> None:
    obj = api.get(f"{MAPS}/one").body
    answer = api.put(f"{MAPS}/one", {**obj, "data": {"a": "updated"}})
    assert answer.code == 200, answer.body
    [event] = events(api_server, lambda event: event["auditID"] == answer.headers["audit-id"], 1)
    sent = obj["metadata"]
    assert event["objectRef"] == {**ONE, "uid": sent["uid"], "resourceVersion": sent["resourceVersion"]}
    assert event["responseStatus"] == OK


def test_a_deletion_tells_which_object_went(api_server: Home, api: Api) -> None:
    uid = api.post(MAPS, config_map("gone")).body["metadata"]["uid"]
    audit_id = api.delete(f"{MAPS}/gone").headers["audit-id"]
    [event] = events(api_server, lambda event: event["auditID"] == audit_id, 1)
    assert event["objectRef"] == {**LIST, "name": "gone"}
    details = {"name": "gone", "kind": "configmaps", "uid": uid}
    assert event["responseStatus"] == {"metadata": {}, "status": "Success", "details": details, "code": 200}


def test_a_watch_is_on_record_while_it_lasts(api_server: Home, api: Api) -> None:
    with api.watch(MAPS) as watch:
        audit_id = watch.headers["audit-id"]
        [event] = events(api_server, lambda event: event["auditID"] == audit_id, 1)
        assert event["stage"] == "ResponseStarted"
    [_, event] = events(api_server, lambda event: event["auditID"] == audit_id, 2)
    assert event["stage"] == "ResponseComplete"
