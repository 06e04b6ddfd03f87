"""Who acts in whose name, and what nobody may give away: impersonation, escalation, binding, and odd credentials."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.rights import GROUP, RBAC, REVIEWS
from tests.conformance.questions.stories import Step

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MAPS = "/api/v1/namespaces/$NS/configmaps"
ROLES = f"{RBAC}/namespaces/$NS/roles"
BINDINGS = f"{RBAC}/namespaces/$NS/rolebindings"


def cluster_role(name: str, *rules: Object) -> Step:
    return {
        "do": f"POST {RBAC}/clusterroles",
        "body": {"metadata": {"name": name}, "rules": list(rules)},
        "quiet": True,
    }


def bound(name: str, who: str) -> Step:
    subjects = [{"kind": "User", "apiGroup": GROUP, "name": who}]
    ref = {"apiGroup": GROUP, "kind": "ClusterRole", "name": name}
    body = {"metadata": {"name": f"{name}-{who}"}, "roleRef": ref, "subjects": subjects}
    return {"do": f"POST {RBAC}/clusterrolebindings", "body": body, "quiet": True}


def rule(verbs: str, resources: str, group: str = "", *names: str) -> Object:
    found: Object = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return found | ({"resourceNames": list(names)} if names else {})


def impersonation(number: int) -> list[Step]:
    draw = random.Random(f"impersonation {number}")
    prefix = f"imp{number}"
    steps = [
        cluster_role(f"{prefix}-a", rule("impersonate", "users", "", "ben", "ghost"), rule("impersonate", "groups")),
        cluster_role(f"{prefix}-b", rule("impersonate", "users groups uids", "")),
        cluster_role(
            f"{prefix}-c",
            rule("impersonate", "users serviceaccounts"),
            rule("impersonate", "userextras/scopes userextras/example.com%2fkey uids", "authentication.k8s.io"),
        ),
        bound(f"{prefix}-a", "ann"),
        bound(f"{prefix}-b", "cat"),
        bound(f"{prefix}-c", "dan"),
        cluster_role(f"{prefix}-d", rule("get list create", "configmaps")),
        bound(f"{prefix}-d", "ben"),
    ]
    asked = []
    for _ in range(45):
        headers: dict[str, str] = {}
        if draw.random() < 0.93:
            headers["Impersonate-User"] = draw.choice(
                (
                    "ben",
                    "ghost",
                    "eve",
                    "system:serviceaccount:$NS:robot",
                    "system:serviceaccount:a",
                    "system:anonymous",
                    "system:serviceaccount:Bad_:robot",
                    "system:node:node-a",
                    "system:masters",
                    " ben",
                    "",
                    "kubernetes-admin",
                )
            )
        if draw.random() < 0.35:
            headers["Impersonate-Group"] = draw.choice(
                ("readers", "system:masters", "system:authenticated", "system:unauthenticated", "", "system:nodes")
            )
        if draw.random() < 0.25:
            headers["Impersonate-Uid"] = draw.choice(("u-1", "", "x y"))
        if draw.random() < 0.3:
            headers[
                draw.choice(
                    (
                        "Impersonate-Extra-scopes",
                        "Impersonate-Extra-Example.com%2fKey",
                        "Impersonate-Extra-",
                        "Impersonate-Extra-other",
                    )
                )
            ] = draw.choice(("one", "two"))
        if draw.random() < 0.04:
            headers["Impersonate-Junk"] = "x"
        by = draw.choice(("ann", "cat", "dan", "eve", "administrator", "administrator"))
        way = draw.random()
        step: Step = {"do": f"POST {WHO}", "body": {}, "by": by, "headers": headers, "pick": ["status"]}
        if way < 0.25:
            step = {"do": f"GET {MAPS}/none", "by": by, "headers": headers}
        elif way < 0.35:
            step = {
                "do": f"POST {MAPS}?dryRun=All",
                "body": {"metadata": {"name": "c"}},
                "by": by,
                "headers": headers,
                "pick": ["metadata/name"],
            }
        asked.append(step)
    asked[0] |= {"wait": 0.8}
    gone: list[Step] = []
    for letter, who in zip("abcd", ("ann", "cat", "dan", "ben"), strict=True):
        gone.append({"do": f"DELETE {RBAC}/clusterrolebindings/{prefix}-{letter}-{who}", "quiet": True})
    return [*steps, *asked, *gone]


def escalation(number: int) -> list[Step]:
    """Users who may write roles and bindings, and do not have all that is in them."""
    draw = random.Random(f"escalation {number}")
    prefix = f"esc{number}"
    keeper = rule("get create update patch delete", "roles rolebindings clusterroles clusterrolebindings", GROUP)
    own = [
        rule("get list watch", "pods pods/log"),
        rule("*", "secrets", "", "one", "two"),
        rule("update", "deployments/scale", "apps"),
        {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/metrics/*"]},
    ]
    steps = [
        cluster_role(f"{prefix}-keeper", keeper, *own),
        cluster_role(f"{prefix}-escalate", rule("escalate", "roles clusterroles", GROUP)),
        cluster_role(
            f"{prefix}-bind", rule("bind", "clusterroles", GROUP, f"{prefix}-big"), rule("bind", "roles", GROUP)
        ),
        cluster_role(f"{prefix}-big", {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}),
        cluster_role(f"{prefix}-small", rule("get", "pods")),
        *(bound(f"{prefix}-keeper", who) for who in ("ann", "cat", "dan")),
        bound(f"{prefix}-escalate", "cat"),
        bound(f"{prefix}-bind", "dan"),
        {"do": f"POST {ROLES}", "body": {"metadata": {"name": "there"}, "rules": [rule("get", "pods")]}, "quiet": True},
        {"do": f"POST {ROLES}", "body": {"metadata": {"name": "great"}, "rules": [rule("*", "*", "*")]}, "quiet": True},
        {"do": f"POST {BINDINGS}", "body": role_binding("there", "Role", "there"), "quiet": True},
    ]
    asked: list[Step] = []
    for index in range(34):
        by = draw.choice(("ann", "ann", "cat", "dan", "eve"))
        asked.append({"by": by, "pick": ["metadata/name", "rules", "roleRef"], **attempt(draw, prefix, index)})
    asked[0] |= {"wait": 0.8}
    gone: list[Step] = []
    for name, who in (("keeper", "ann"), ("keeper", "cat"), ("keeper", "dan"), ("escalate", "cat"), ("bind", "dan")):
        gone.append({"do": f"DELETE {RBAC}/clusterrolebindings/{prefix}-{name}-{who}", "quiet": True})
    return [*steps, *asked, *gone]


def role_binding(name: str, kind: str, role: str) -> Object:
    subjects = [{"kind": "User", "apiGroup": GROUP, "name": "eve"}]
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
        "subjects": subjects,
    }


def attempt(draw: random.Random, prefix: str, index: int) -> Step:
    rules = draw.sample(
        [
            rule("get", "pods"),
            rule("get list", "pods pods/log"),
            rule("get", "pods", "", "one"),
            rule("delete", "pods"),
            rule("*", "pods"),
            rule("get", "secrets"),
            rule("get", "secrets", "", "one"),
            rule("get", "secrets", "", "one", "three"),
            rule("update patch", "deployments/scale", "apps"),
            rule("update", "deployments/scale", "apps"),
            rule("update", "*/scale", "apps"),
            rule("get", "*", "*"),
            rule("get watch", "nodes pods"),
        ],
        draw.choice((1, 1, 2)),
    )
    way = draw.randrange(9)
    body: Object
    if way < 3:
        return {"do": f"POST {ROLES}?dryRun=All", "body": {"metadata": {"name": f"r{index}"}, "rules": rules}}
    if way == 3:
        urls = {"verbs": ["get"], "nonResourceURLs": draw.choice((["/healthz"], ["/metrics/x"], ["/metrics"], ["*"]))}
        body = {"metadata": {"name": f"{prefix}-{index}"}, "rules": [*rules, urls]}
        return {"do": f"POST {RBAC}/clusterroles?dryRun=All", "body": body}
    if way == 4:
        body = {"metadata": {"name": "there"}, "rules": rules}
        return {"do": f"PUT {ROLES}/there?dryRun=All", "body": body}
    if way == 5:
        changes: tuple[Object, ...] = ({"rules": rules}, {"metadata": {"labels": {"a": "b"}}})
        body = draw.choice(changes)
        return {"do": f"PATCH {ROLES}/{draw.choice(('there', 'great'))}?dryRun=All", "type": "merge", "body": body}
    if way == 6:
        role = draw.choice(
            (
                ("Role", "there"),
                ("Role", "great"),
                ("Role", "none"),
                ("ClusterRole", f"{prefix}-big"),
                ("ClusterRole", f"{prefix}-small"),
                ("ClusterRole", "none"),
            )
        )
        return {"do": f"POST {BINDINGS}?dryRun=All", "body": role_binding(f"b{index}", *role)}
    if way == 7:
        role = draw.choice(
            (
                ("ClusterRole", f"{prefix}-big"),
                ("ClusterRole", f"{prefix}-small"),
                ("ClusterRole", "none"),
                ("Role", "there"),
            )
        )
        return {"do": f"POST {RBAC}/clusterrolebindings?dryRun=All", "body": role_binding(f"{prefix}-{index}", *role)}
    others: tuple[Object, ...] = (
        {"subjects": [{"kind": "User", "apiGroup": GROUP, "name": "ben"}]},
        {"roleRef": {"name": "great"}},
        {"metadata": {"labels": {"a": "b"}}},
        {"subjects": []},
    )
    body = draw.choice(others)
    return {"do": f"PATCH {BINDINGS}/there?dryRun=All", "type": "merge", "body": body}


def credentials() -> list[Step]:
    """What stands in the Authorization header, and what is open to whom."""
    steps: list[Step] = []
    for value in (
        "Bearer",
        "Bearer ",
        "Bearer nobody",
        "bearer nobody",
        "Basic YTpi",
        "Token x",
        "Bearer a b",
        "Bearer abcdef.0123456789abcdef",
        "Bearer a.b.c",
        "Bearer a.b.c.d",
    ):
        for path in ("/version", "/api/v1/namespaces", "/healthz"):
            steps.append(
                {"do": f"GET {path}", "by": "anonymous", "headers": {"Authorization": value}, "pick": ["kind"]}
            )
    for path in (
        "/",
        "/api",
        "/apis",
        "/version",
        "/healthz",
        "/livez",
        "/readyz",
        "/metrics",
        "/openapi/v2",
        "/logs",
        "/api/v1",
        "/none",
        "/.well-known/openid-configuration",
        "/openid/v1/jwks",
        "/version/",
    ):
        for by in ("anonymous", "eve"):
            for method in ("GET", "HEAD", "POST"):
                steps.append({"do": f"{method} {path}", "by": by, "pick": ["kind"]})
    return steps


def reviews_of_tokens() -> list[Step]:
    where = "/apis/authentication.k8s.io/v1/tokenreviews"
    bodies: list[Any] = [
        {},
        {"spec": {}},
        {"spec": {"token": ""}},
        {"spec": {"token": "x"}},
        {"spec": {"token": "a.b.c"}},
        {"spec": {"token": "x", "audiences": ["a"]}},
        {"metadata": {"name": "n"}, "spec": {"token": "x"}},
        {"spec": {"token": 5}},
        {"spec": "x"},
        {"metadata": {"namespace": "n"}, "spec": {"token": "x"}},
        {"spec": {"token": "abcdef.0123456789abcdef"}},
        [],
    ]
    steps: list[Step] = [
        {"do": f"POST {where}", "body": body, "by": by} for body in bodies for by in ("administrator", "eve")
    ]
    of_oneself: tuple[Object, ...] = (
        {},
        {"metadata": {"name": "x"}},
        {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"},
        {"spec": {}},
        {"status": {"userInfo": {"username": "x"}}},
    )
    for body in of_oneself:
        for by in ("ann", "cat", "anonymous", "system:node:node-a", "administrator"):
            steps.append({"do": f"POST {WHO}", "body": body, "by": by})
    steps += [{"do": f"{method} {WHO}"} for method in ("GET", "PUT", "DELETE")]
    steps += [
        {"do": f"POST {REVIEWS}/selfsubjectaccessreviews", "text": text, "type": "application/json"}
        for text in ("", "{", "null", "[]", '"x"', "{}")
    ]
    return steps


def stories() -> dict[str, list[Step]]:
    found = {f"impersonation-{number}": impersonation(number) for number in range(5)}
    found |= {f"escalation-{number}": escalation(number) for number in range(6)}
    return found | {"credentials": credentials(), "tokens": reviews_of_tokens()}
