"""Drawn documents, rules and answers: patches do what they say, rules match as a model of them does, and what a webhook
answers is read as it was.
"""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

import pytest

from mooring.admission.diff import json_diff
from mooring.admission.go_decoding import GoDecodeError, decode_patch, decode_review
from mooring.admission.rules import covered_version, hooks_of, invocation, read_rule, selects_namespace, selects_object
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from tests.support.traces.draws import chosen
from tests.support.traces.golden import agrees

KEYS = ("a", "b/c", "d~e", "f")
NAMESPACES: dict[str, Object] = {"ns": {"metadata": {"labels": {"team": "x"}}}, "other": {"metadata": {}}}
REVIEW = "admission.k8s.io/v1"


def document(draw: Random, depth: int = 3) -> Any:
    kind = draw.randrange(6 if depth else 3)
    if kind < 3:
        return draw.choice([None, True, False, 0, 1, 1.0, "x", "", "y"])
    if kind == 3:
        return [document(draw, depth - 1) for _ in range(draw.randrange(4))]
    return {key: document(draw, depth - 1) for key in KEYS if draw.random() < 0.6}


def changed(draw: Random, value: Any) -> Any:
    """A document that is like another one, for the most part."""
    if draw.random() < 0.15:
        return document(draw, 1)
    if isinstance(value, dict):
        kept = {key: changed(draw, each) for key, each in value.items() if draw.random() < 0.85}
        return kept | ({"new": document(draw, 1)} if draw.random() < 0.2 else {})
    if isinstance(value, list):
        kept_items = [changed(draw, each) for each in value if draw.random() < 0.85]
        return [*([document(draw, 1)] if draw.random() < 0.2 else []), *kept_items]
    return value


def applied(value: Any, operations: list[Object]) -> Any:
    """What RFC 6902 says of the operations add, remove and replace."""
    whole = {"": deepcopy(value)}
    for operation in operations:
        parts = ["", *(part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])]
        at: Any = whole
        for part in parts[:-1]:
            at = at[int(part)] if isinstance(at, list) else at[part]
        last: Any = int(parts[-1]) if isinstance(at, list) else parts[-1]
        match operation["op"]:
            case "remove":
                del at[last]
            case "add" if isinstance(at, list):
                at.insert(last, operation["value"])
            case "add" | "replace":
                assert operation["op"] == "add" or isinstance(at, list) or last in at
                at[last] = operation["value"]
    return whole[""]


def sorted_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def test_a_difference_makes_of_one_drawn_document_the_other() -> None:
    story = []
    for number in range(300):
        draw = Random(f"difference {number}")
        before = document(draw)
        after = changed(draw, before)
        operations = json_diff(before, after)
        assert sorted_text(applied(before, operations)) == sorted_text(after), f"{before} {after} {operations}"
        story.append(f"{number} {json.dumps(operations)}\n")
    agrees("admission", "differences", "".join(story))


class Kind(NamedTuple):
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool

    @property
    def store(self) -> str:
        return self.plural


SERVED = (
    Kind("", "v1", "pods", "Pod", namespaced=True),
    Kind("", "v1", "namespaces", "Namespace", namespaced=False),
    Kind("apps", "v1", "deployments", "Deployment", namespaced=True),
    Kind("autoscaling", "v1", "hpas", "Hpa", namespaced=True),
    Kind("autoscaling", "v2", "hpas", "Hpa", namespaced=True),
)


def rule(draw: Random) -> Object:
    found: Object = {
        "operations": draw.choice([["*"], ["CREATE"], ["CREATE", "UPDATE"], ["DELETE"]]),
        "apiGroups": draw.choice([["*"], [""], ["apps", ""], ["autoscaling"]]),
        "apiVersions": draw.choice([["*"], ["v1"], ["v2"]]),
        "resources": draw.choice(
            [["*"], ["*/*"], ["pods", "hpas"], ["pods/*"], ["*/status"], ["namespaces", "deployments"]]
        ),
    }
    return found | chosen(draw, 0.5, scope=["*", "Namespaced", "Cluster"])


def covers(rule: Object, served: Kind, subresource: str, operation: str) -> bool:
    """A rule, read as the documentation of the API has it."""
    plain = {served.plural, "*"} if not subresource else set()
    parts = {f"{served.plural}/{subresource}", f"{served.plural}/*", f"*/{subresource}", "*/*"}
    if not subresource:
        # Whatever is behind the slash may be nothing.
        parts = {f"{served.plural}/*", "*/*"}
    scopes = {"*", "Namespaced" if served.namespaced else "Cluster"}
    return (
        bool({operation, "*"} & set(rule["operations"]))
        and bool({served.group, "*"} & set(rule["apiGroups"]))
        and bool({served.version, "*"} & set(rule["apiVersions"]))
        and bool((plain | parts) & set(rule["resources"]))
        and rule.get("scope", "*") in scopes
    )


def test_drawn_rules_cover_what_a_model_says() -> None:
    for number in range(600):
        draw = Random(f"rules {number}")
        rules = [rule(draw) for _ in range(draw.randrange(3))]
        served, part = draw.choice(SERVED), draw.choice(["", "", "status", "scale"])
        operation, exact = draw.choice(["CREATE", "UPDATE", "DELETE", "CONNECT"]), draw.random() < 0.3
        same = [each for each in SERVED if each.plural == served.plural]
        order = [served, *([] if exact else [each for each in same if each is not served])]
        wanted = [each for each in order if any(covers(one, each, part, operation) for one in rules)]
        found = covered_version([read_rule(one) for one in rules], exact, served, part, operation, same)
        assert found == (wanted[0] if wanted else None), f"{rules} {served} {part} {operation} exact={exact}"


def test_drawn_webhooks_are_read_as_they_were() -> None:
    story = []
    for number in range(60):
        draw = Random(f"hooks {number}")
        hooks = []
        for each in range(draw.randrange(3)):
            hook: Object = {"name": f"h{each}", "clientConfig": {"url": "https://x"}, "rules": [rule(draw)]}
            hook |= chosen(draw, 0.5, matchPolicy=["Exact", "Equivalent"], failurePolicy=["Ignore", "Fail"])
            hook |= chosen(draw, 0.5, timeoutSeconds=[0, 3], reinvocationPolicy=["IfNeeded", "Never"])
            hook |= chosen(draw, 0.5, sideEffects=["None", "NoneOnDryRun", "Some"], admissionReviewVersions=[["v1"]])
            hook |= chosen(draw, 0.3, matchConditions=[[{"name": "c", "expression": "true"}]])
            hook |= chosen(
                draw, 0.5, namespaceSelector={"matchLabels": {"team": "x"}}, objectSelector={"matchLabels": {"a": "b"}}
            )
            hooks.append(hook)
        for read in hooks_of({"metadata": {"name": "c"}, "webhooks": hooks} if hooks else {"metadata": {"name": "c"}}):
            facts = {
                name: getattr(read, name) for name in ("id", "exact", "fails_open", "seconds", "dry_runs", "reinvoked")
            }
            story.append(f"{number} {facts} {read.versions} {read.conditions}")
            served = draw.choice(SERVED)
            called = invocation(read, served, "", "CREATE", SERVED)
            obj: Object | None = draw.choice(
                [None, {"metadata": {}}, {"metadata": {"labels": {"team": "x", "a": "b"}}}]
            )
            where = draw.choice(["ns", "other", "", "gone"])
            try:
                chosen_one: object = selects_namespace(
                    read, served, draw.choice(["", "status"]), where, obj, lambda name: NAMESPACES.get(name)
                )
            except NotFoundError as error:
                chosen_one = str(error)
            old = draw.choice([None, {"metadata": {"labels": {"a": "b"}}}])
            story.append(f"  {called and called.resource} {chosen_one} {selects_object(read, obj, old)}")
    agrees("admission", "webhooks", "".join(f"{line}\n" for line in story))


def answer(draw: Random) -> bytes:
    """What a webhook may answer, and in part must not."""
    odd = draw.choice([None, 3, 2.5, 2**31, -(2**31), "x", [], {}, True, ["x", None], {"k": 1}, {"k": "v"}])
    patch = base64.b64encode(b'[{"op": "add"}]').decode()
    response: Any = {"uid": "u", "allowed": draw.random() < 0.5} | chosen(
        draw, 0.4, patch=[patch, "%%", "QQ", "Q Q=", 7], patchType=["JSONPatch", 1], warnings=[["w"], odd], extra=[odd]
    )
    response |= chosen(draw, 0.3, auditAnnotations=[{"a": "b"}, odd], uid=[odd], allowed=[odd])
    response |= chosen(
        draw,
        0.4,
        status=[{"code": 403, "message": "no"}, {"code": odd}, {"reason": odd, "details": {"causes": [odd]}}, odd],
    )
    review: Any = {"apiVersion": REVIEW, "kind": "AdmissionReview", "response": response}
    match draw.randrange(12):
        case 0:
            review["apiVersion"] = draw.choice(["admission.k8s.io/v1beta1", "x/v1", "", 5, None, "admission.k8s.io/v9"])
        case 1:
            review["kind"] = draw.choice(["Pod", "", None, []])
        case 2:
            review["response"] = odd
        case 3:
            return draw.choice(
                [b"", b"{", b"nonsense", b"null", b"[]", b'"x"', b"{]", b'{"a": }', b"[" * 5000, b"\xff{}"]
            )
    return json.dumps(review).encode()


def test_drawn_answers_are_read_as_they_were() -> None:
    story = []
    for number in range(250):
        body = answer(Random(f"answer {number}"))
        try:
            found: object = decode_review(body, REVIEW, "AdmissionReview", 200, "application/json")
        except GoDecodeError as error:
            found = f"! {error}"
        story.append(f"{number} {body[:300]!r}\n  {found}\n")
    agrees("admission", "answers", "".join(story))


@pytest.mark.parametrize(
    "data", [b"[]", b"null", b"", b"{}", b"[1]", b'[{"op": "add"}]', b"[{}, null]", b"{", b"[" * 5000, b'"x"', b"\xff"]
)
def test_a_patch_is_read_as_it_was(data: bytes) -> None:
    try:
        found: object = decode_patch(data)
    except GoDecodeError as error:
        found = f"! {error}"
    agrees("admission", f"patch {data[:20]!r}", f"{found}\n")
