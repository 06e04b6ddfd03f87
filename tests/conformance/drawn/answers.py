"""Answers in short: of a refusal what it refuses, of an object what is different from the one expected.

What no two servers agree on is left out: identities, revisions, moments, generated names, addresses and ports that were
handed out, the order of causes, and the server's own structs in messages.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conformance.drawn.servers import Reply

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Those of the objects are of 2026-01-01 and before.
_MOMENT = re.compile(r"20(?:26-0[2-9]|26-1\d|27|28|29|3\d)[-\d]*T\d\d:\d\d:\d\d(?:\.\d+)?Z")
_GENERATED = re.compile(r"(?<=configmap-)[a-z0-9]{5}$")
_REVISION = re.compile(
    r"(?<=strconv.ParseUint: parsing \")\d+|(?<=in record \()\d+|(?<=in precondition: )\d+|(?<=in object meta: )\d+"
)
_DIFFERENCE = re.compile(r"\n(@@ |changed: |  [^ ]*\().*", re.DOTALL)
# A value that is more than a word is shown as the server's own struct.
_STRUCT = re.compile(
    r"((?:Invalid|Duplicate|Unsupported|Too \w+) value: )(?:null|[\[{].*?)(: |$)(?![^\[{]*[\]}])", re.DOTALL
)
# A refused patch shows the whole object that it would have made.
_WHOLE = re.compile(r'Invalid value: "\{\\"(?:[^"\\]|\\.)*"')
_GIVEN_UID = "11111111-2222-3333-4444-555555555555"
# Their status is written at once here, and there a moment later, or by a controller that does not run.
_AT_ONCE = ("ResourceQuota", "CustomResourceDefinition", "ValidatingAdmissionPolicy")
# Written by the real server itself whenever it likes.
UNSTEADY = ("APIService", "FlowSchema", "PriorityLevelConfiguration")
_TOKENS = re.compile(r"(?<=^kube-api-access-)[a-z0-9]{5}$")
_DROPPED = frozenset({"uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink"})


def shown(reply: Reply, below: str = "") -> dict[str, Any]:
    """An answer in a form that two servers can be compared by, for a request at the sub-resource `below`."""
    found: dict[str, Any] = {"code": reply.code}
    if reply.warnings:
        found["warnings"] = sorted(_plain(each) for each in reply.warnings)
    if reply.code >= 300 or not isinstance(reply.body, dict):
        return found | refusal(reply.body)
    return found | {"object": _settled(reply.body, below)}


def _settled(obj: Any, below: str) -> Any:
    made = _without_identity(obj)
    kind = made.get("kind")
    if kind == "Service" and "spec" in made:
        _settle_service(made["spec"])
    if kind in UNSTEADY or (kind in _AT_ONCE and below != "status"):
        made.pop("status", None)
    if kind == "CertificateSigningRequest":
        # What the real server calls the one that asks is up to its file of tokens.
        made["spec"].pop("uid", None)
    return made


def refusal(body: Any) -> dict[str, Any]:
    """What a refusal says, each cause once, without the order of causes and the server's own structs."""
    if not isinstance(body, dict):
        return {"text": str(body)}
    details = body.get("details") or {}
    causes = {
        (each.get("reason", ""), each.get("field", ""), _plain(each.get("message", "")))
        for each in details.get("causes", ())
    }
    found: dict[str, Any] = {"reason": body.get("reason", "")}
    if causes:
        found["causes"] = [list(each) for each in sorted(causes)]
    else:
        found["message"] = _plain(body.get("message", ""))
    if "name" in details:
        found["name"] = _GENERATED.sub("<random>", details["name"])
    return found


def _plain(text: str) -> str:
    text = _WHOLE.sub("Invalid value: <object>", text)
    text = _DIFFERENCE.sub(" <difference>", text)
    text = _STRUCT.sub(r"\1<value>\2", text)
    text = _UID.sub(lambda found: found[0] if found[0] == _GIVEN_UID else "<uid>", text)
    return _MOMENT.sub("<time>", _REVISION.sub("<rv>", text))


def _without_identity(value: Any, within: str = "") -> Any:
    if isinstance(value, dict):
        mine = _DROPPED if within == "metadata" else frozenset[str]()
        return {key: _without_identity(item, key) for key, item in value.items() if key not in mine}
    if isinstance(value, list):
        return [_without_identity(item) for item in value]
    if isinstance(value, str):
        if within == "name":
            return _TOKENS.sub("<random>", _GENERATED.sub("<random>", value))
        if len(value) > 19:
            return _UID.sub(lambda found: found[0] if found[0] == _GIVEN_UID else "<uid>", _MOMENT.sub("<time>", value))
    return value


def _settle_service(spec: Any) -> None:
    given = {"10.96.0.77", "10.96.0.78", "None", "", None}
    if spec.get("clusterIP") not in given:
        spec["clusterIP"] = "<ip>"
    if "clusterIPs" in spec:
        spec["clusterIPs"] = [each if each in given else "<ip>" for each in spec["clusterIPs"]]
    for port in spec.get("ports") or ():
        if port.get("nodePort") and port["nodePort"] not in (30777, 30778, 30787, 30788):
            port["nodePort"] = "<port>"
    if spec.get("healthCheckNodePort") and spec["healthCheckNodePort"] not in (30779, 30789):
        spec["healthCheckNodePort"] = "<port>"


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
