"""Asks a server the steps of a story and says what came back, without what is chance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from mooring.apiserver.protobuf import decode
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry.admission.stored_only import STORED_ONLY
from tests.conformance.drawn.answers import refusal
from tests.conformance.normal import UUID, Normal
from tests.conformance.playing import value_at
from tests.conformance.questions.asking import Headers, Reply, Server
from tests.conformance.questions.hooks import Hooks
from tests.conformance.questions.people import ADMINISTRATOR
from tests.conformance.questions.stories import Step, Story

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
# Headers that say something; of the content type only what is no JSON, and of caching only what is unusual.
TELLING = {
    "content-type": JSON,
    "cache-control": "no-cache, private",
    "content-encoding": "",
    "retry-after": "",
    "location": "",
    "allow": "",
    "vary": "",
    "www-authenticate": "",
}
# A real server does not know what else runs in its cluster, and says nothing.
OURS = frozenset(each.warning for each in STORED_ONLY)
REFERENCE = re.compile(r"\$\{([^}]+)\}")
# Addresses and ports that a Service is given.
CHANCE = re.compile(r"10\.(?:0\.0|96\.\d+)\.\d+|(?<=:)3[0-2]\d{3}\b")
GIVEN_PORT = re.compile(r"(?<=Duplicate value: )3[0-2]\d{3}\b|(?<=127\.0\.0\.1:)\d+")
GIVEN_ADDRESS = re.compile(r'(?<=Invalid value: ")10\.(?:0\.0|96\.\d+)\.\d+(?=")')
GENERATED = re.compile(r"\bg-[bcdfghjklmnpqrstvwxz2456789]{5}\b")
# Objects are as old as the requests before this one took.
YOUNG = re.compile(r"[1-8]?\d(?:\.\d+)?m?s|<invalid>")
STATUS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
PATIENCE_TRIES = 60


class Exact(Normal):
    """Ages stay, except for those that begin with the story. What is met is numbered in the order of its keys."""

    def _mapping(self, value: dict[str, Any], managed: bool) -> dict[str, Any]:
        return super()._mapping({key: value[key] for key in sorted(value)}, managed)

    def _text(self, key: str, value: str) -> str:
        shown = GIVEN_ADDRESS.sub("<ip>", GIVEN_PORT.sub("<port>", super()._text(key, value)))
        return GENERATED.sub("g-<random>", shown)

    def _cell(self, cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        return "<age>" if YOUNG.fullmatch(cell) else CHANCE.sub("<chance>", cell)

    def picked(self, value: Any, paths: list[str], *, managed: bool) -> list[Any]:
        """The values at some paths."""
        found = []
        for path in paths:
            each = value_at(value, path.split("/"))
            rows = [{"cells": row} for row in each or ()] if path.endswith("/cells") else each
            found.append(self.body(rows, managed=managed))
        return found


def play(server: Server, story: Story, *, audited: bool = False, hooks: Hooks | None = None) -> list[Any]:
    """One answer per step."""
    player = _Player(server, story, audited, hooks)
    return [player.answer(index, step) for index, step in enumerate(story.steps)]


class _Player:
    def __init__(self, server: Server, story: Story, audited: bool, hooks: Hooks | None) -> None:
        self._server, self._story, self._audited, self._hooks = server, story, audited, hooks
        self._normal = Exact(story.namespace)
        self._captured: dict[str, Any] = {} if hooks is None else {"foreign": hooks.place}
        self._make_namespace()

    def _make_namespace(self) -> None:
        """With the ServiceAccount that a controller would add, so that pods are admitted; it mounts no token."""
        name = self._story.namespace
        self._send({"do": "POST /api/v1/namespaces", "body": {"metadata": {"name": name}}}, "")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        where = f"/api/v1/namespaces/{name}/serviceaccounts/default?fieldManager=suite&force=true"
        body = account | {"automountServiceAccountToken": False}
        self._send({"do": f"PATCH {where}", "type": "apply", "body": body}, "")

    def answer(self, index: int, step: Step) -> Any:
        if "watch" in step:
            return self._watch(step)
        if "hooks" in step:
            assert self._hooks is not None
            self._hooks.answers = step["hooks"]
            return None
        if "wait" in step:
            self._server.patience(step["wait"])
        audit_id = f"{self._story.namespace}-{index}-" if self._audited else ""
        reply = self._send(step, audit_id)
        tries = 0
        while "until" in step and reply.code != step["until"] and tries < PATIENCE_TRIES:
            tries += 1
            self._server.patience(0.1)
            reply = self._send(step, audit_id)
        shown = self._shown(reply, step)
        if step.get("quiet"):
            return reply.code
        if self._hooks is not None:
            shown["asked"] = [[path, self._normal.body(request)] for path, request in self._hooks.taken()]
        if self._audited:
            shown["audit"] = [self._event(each) for each in self._server.audited(audit_id)]
        return shown

    def _send(self, step: Step, audit_id: str) -> Reply:
        method, _, target = self._filled(step["do"]).partition(" ")
        by = step.get("by", ADMINISTRATOR)
        headers, body = self._sent(step)
        if audit_id:
            headers.append(("Audit-ID", audit_id))
        reply = self._server.ask(method, target, headers, body, by)
        if "as" in step:
            self._captured[step["as"]] = _value(reply)
        return reply

    def _sent(self, step: Step) -> tuple[Headers, bytes]:
        given = {"Accept": JSON, "User-Agent": "questions"} | step.get("headers", {})
        body = b""
        if "text" in step:
            body = step["text"].encode("latin-1")
        elif "body" in step:
            body = json.dumps(self._filled(step["body"]), separators=(",", ":")).encode()
        if body and "type" not in step:
            given.setdefault("Content-Type", JSON)
        elif "type" in step:
            given["Content-Type"] = PATCHES.get(step["type"], step["type"])
        return [(name, self._filled(value)) for name, value in given.items() if value is not None], body

    def _watch(self, step: Step) -> Any:
        headers, _ = self._sent(step)
        stream = self._server.watch(self._filled(step["watch"]), headers, step.get("by", ADMINISTRATOR))
        if "sendInitialEvents=true" in step["watch"]:
            # A real server takes a while to say that this was all.
            stream.settle()
        for inner in step.get("during", []):
            self._shown(self._send(inner, ""), {})
        reply = stream.ended()
        if reply.code != 200:
            return self._shown(reply, step)
        return {"events": [self._normal.body(each) for each in map(_known, _events(reply)) if each is not None]}

    def _shown(self, reply: Reply, step: Step) -> Object:
        shown: Object = {"code": reply.code}
        given = {name.lower(): value for name, value in reply.headers}
        for name, usual in TELLING.items():
            if (value := given.get(name, usual)) != usual:
                shown[name] = value
        warnings = [value for name, value in reply.headers if name.lower() == "warning"]
        warnings = [each for each in warnings if each.removeprefix('299 - "').removesuffix('"') not in OURS]
        if warnings:
            # Webhooks that only judge are asked at once.
            told = [self._normal.body(each) for each in warnings]
            shown["warnings"] = told if self._hooks is None else sorted(told)
        value = _value(reply)
        if not isinstance(value, dict):
            shown["text"] = self._normal.body(value) if isinstance(value, str) else value
            return shown
        managed = step.get("managed", False)
        if reply.code >= 300 and (STATUS | {"code": reply.code}).items() <= value.items():
            known = STATUS.keys() | {"code"}
            refused = {key: value[key] for key in value if key not in known}
            if step.get("loosely"):
                refused = {"for" if key == "causes" else key: each for key, each in refusal(value).items()}
            shown["refused"] = self._normal.body(refused)
        elif "pick" in step:
            # All of it is numbered, however little is kept.
            self._normal.body(value.get("metadata"))
            shown["picked"] = self._normal.picked(value, step["pick"], managed=managed)
        else:
            shown["body"] = self._normal.body(value, managed=managed)
        return shown

    def _event(self, event: Object) -> Object:
        """What an event of the audit log says, but for moments, addresses and the id that the story gave it."""
        dropped = ("auditID", "requestReceivedTimestamp", "stageTimestamp", "sourceIPs", "kind", "apiVersion", "level")
        kept = {key: value for key, value in event.items() if key not in dropped}
        if notes := kept.pop("annotations", None):
            # How long a slow request took in which part.
            kept["annotations"] = {key: note for key, note in notes.items() if "latency.k8s.io" not in key}
        if status := kept.get("responseStatus"):
            # The rest is in the answer, or in the log too, as it happens.
            kept["responseStatus"] = {"code": status.get("code")}
        shown = self._normal.body(kept)
        text = UUID.sub("<uid>", json.dumps(shown))
        found: Object = json.loads(text)
        return found

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._filled(key): self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            return REFERENCE.sub(self._referred, value).replace("$NS", self._story.namespace)
        return value

    def _referred(self, match: re.Match[str]) -> str:
        name, *parts = match[1].split("/")
        return str(value_at(self._captured.get(name), parts))


def _value(reply: Reply) -> Any:
    """The JSON, or of protobuf the JSON that it stands for, or text."""
    if reply.body.startswith(b"k8s\x00"):
        try:
            return decode(reply.body)
        except BadRequestError as error:
            return f"protobuf: {error}"
    if any(name.lower() == "content-type" and value == YAML for name, value in reply.headers):
        return yaml.load(reply.body, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        return json.loads(reply.body)
    except ValueError:
        return reply.body.decode("utf-8", "replace")


def _events(reply: Reply) -> Iterator[Object]:
    if any(name.lower() == "content-type" and PROTOBUF in value for name, value in reply.headers):
        yield from _frames(reply.body)
        return
    for line in reply.body.splitlines():
        if line:
            yield json.loads(line)


def _known(event: Object) -> Object | None:
    """An event, but for bookmarks by the clock, and for what these show of an object that they do not have."""
    if event["type"] != "BOOKMARK":
        return event
    found = event["object"]
    row = found["rows"][0].get("object") or {} if found["kind"] == "Table" else found
    if "k8s.io/initial-events-end" not in row.get("metadata", {}).get("annotations", {}):
        return None
    kept = {key: value for key, value in found.items() if key not in ("spec", "status", "data")}
    return {**event, "object": kept}


def _frames(data: bytes) -> Iterator[Object]:
    """Frames of protobuf: what kind of event, and the object in its envelope."""
    while data:
        size = int.from_bytes(data[:4], "big")
        frame, data = data[4 : 4 + size], data[4 + size :]
        kind = frame[2 : 2 + frame[1]].decode()
        yield {"type": kind, "object": decode(frame[frame.index(b"k8s\x00") :])}
