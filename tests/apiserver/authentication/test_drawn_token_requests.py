"""Drawn TokenRequests: their answers, field by field, or why they are refused."""

from __future__ import annotations

import base64
import json
import random
from typing import Any, Final, NamedTuple
from uuid import UUID

import pytest

from mooring.apiserver.audit.audited import AuditedApplication
from mooring.kube.objects import Object
from tests.apiserver.world import PODS, START, Api

ACCOUNTS: Final = "/api/v1/namespaces/default/serviceaccounts"
OURS: Final = "https://kubernetes.default.svc.cluster.local"
SECOND: Final = int(START.timestamp())
INVALID: Final = 'TokenRequest.authentication.k8s.io "{}" is invalid: {}'
# From what may be bound to the account that its pod runs as and the node that it is on.
PODS_OF: Final = {"web": ("robot", ""), "placed": ("robot", "n1"), "lost": ("robot", "n9"), "foreign": ("other", "")}
NAMES: Final = {"Pod": (*PODS_OF, "gone"), "Node": ("n1", "gone"), "Secret": ("s1", "gone"), "ConfigMap": ("c1",)}
PLURALS: Final = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


class World(NamedTuple):
    api: Api
    # By kind and name.
    uids: dict[tuple[str, str], str]
    events: list[Object]


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    uids = {}

    def make(kind: str, path: str, body: Object) -> None:
        uids[kind, body["metadata"]["name"]] = api.made(path, body)["metadata"]["uid"]

    for name in ("robot", "other"):
        make("ServiceAccount", ACCOUNTS, {"metadata": {"name": name}})
    make("Node", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    make("Secret", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s1"}})
    for name, (account, node) in PODS_OF.items():
        spec: Object = {"serviceAccountName": account, "containers": [{"name": "main", "image": "x"}]}
        spec |= {"nodeName": node} if node else {}
        make("Pod", PODS, {"metadata": {"name": name}, "spec": spec})
    events: list[Object] = []
    audited = AuditedApplication(api.app, lambda line: events.append(json.loads(line)), lambda: api.now)
    monkeypatch.setattr(api.server.switch, "app", audited)
    return World(api, uids, events)


def draw(chance: random.Random, uids: dict[tuple[str, str], str]) -> tuple[str, Object]:
    """The account in the URL, and the body."""
    name = "gone" if chance.random() < 0.04 else "robot"
    body: Object = {}
    metadata = {
        "name": chance.choice((name, "", "another")),
        "namespace": chance.choice(("default", "", "kube-system")),
        "uid": chance.choice((uids["ServiceAccount", "robot"], "", "older")),
        "labels": {"a": "b"},
    }
    given = {key: value for key, value in metadata.items() if chance.random() < 0.2}
    if given or chance.random() < 0.5:
        body["metadata"] = given
    spec: Object = {}
    if chance.random() < 0.5:
        seconds = (599, 600, 601, 3606, 3607, 3607, 3608, 2**32 - 1, 2**32, 2**32 + 1, 0, -1, None)
        spec["expirationSeconds"] = chance.choice(seconds)
    if chance.random() < 0.4:
        spec["audiences"] = chance.choice(([], None, [OURS], ["vault"], [OURS, "vault"], ["vault", "registry"]))
    if chance.random() < 0.7:
        kind = chance.choice(("Pod", "Pod", "Pod", "Node", "Secret", "ConfigMap"))
        bound = chance.choice(NAMES[kind])
        reference = {"kind": kind, "apiVersion": "v1", "name": bound}
        if chance.random() < 0.4:
            reference["uid"] = chance.choice((uids.get((kind, bound), "x"), "", "older"))
        if chance.random() < 0.15:
            reference["apiVersion"] = chance.choice(("", "v2", "apps/v1", "/v1"))
        spec["boundObjectRef"] = reference
    if spec or chance.random() < 0.5:
        body["spec"] = spec
    if chance.random() < 0.2:
        body["kind"] = chance.choice(("TokenRequest", "", "Pod"))
        body["apiVersion"] = "authentication.k8s.io/v1"
    return name, body


def refusal(name: str, body: Object, uids: dict[tuple[str, str], str]) -> tuple[int, str] | None:
    if body.get("kind") == "Pod":
        return 400, "the object provided is unrecognized (must be of type TokenRequest)"
    metadata, spec = body.get("metadata", {}), body.get("spec", {})
    for field, known in (("name", name), ("namespace", "default")):
        if metadata.get(field) and metadata[field] != known:
            why = f'metadata.{field}: Invalid value: "{metadata[field]}": must match the service account {field}'
            return 422, INVALID.format(name, f"{why} if specified")
    if name == "gone":
        return 404, 'serviceaccounts "gone" not found'
    uid = uids["ServiceAccount", name]
    if metadata.get("uid") and metadata["uid"] != uid:
        why = f"the UID in the token request (older) does not match the UID of the service account ({uid})"
        return 409, f'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "{name}": {why}'
    seconds = spec.get("expirationSeconds")
    if seconds is not None and not 600 <= seconds <= 4294967296:
        which = "less than 10 minutes" if seconds < 600 else "larger than 2^32 seconds"
        why = f"spec.expirationSeconds: Invalid value: {seconds}: may not specify a duration {which}"
        return 422, INVALID.format("", why)
    if (reference := spec.get("boundObjectRef")) is None:
        return None
    kind, bound, version = reference["kind"], reference["name"], reference["apiVersion"]
    if kind == "ConfigMap" or version == "apps/v1":
        shown = version if "/" in version else f"/{version}"
        return 400, f"cannot bind token to object of type {shown}, Kind={kind}"
    if bound == "gone":
        return 404, f'{PLURALS[kind]} "gone" not found'
    if bound == "foreign":
        shown = 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.'
        return 400, shown
    if reference.get("uid") and reference["uid"] != uids[kind, bound]:
        why = "does not match the UID in record. The object might have been deleted and then recreated"
        shown = f"the UID in the bound object reference (older) {why}"
        return 409, f'Operation cannot be fulfilled on {kind} "{bound}": {shown}'
    return None


def granted(name: str, body: Object, uids: dict[tuple[str, str], str]) -> tuple[Object, Object]:
    """The answer but for its token, and what the token claims."""
    spec, uid = body.get("spec", {}), uids["ServiceAccount", name]
    seconds = 3600 if spec.get("expirationSeconds") is None else spec["expirationSeconds"]
    audiences, reference = spec.get("audiences") or [OURS], spec.get("boundObjectRef")
    shown = None if reference is None else {key: value for key, value in reference.items() if value}
    metadata = {"name": name, "namespace": "default", "uid": uid, "creationTimestamp": "2026-01-01T12:00:00Z"}
    if labels := body.get("metadata", {}).get("labels"):
        metadata["labels"] = labels
    ends = ends_at(seconds)
    answer = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": metadata,
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": shown},
        "status": {"expirationTimestamp": ends},
    }
    bound: dict[str, Any] = {"namespace": "default", "serviceaccount": {"name": name, "uid": uid}}
    lasts = seconds
    if reference is not None:
        kind, other = reference["kind"], reference["name"]
        bound[kind.lower()] = {"name": other, "uid": uids[kind, other]}
        if kind == "Pod":
            if node := PODS_OF[other][1]:
                bound["node"] = {"name": node} | ({"uid": uids["Node", node]} if node == "n1" else {})
            if seconds == 3607 and audiences == [OURS]:
                bound["warnafter"], lasts = SECOND + 3607, 31_536_000
    claims = {
        "aud": audiences,
        "exp": SECOND + lasts,
        "iat": SECOND,
        "iss": OURS,
        "kubernetes.io": bound,
        "nbf": SECOND,
        "sub": f"system:serviceaccount:default:{name}",
    }
    return answer, claims


def ends_at(seconds: int) -> str:
    known = {
        600: "2026-01-01T12:10:00Z",
        601: "2026-01-01T12:10:01Z",
        3600: "2026-01-01T13:00:00Z",
        3606: "2026-01-01T13:00:06Z",
        3607: "2026-01-01T13:00:07Z",
        3608: "2026-01-01T13:00:08Z",
        2**32 - 1: "2162-02-07T18:28:15Z",
        2**32: "2162-02-07T18:28:16Z",
    }
    return known[seconds]


def test_a_drawn_request_for_a_token_is_answered_or_refused_by_the_rules(world: World) -> None:
    chance, refused = random.Random(45), set[int]()
    ids, logged = set[str](), list[tuple[int, Object]]()
    for number in range(450):
        name, body = draw(chance, world.uids)
        answer = world.api.post(f"{ACCOUNTS}/{name}/token", body)
        what = f"case {number}: {name} {body}"
        noted = {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
        if (why := refusal(name, body, world.uids)) is not None:
            assert (answer.code, answer.body["message"]) == why, what
            refused.add(answer.code)
        else:
            assert answer.code == 201, f"{what}: {answer.body}"
            token = answer.body["status"].pop("token")
            part = token.split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            token_id = claims.pop("jti")
            assert UUID(token_id).version == 4
            ids.add(token_id)
            noted["authentication.kubernetes.io/issued-credential-id"] = f"JTI={token_id}"
            assert (answer.body, claims) == granted(name, body, world.uids), what
        logged.append((answer.code, noted))
    assert refused == {400, 404, 409, 422}
    assert len(ids) > 120
    # An answer may be there before its event; the one before it is not.
    world.api.get(ACCOUNTS)
    events = [(each["responseStatus"]["code"], each["annotations"]) for each in world.events]
    assert events[: len(logged)] == logged
