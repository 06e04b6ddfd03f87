"""Plays a case against a server and says what came back, in a form that two servers can be compared by."""

from __future__ import annotations

import json
import re
import secrets
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mooring.registry.admission.stored_only import STORED_ONLY
from mooring.testing.http import JSON, PATCHES, Answer
from tests.conformance.cases import Case, changed
from tests.conformance.normal import Normal
from tests.conformance.users import ADMINISTRATOR, Clients

REFERENCE = re.compile(r"\$\{([^}]+)\}")
# Some things, like serving a new kind, take a server a moment.
PATIENCE = 20.0
AGENT = "conformance"
# A real server does not know what else runs in its cluster, and says nothing.
OURS = frozenset(each.warning for each in STORED_ONLY)


def play(clients: Clients, case: Case) -> list[Any]:
    """One normalised answer per step."""
    player = Player(clients)
    for step in case.given:
        player.must_succeed(step)
    return [player.answer(step) for step in case.steps]


class Player:
    """A case's state: its namespace, and the answers that later steps refer to."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._namespace = "c" + secrets.token_hex(4)
        self._captured: dict[str, Any] = {}
        self._normal = Normal(self._namespace)
        self._make_namespace()

    def answer(self, step: dict[str, Any]) -> Any:
        if "watch" in step:
            return self._watch(step)
        answer = self._send(step)
        if "brief" in step:
            return f"{step['brief']}: {self._brief(answer)}"
        recorded: dict[str, Any] = {"code": answer.code}
        if warnings := [warning for warning in answer.warnings if warning not in OURS]:
            recorded["warnings"] = [self._normal.body(warning) for warning in warnings]
        body = self._normal.body(answer.body, managed=step.get("managed", False))
        return recorded | _shown(answer.code, body, step.get("pick"))

    def _brief(self, answer: Answer) -> str:
        """The code, and of a refusal its sentence."""
        if answer.code < 300:
            return str(answer.code)
        body = self._normal.body(answer.body)
        return f"{answer.code} {body.get('message') if isinstance(body, dict) else body}"

    def must_succeed(self, step: dict[str, Any]) -> None:
        answer = self._send(step)
        deadline = time.monotonic() + PATIENCE
        # A step may wait for a refusal: a policy is in force once it refuses something.
        wanted = step.get("patiently")
        refusals = isinstance(wanted, int) and not isinstance(wanted, bool)

        def fits(code: int) -> bool:
            return code == wanted if refusals else code < 300

        while wanted and not fits(answer.code) and time.monotonic() < deadline:
            time.sleep(0.05)
            answer = self._send(step)
        assert fits(answer.code), f"{step['do']} got {answer.code}: {answer.body}"

    def _make_namespace(self) -> None:
        """With the ServiceAccount that a controller would add, so that pods are admitted; it mounts no token."""
        name = self._namespace
        self.must_succeed(
            {
                "do": "POST /api/v1/namespaces",
                "body": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            }
        )
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        self.must_succeed(
            {
                "do": f"PATCH /api/v1/namespaces/{name}/serviceaccounts/default?fieldManager=suite&force=true",
                "content": "apply",
                "body": account | {"automountServiceAccountToken": False},
            }
        )

    def _send(self, step: dict[str, Any]) -> Answer:
        method, _, target = self._filled(step["do"]).partition(" ")
        path, query = _split(target)
        body = self._filled(changed(step.get("body"), step.get("with", {})))
        content = step.get("content", JSON)
        answer = self._clients[step.get("by", ADMINISTRATOR)].request(
            method,
            path,
            body,
            content=PATCHES.get(content, content),
            accept=step.get("accept", JSON),
            headers={"User-Agent": step.get("agent", AGENT), **self._filled(step.get("headers", {}))},
            **query,
        )
        if "as" in step:
            self._captured[step["as"]] = answer.body
        return answer

    def _watch(self, step: dict[str, Any]) -> Any:
        path, query = _split(self._filled(step["watch"]))
        with self._clients[step.get("by", ADMINISTRATOR)].watch(
            path, accept=step.get("accept", JSON), **query
        ) as watch:
            if watch.code != 200:
                return {"code": watch.code} | _shown(watch.code, self._normal.body(json.loads(watch.text())), None)
            for inner in step.get("during", []):
                self.must_succeed(inner)
            events = [self._normal.body(event) for event in watch.take(step["events"])]
        return {"code": 200, "events": [_picked(event, step.get("pick")) for event in events]}

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._filled(key): self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            return REFERENCE.sub(self._referred, value).replace("$NS", self._namespace)
        return value

    def _referred(self, match: re.Match[str]) -> str:
        name, *parts = match[1].split("/")
        found = value_at(self._captured[name], parts)
        assert found is not None, f"{match[0]} is not in {self._captured[name]}"
        return str(found)


def _split(target: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(target)
    return parts.path, dict(parse_qsl(parts.query, keep_blank_values=True))


def _shown(code: int, body: Any, pick: list[str] | None) -> dict[str, Any]:
    """A body, or of a refusal only what refusals do not have in common."""
    if code < 300:
        return {"body": _picked(body, pick)}
    common = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": code}
    if isinstance(body, dict) and common.items() <= body.items():
        refused = {key: value for key, value in body.items() if key not in common}
        if _sums_up(refused.get("message", ""), refused.get("details", {})):
            del refused["message"]
        return {"refused": refused}
    return {"body": body}


def _sums_up(message: str, details: dict[str, Any]) -> bool:
    """Whether this is what an Invalid says as a whole: its causes, each once, and in an order of their own."""
    causes = list(dict.fromkeys(f"{cause.get('field')}: {cause['message']}" for cause in details.get("causes", [])))
    joined = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
    kind = details.get("kind", "") + (f".{details['group']}" if "group" in details else "")
    whole = f'{kind} "{details.get("name", "")}" is invalid: {joined}'
    shuffled = len(causes) > 1 and len(message) == len(whole) and all(cause in message for cause in causes)
    return shuffled or message == whole


def _picked(body: Any, pointers: list[str] | None) -> Any:
    """The parts of a body that a case is about; the whole where it names none."""
    if pointers is None:
        return body
    found = {pointer: value_at(body, pointer.split("/")) for pointer in pointers}
    return {pointer: value for pointer, value in found.items() if value is not None}


def value_at(value: Any, parts: list[str]) -> Any:
    """The value at a path; `*` stands for every item of a list."""
    for index, part in enumerate(parts):
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if part == "*":
                return [value_at(item, parts[index + 1 :]) for item in value]
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value
