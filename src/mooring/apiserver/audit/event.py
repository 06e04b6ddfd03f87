"""One request as kube-apiserver's audit log has it at the Metadata level: who, what, when, and the outcome, no bodies.

`AuditRecord` is filled while the request is served, each part by whatever finds it out; `line` makes an Event of it.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final, Literal

import msgspec

from mooring.apiserver.authentication.users import User, user_info
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes
from mooring.kube.objects import Object

__all__ = ["AuditRecord", "Stage", "is_long_running", "source_addresses"]

Stage = Literal["ResponseStarted", "ResponseComplete"]

_LONG_RUNNING_SUBRESOURCES: Final = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_MICRO_TIME_CHARACTERS: Final = len("2026-01-01T12:00:00.000000")
_MAX_USER_AGENT_CHARACTERS: Final = 1024
_DECISION: Final = "authorization.k8s.io/decision"
_REASON: Final = "authorization.k8s.io/reason"
# How every Status begins that this server sends; `pretty` answers have white space in it.
_STATUS: Final = b'{"kind":"Status"'
_PRETTY_STATUS: Final = b'{\n  "kind": "Status"'
_STATUS_FIELDS: Final = ("status", "message", "reason", "details")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def is_long_running(about: Attributes) -> bool:
    """Whether a request is audited when its answer begins, too."""
    return about.verb == "watch" or about.subresource in _LONG_RUNNING_SUBRESOURCES


def source_addresses(client: str, forwarded: str, real: str) -> list[str]:
    """Where a request comes from: as proxies say in X-Forwarded-For and X-Real-Ip, and last the address seen here."""
    found = [text for part in forwarded.split(",") if (text := _address(part))] if forwarded else []
    if real and (text := _address(real)) and text not in found:
        found.append(text)
    if client and (not found or found[-1] != client):
        found.append(client)
    return found


def _address(text: str) -> str:
    try:
        return str(ip_address(text.strip()))
    except ValueError:
        return ""


class AuditRecord:
    """What is known of one request. `sender` is None until it is known who sends it."""

    __slots__ = (
        "_about",
        "_addresses",
        "_agent",
        "_answer",
        "_audit_id",
        "_metadata",
        "_received",
        "_uri",
        "annotations",
        "sender",
    )

    def __init__(self, audit_id: str, received: datetime, uri: str, agent: str, addresses: list[str]) -> None:
        self._audit_id, self._received, self._uri = audit_id, received, uri
        self._agent, self._addresses = agent, addresses
        self.sender: User | None = None
        # What admission notes. The first word about a thing counts.
        self.annotations: dict[str, str] = {}
        self._about: Attributes | None = None
        self._answer: AccessAnswer | None = None
        self._metadata: Any = None

    def authorized(self, about: Attributes, answer: AccessAnswer) -> None:
        """What is asked for, by the user as which the request goes on, and whether that is allowed."""
        self._about, self._answer = about, answer

    def attributes(self) -> Attributes | None:
        """What is asked for; None for a request that was refused before that was looked at."""
        return self._about

    def sent(self, obj: Any) -> None:
        """The object in the body of a create or an update, of which the log names what the URL does not."""
        self._metadata = obj.get("metadata") if isinstance(obj, dict) else None

    def line(self, stage: Stage, about: Attributes, code: int, body: bytes, now: datetime) -> bytes:
        """The Event of a stage. `body` is the answer; what is in it counts only where it is a Status."""
        event: dict[str, Any] = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": self._audit_id,
            "stage": stage,
            "requestURI": self._uri,
            "verb": about.verb,
            "user": {} if self.sender is None else _user(self.sender),
        }
        # Impersonation makes another user, whether or not it is an equal one.
        if self._about is not None and self._about.user is not self.sender:
            event["impersonatedUser"] = _user(self._about.user)
        event["sourceIPs"] = self._addresses
        if self._agent:
            event["userAgent"] = _bounded(self._agent)
        if about.resource:
            event["objectRef"] = self._reference(about)
        event["responseStatus"] = _status(code, body)
        event["requestReceivedTimestamp"] = _micro_time(self._received)
        event["stageTimestamp"] = _micro_time(now)
        if self._answer is not None:
            allowed = self._answer.decision is AccessDecision.ALLOW
            decision = {_DECISION: "allow" if allowed else "forbid", _REASON: self._answer.reason}
            event["annotations"] = {**decision, **self.annotations}
        return _encode(event) + b"\n"

    def _reference(self, about: Attributes) -> Object:
        found = {"resource": about.resource, "apiVersion": about.version}
        if about.namespace:
            found["namespace"] = about.namespace
        if about.name:
            found["name"] = about.name
        if about.group:
            found["apiGroup"] = about.group
        if about.subresource:
            found["subresource"] = about.subresource
        if isinstance(self._metadata, dict):
            for field in ("namespace", "name", "uid", "resourceVersion"):
                given = self._metadata.get(field)
                if given and field not in found and isinstance(given, str):
                    found[field] = given
        return found


# A client sends many requests, and what it is takes as long to write down as what it asks for.
@lru_cache(maxsize=256)
def _user(user: User) -> msgspec.Raw:
    return msgspec.Raw(_encode(user_info(user)))


def _bounded(agent: str) -> str:
    most = _MAX_USER_AGENT_CHARACTERS
    return agent if len(agent) <= most else f"{agent[:most]}...TRUNCATED"


def _status(code: int, body: bytes) -> Object:
    found: Object = {"metadata": {}}
    if body.startswith((_STATUS, _PRETTY_STATUS)):
        status = _decode(body)
        found |= {field: status[field] for field in _STATUS_FIELDS if field in status}
    found["code"] = code
    return found


def _micro_time(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")[:_MICRO_TIME_CHARACTERS] + "Z"
