"""Foreign webhooks that cannot be reached, or whose answers are none: the write fails, or goes on without them, as
failurePolicy says; the same on both API servers, in the same words."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from tests.apiserver.webhooks.world import World, hook, message

Raw = Callable[[Object], tuple[int, bytes]]
_NO_TYPE = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type "
    'struct {{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_UNREADABLE = "failed to call webhook: json: cannot unmarshal {} into Go struct field {} of type {}"


class BadAnswer(NamedTuple):
    """`why` follows after the name of the webhook in the sentence."""

    why: str
    answer: Raw


def body(text: bytes, code: int = 200) -> Raw:
    return lambda _: (code, text)


def review(fields: Object | None = None, **top: Any) -> Raw:
    """An answer that is right but for this."""

    def answer(request: Object) -> tuple[int, bytes]:
        right = {"uid": request["uid"], "allowed": True} | (fields or {})
        whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": right} | top
        return 200, json.dumps(whole).encode()

    return answer


def status(**fields: Any) -> Raw:
    return review({"allowed": False, "status": {"message": "no"} | fields})


def patch(data: Any, kind: str = "JSONPatch") -> Raw:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return review({"patchType": kind, "patch": base64.b64encode(text).decode()})


def unreadable(found: str, field: str, go_type: str, answer: Raw) -> BadAnswer:
    return BadAnswer(_UNREADABLE.format(found, field, go_type), answer)


FAILED_CALLS = [
    BadAnswer(f"failed to call webhook: {_NO_TYPE.format('string')}", body(b"all is well")),
    BadAnswer(f"failed to call webhook: {_NO_TYPE.format('string')}", body(b"<html></html>")),
    BadAnswer(f"failed to call webhook: {_NO_TYPE.format('array')}", body(b"[]")),
    BadAnswer(
        "failed to call webhook: couldn't get version/kind; json parse error: unexpected end of JSON input",
        body(b'{"apiVersion":"admission.k8s.io/v1","kind":"Admis'),
    ),
    BadAnswer(
        "failed to call webhook: 0-length response with status code: 200 and content type: application/json", body(b"")
    ),
    BadAnswer(
        "failed to call webhook: 0-length response with status code: 204 and content type: text/plain", body(b"", 204)
    ),
    BadAnswer("received invalid webhook response: webhook response was absent", body(b"null")),
    BadAnswer(
        'failed to call webhook: no kind "Pod" is registered for version "admission.k8s.io/v1" in scheme '
        '"pkg/runtime/scheme.go:111"',
        review(kind="Pod"),
    ),
    BadAnswer(
        "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        review(apiVersion="admission.k8s.io/v1beta1"),
    ),
    unreadable("array", "AdmissionReview.response", "v1.AdmissionResponse", review(response=[])),
    unreadable("number", "AdmissionResponse.response.uid", "types.UID", review({"uid": 5})),
    unreadable("string", "AdmissionResponse.response.allowed", "bool", review({"allowed": "yes"})),
    unreadable("string", "AdmissionResponse.response.warnings", "[]string", review({"warnings": "x"})),
    unreadable("number", "AdmissionResponse.response.warnings", "string", review({"warnings": [5]})),
    unreadable(
        "number", "AdmissionResponse.response.auditAnnotations", "map[string]string", review({"auditAnnotations": 5})
    ),
    unreadable("string", "AdmissionResponse.response.status", "v1.Status", review({"status": "no"})),
    unreadable("string", "Status.response.status.code", "int32", status(code="no")),
    unreadable("number 1.5", "Status.response.status.code", "int32", status(code=1.5)),
    unreadable("number", "Status.response.status.message", "string", status(message=5)),
    unreadable("number", "Status.response.status.reason", "v1.StatusReason", status(reason=5)),
    unreadable("string", "Status.response.status.details", "v1.StatusDetails", status(details="x")),
    unreadable(
        "string", "StatusDetails.response.status.details.causes", "[]v1.StatusCause", status(details={"causes": "x"})
    ),
    unreadable("number", "AdmissionResponse.response.patch", "[]uint8", review({"patch": 5})),
    BadAnswer("failed to call webhook: illegal base64 data at input byte 2", review({"patch": "ab*d"})),
    BadAnswer(
        "received undecodable patch in webhook response: invalid character 'h' looking for beginning of value",
        patch(b"hello"),
    ),
    BadAnswer(
        "received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type "
        "jsonpatch.Patch",
        patch({"op": "add"}),
    ),
    BadAnswer(
        "received undecodable patch in webhook response: json: cannot unmarshal string into Go value of type "
        "jsonpatch.Operation",
        patch(["x"]),
    ),
    BadAnswer('unsupported patch type "Merge"', patch([{"op": "remove", "path": "/data"}], "Merge")),
]

# A patch that does not apply fails the write whatever the policy is: the webhook was called, and has answered.
WRONG_PATCHES: list[tuple[int, str, Raw]] = [
    (500, "Internal error occurred: Unexpected kind: unknown", patch([{"op": 5, "path": "/data"}])),
    (
        500,
        "Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.data of type "
        "map[string]string",
        patch([{"op": "add", "path": "/data", "value": "text"}]),
    ),
    (
        500,
        f"Internal error occurred: {_NO_TYPE.format('array')}",
        patch([{"op": "replace", "path": "", "value": []}]),
    ),
    (
        422,
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        patch([{"op": "remove", "path": "/metadata"}]),
    ),
    (
        500,
        "Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type "
        "v1.ObjectMeta",
        patch([{"op": "replace", "path": "/metadata", "value": "x"}]),
    ),
    (
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
        patch([{"op": "add", "path": "/metadata/namespace", "value": "other"}]),
    ),
    (
        500,
        "converting (v1.Pod) to (core.ConfigMap): unknown conversion",
        patch([{"op": "replace", "path": "/kind", "value": "Pod"}]),
    ),
    (
        500,
        'Internal error occurred: no kind "ConfigMap" is registered for version "v7" in scheme '
        '"pkg/runtime/scheme.go:111"',
        patch([{"op": "replace", "path": "/apiVersion", "value": "v7"}]),
    ),
]


def hooked(world: World, answers: list[Raw]) -> None:
    """A webhook for each answer and each policy, called for objects with its label."""
    hooks = []
    for number, answer in enumerate(answers):
        path = world.foreign.raw(f"/bad-{number}", answer)
        for policy in ("Fail", "Ignore"):
            label = {"matchLabels": {"case": f"{number}-{policy}"}}
            client = world.foreign.client(path)
            hooks.append(hook(f"bad-{number}", client, failurePolicy=policy, objectSelector=label))
            hooks[-1]["name"] = f"{policy.lower()}-{number}.example.com"
    world.mutating(*hooks)


def written(world: World, number: int, policy: str) -> Any:
    name = f"map-{number}-{policy.lower()}"
    labels = {"case": f"{number}-{policy}"}
    return world.api.post(world.configmaps, {"metadata": {"name": name, "labels": labels}, "data": {"key": "value"}})


def test_a_bad_answer_fails_the_write_or_is_ignored_as_the_policy_says(world: World) -> None:
    hooked(world, [each.answer for each in FAILED_CALLS])
    for number, (why, _) in enumerate(FAILED_CALLS):
        got = written(world, number, "Fail")
        wanted = f'Internal error occurred: failed calling webhook "fail-{number}.example.com": {why}'
        assert (got.code, message(got)) == (500, wanted)
        got = written(world, number, "Ignore")
        assert got.code == 201, (why, got.body)
        assert got.body["data"] == {"key": "value"}


def test_a_patch_that_does_not_apply_fails_the_write_whatever_the_policy(world: World) -> None:
    hooked(world, [answer for _, _, answer in WRONG_PATCHES])
    for number, (code, why, _) in enumerate(WRONG_PATCHES):
        for policy in ("Fail", "Ignore"):
            got = written(world, number, policy)
            assert (got.code, message(got)) == (code, why)


def test_what_go_makes_the_best_of_is_no_bad_answer(world: World) -> None:
    def with_odd_bytes(request: Object) -> tuple[int, bytes]:
        return 200, review({"warnings": ["odd"]})(request)[1].replace(b"odd", b"o\xff")

    hooked(world, [with_odd_bytes, review({"allowed": None}), review({"unknown": {"fields": [1]}, "status": None})])
    assert written(world, 0, "Fail").code == 201
    got = written(world, 1, "Ignore")
    assert (got.code, message(got)) == (
        400,
        'admission webhook "ignore-1.example.com" denied the request without explanation',
    )
    assert written(world, 2, "Fail").code == 201


def test_a_service_without_the_port_and_one_without_endpoints(world: World) -> None:
    world.made(f"{world.base}/services", {"metadata": {"name": "hook"}, "spec": {"ports": [{"port": 443}]}})
    clients = [{"service": {"namespace": world.namespace, "name": "hook", "port": port}} for port in (8443, 443)]
    hooks = [
        hook(f"{policy.lower()}-{number}", client, failurePolicy=policy)
        | {"objectSelector": {"matchLabels": {"case": f"{number}-{policy}"}}}
        for number, client in enumerate(clients)
        for policy in ("Fail", "Ignore")
    ]
    world.mutating(*hooks)
    for number, (port, why) in enumerate(
        [(8443, 'no service port 8443 found for service "hook"'), (443, 'no endpoints available for service "hook"')]
    ):
        if port == 443 and world.home == "real":
            # It dials the address of the Service, and what answers there is the network's affair.
            continue
        got = written(world, number, "Fail")
        post = f'Post "https://hook.{world.namespace}.svc:{port}/?timeout=5s"'
        assert message(got) == (
            f'Internal error occurred: failed calling webhook "fail-{number}.example.com": failed to call webhook: '
            f"{post}: {why}"
        )
        assert written(world, number, "Ignore").code == 201


def test_an_address_with_a_port_that_there_is_not(world: World) -> None:
    client = {"url": "https://127.0.0.1:99999/x"}
    hooks = [
        hook(policy.lower(), client, failurePolicy=policy)
        | {"objectSelector": {"matchLabels": {"case": f"0-{policy}"}}}
        for policy in ("Fail", "Ignore")
    ]
    world.mutating(*hooks)
    got = written(world, 0, "Fail")
    assert got.code == 500
    assert message(got) == (
        'Internal error occurred: failed calling webhook "fail.example.com": failed to call webhook: '
        'Post "https://127.0.0.1:99999/x?timeout=5s": dial tcp: address 99999: invalid port'
    )
    assert written(world, 0, "Ignore").code == 201
