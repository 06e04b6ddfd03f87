"""Drawn ValidatingAdmissionPolicies and bindings: who is denied and warned, and what is noted of it."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest

from mooring.apiserver.audit.audited import AuditedApplication
from mooring.kube.objects import Object
from tests.apiserver.world import CONFIGMAPS, Api

GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
POLICIES: Final = f"{GROUP}/validatingadmissionpolicies"
BINDINGS: Final = f"{GROUP}/validatingadmissionpolicybindings"
BROKEN: Final = "object.data.missing == 'x'"
ERROR: Final = f"expression '{BROKEN}' resulted in error: no such key: missing"
CODES: Final = {"": 422, "Invalid": 422, "Forbidden": 403, "RequestEntityTooLarge": 413}
ACTIONS: Final = (["Deny"], ["Warn"], ["Audit"], ["Warn", "Audit"], ["Deny", "Audit"])
# What a validation says, and a note.
VALIDATIONS: Final = ("true", "true", "false", "message", "error")
NOTES: Final = {"text": "'  noted  '", "null": "null", "error": f"{BROKEN} ? 'a' : 'b'"}
NOTE_ERROR: Final = f"expression '{NOTES['error']}' resulted in error: no such key: missing"
FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"


class DrawnPolicy:
    def __init__(self, chance: random.Random, name: str) -> None:
        self.name = name
        self.fails = chance.random() < 0.6
        self.validations = [
            (chance.choice(VALIDATIONS), chance.choice(list(CODES))) for _ in range(chance.choice((1, 2)))
        ]
        self.note = chance.choice(("", "", *NOTES))
        self.parametrised = chance.random() < 0.4
        self.bindings = [
            (f"{name}{number}", chance.choice(ACTIONS), chance.choice(("p", "gone", "gone")), chance.random() < 0.5)
            for number in range(chance.choice((1, 2)))
        ]

    def objects(self) -> list[tuple[str, Object]]:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
        validations = []
        for what, reason in self.validations:
            expression = {"error": BROKEN, "message": "1 == 2"}.get(what, what)
            one = {"expression": expression} | ({"reason": reason} if reason else {})
            validations.append(one | ({"message": f"no, says {self.name}"} if what == "message" else {}))
        spec: Object = {
            "failurePolicy": "Fail" if self.fails else "Ignore",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": validations,
        }
        if self.note:
            spec["auditAnnotations"] = [{"key": "note", "valueExpression": NOTES[self.note]}]
        if self.parametrised:
            spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
        made = [(POLICIES, {"metadata": {"name": self.name}, "spec": spec})]
        for name, actions, param, denies in self.bindings:
            bound: Object = {"policyName": self.name, "validationActions": actions}
            if self.parametrised:
                missing = "Deny" if denies else "Allow"
                bound["paramRef"] = {"name": param, "namespace": "default", "parameterNotFoundAction": missing}
            made.append((BINDINGS, {"metadata": {"name": name}, "spec": bound}))
        return made

    def failures(self) -> list[tuple[str, str, bool, int]]:
        """Message, reason, whether it denies whatever the binding says, and its place."""
        found = []
        for place, (what, reason) in enumerate(self.validations):
            if what == "false":
                found.append(("failed expression: false", reason, False, place))
            elif what == "message":
                found.append((f"no, says {self.name}", reason, False, place))
            elif what == "error" and self.fails:
                found.append((ERROR, "", False, place))
        if self.note == "error" and self.fails:
            found.append((NOTE_ERROR, "", True, 0))
        return found


def by_the_model(policies: list[DrawnPolicy]) -> tuple[tuple[int, str] | None, list[str], dict[str, str]]:
    """The refusal if there is one, the warnings, and what the audit log has."""
    denials, warnings, noted = [], [], dict[str, str]()
    for policy in policies:
        for name, actions, param, denies in policy.bindings:
            told = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{name}'"
            if policy.parametrised and param == "gone":
                if denies and policy.fails:
                    why = "no params found for policy binding with `Deny` parameterNotFoundAction"
                    denials.append((422, f"{told} denied request: failed to configure binding: {why}"))
                continue
            if policy.note == "text":
                noted[f"{policy.name}/note"] = "noted"
            for message, reason, always, place in policy.failures():
                if always or "Deny" in actions:
                    denials.append((CODES[reason], f"{told} denied request: {message}"))
                if "Warn" in actions and not always:
                    warnings.append(f"Validation failed for {told}: {message}")
                if "Audit" in actions and not always and FAILURE not in noted:
                    failed: dict[str, Any] = {"message": message, "policy": policy.name, "binding": name}
                    failed |= {"expressionIndex": place, "validationActions": actions}
                    noted[FAILURE] = json.dumps([failed], separators=(",", ":"))
    return (denials[0] if denials else None), list(dict.fromkeys(warnings)), noted


def test_drawn_policies_deny_warn_and_note_by_the_model(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, events = random.Random(46), list[Object]()
    audited = AuditedApplication(api.app, lambda line: events.append(json.loads(line)), lambda: api.now)
    monkeypatch.setattr(api.server.switch, "app", audited)
    api.made(CONFIGMAPS, {"metadata": {"name": "p"}})
    outcomes = set[int]()
    for number in range(60):
        policies = [DrawnPolicy(chance, name) for name in "abc"[: chance.choice((1, 1, 1, 2, 3))]]
        made = [
            (path, api.made(path, body)["metadata"]["name"]) for policy in policies for path, body in policy.objects()
        ]
        denied, warnings, noted = by_the_model(policies)
        answer = api.post(CONFIGMAPS, {"metadata": {"name": f"c{number}"}, "data": {"a": "b"}})
        what = f"case {number}: {[vars(policy) for policy in policies]}"
        if denied is None:
            assert answer.code == 201, f"{what}: {answer.body}"
        else:
            code, message = denied
            shown = f'configmaps "c{number}" is forbidden: {message}'
            assert (answer.code, answer.body["message"]) == (code, shown), what
            assert answer.body["details"]["causes"] == [{"message": message}]
        outcomes.add(answer.code)
        assert [each.removeprefix('299 - "').removesuffix('"') for each in answer.warnings] == warnings, what
        for path, name in made:
            assert api.delete(f"{path}/{name}").code == 200
        # Events come a moment after answers, and this one before those of what was deleted since.
        (event,) = [each for each in events if each.get("objectRef", {}).get("name") == f"c{number}"]
        annotations = event["annotations"]
        assert {key: text for key, text in annotations.items() if "authorization" not in key} == noted, what
    assert outcomes == {201, 403, 413, 422}
