"""What a webhook answers: well, badly, late, or not at all."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from mooring.kube.objects import Object
from tests.apiserver.alone import Line

RESET = ConnectionResetError(104, "reset")


def http(status: int, body: Any, headers: str = "Content-Type: application/json\r\n") -> list[Line]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return [(0.0, f"HTTP/1.1 {status} Said\r\n{headers}Content-Length: {len(data)}\r\n\r\n".encode() + data)]


def asked(data: bytes) -> Object:
    found: Object = json.loads(data.partition(b"\r\n\r\n")[2])["request"]
    return found


def reviewed(**response: Any) -> Callable[[bytes], list[Line]]:
    """An answer of its form: the request's uid, and whatever else."""

    def replies(data: bytes) -> list[Line]:
        made = {"uid": asked(data)["uid"], "allowed": True} | response
        return http(200, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": made})

    return replies


def patched(*operations: Object, **more: Any) -> Callable[[bytes], list[Line]]:
    patch = b64encode(json.dumps(operations).encode()).decode()
    return reviewed(**({"patch": patch, "patchType": "JSONPatch"} | more))


def always(*lines: Line) -> Callable[[bytes], list[Line]]:
    return lambda data: list(lines)


def whole(body: Any, status: int = 200) -> Callable[[bytes], list[Line]]:
    return lambda data: http(status, body)


ADD = {"op": "add", "path": "/data/added", "value": "yes"}
REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
ANSWERS: dict[str, dict[str, Any]] = {
    "it allows": {"replies": reviewed()},
    "it warns": {"replies": reviewed(warnings=["careful", "x" * 300, "", 'with "quotes" and \n lines'])},
    "it notes": {"replies": reviewed(auditAnnotations={"key": "value"})},
    "it refuses": {"replies": reviewed(allowed=False)},
    "it refuses with words": {"replies": reviewed(allowed=False, status={"message": "not today"})},
    "it refuses with a code": {
        "replies": reviewed(allowed=False, status={"message": "no", "code": 418, "reason": "Tea"})
    },
    "it refuses with a small code": {"replies": reviewed(allowed=False, status={"code": 200, "reason": "Why"})},
    "it refuses with details": {
        "replies": reviewed(allowed=False, status={"details": {"name": "x"}, "status": "Success"})
    },
    "it changes": {"replies": patched(ADD)},
    "it changes and warns": {"replies": patched(ADD, warnings=["changed"])},
    "it changes nothing": {"replies": patched()},
    "its change fails": {"replies": patched({"op": "remove", "path": "/data/none"})},
    "its change is no patch": {"replies": reviewed(patch="bm90", patchType="JSONPatch")},
    "its change is not encoded": {"replies": reviewed(patch="?", patchType="JSONPatch")},
    "its change has no type": {"replies": patched(ADD, patchType=None)},
    "its change has another type": {"replies": patched(ADD, patchType="Merge")},
    "its change is refused": {"replies": patched({"op": "replace", "path": "/metadata/name", "value": "Not A Name"})},
    "its change is of no field": {"replies": patched({"op": "add", "path": "/extra", "value": 1})},
    "another uid": {"replies": reviewed(uid="x")},
    "no uid": {"replies": reviewed(uid="")},
    "another kind": {"replies": whole({**REVIEW, "kind": "Review", "response": {}})},
    "another version": {"replies": whole({**REVIEW, "apiVersion": "admission.k8s.io/v2", "response": {}})},
    "no response": {"replies": whole(REVIEW)},
    "an empty object": {"replies": whole({})},
    "a list": {"replies": whole([])},
    "no JSON": {"replies": whole(b"<html>")},
    "nothing": {"replies": whole(b"")},
    "too much": {"replies": whole(b" " * 20_001)},
    "a redirect": {"replies": always((0.0, b"HTTP/1.1 302 Go\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"))},
    **{
        f"status {code}": {"replies": whole(b"told why", code)}
        for code in (201, 204, 299, 300, 400, 403, 404, 409, 418, 422, 500, 503)
    },
    "a Status": {"replies": whole({"kind": "Status", "message": "it says so"}, 500)},
    "a Status without words": {"replies": whole({"kind": "Status"}, 500)},
    "text": {"replies": lambda data: http(500, b" a text ", "Content-Type: text/plain\r\n")},
    "it lets nobody in": {"fails": ConnectionRefusedError(111, "refused")},
    "it is slow to let somebody in": {"slow": 4.0, "replies": reviewed()},
    "it says nothing": {"replies": always()},
    "it takes two seconds": {"replies": lambda data: [(2.0, reviewed()(data)[0][1])]},
    "it takes four seconds": {"replies": lambda data: [(4.0, reviewed()(data)[0][1])]},
    "it closes": {"replies": always((1.0, None))},
    "it breaks off": {"replies": always((1.0, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), (1.5, RESET))},
    "it does not speak HTTP": {"replies": always((0.0, b"220 mail\r\n\r\n"))},
}


def converted(change: Callable[[Object, list[Object]], Any]) -> Callable[[bytes], list[Line]]:
    def replies(data: bytes) -> list[Line]:
        request = asked(data)
        objects = [{**each, "apiVersion": request["desiredAPIVersion"]} for each in request["objects"]]
        response = {"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
        made = change(response, objects)
        body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}
        return http(200, body if made is None else made)

    return replies


CONVERSIONS: dict[str, dict[str, Any]] = {
    "it converts": {"replies": converted(lambda response, objects: None)},
    "it changes the spec": {
        "replies": converted(lambda response, objects: [each.update(spec={"y": 1}) for each in objects] and None)
    },
    "it changes labels": {
        "replies": converted(
            lambda response, objects: [each["metadata"].update(labels={"a": "b"}) for each in objects] and None
        )
    },
    "it changes the name": {
        "replies": converted(
            lambda response, objects: [each["metadata"].update(name="other") for each in objects] and None
        )
    },
    "it changes the uid": {
        "replies": converted(
            lambda response, objects: [each["metadata"].update(uid="other") for each in objects] and None
        )
    },
    "it loses one": {"replies": converted(lambda response, objects: objects.pop() and None)},
    "it says another version": {
        "replies": converted(
            lambda response, objects: [each.update(apiVersion="example.com/v9") for each in objects] and None
        )
    },
    "it says another kind": {
        "replies": converted(lambda response, objects: [each.update(kind="Other") for each in objects] and None)
    },
    "it fails": {
        "replies": converted(
            lambda response, objects: response.update(result={"status": "Failed", "message": "cannot"})
        )
    },
    "it fails without a word": {
        "replies": converted(lambda response, objects: response.update(result={"status": "Failed"}))
    },
    "it has no result": {"replies": converted(lambda response, objects: response.pop("result") and None)},
    "another uid": {"replies": converted(lambda response, objects: response.update(uid="x"))},
    "another review": {"replies": converted(lambda response, objects: {"apiVersion": "v1", "kind": "Pod"})},
    "no object": {"replies": converted(lambda response, objects: [])},
    "no JSON": {"replies": whole(b"x")},
    "status 500": {"replies": whole(b"no", 500)},
    "status 404": {"replies": whole(b"no", 404)},
    "it lets nobody in": {"fails": ConnectionRefusedError(111, "refused")},
    "it says nothing": {"replies": always()},
    "it closes": {"replies": always((1.0, None))},
}
