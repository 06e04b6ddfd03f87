"""Roles and bindings of every form, and who may then do what: access reviews, reviews of rules, and requests."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.people import PEOPLE
from tests.conformance.questions.stories import Step

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
NAMES = ("one", "two", "three")
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "*")
RESOURCES = (
    ("", "pods"),
    ("", "pods/log"),
    ("", "pods/status"),
    ("", "pods/*"),
    ("", "*"),
    ("", "*/status"),
    ("", "secrets"),
    ("apps", "deployments"),
    ("apps", "deployments/scale"),
    ("apps", "*"),
    ("apps", "*/scale"),
    ("*", "*"),
    ("*", "pods"),
    ("batch", "jobs"),
    ("example.com", "lions"),
    ("", "nodes"),
    ("", "namespaces"),
)
URLS = ("/healthz", "/healthz/*", "/metrics", "/openapi/v2", "/api", "/apis*", "*", "/logs/", "/x/*/y")
ASKED_URLS = (
    "/healthz",
    "/healthz/ping",
    "/healthzz",
    "/metrics",
    "/openapi/v2",
    "/api",
    "/apis/apps",
    "/x/a/y",
    "/logs/",
    "/",
)
USERS = ("ann", "ben", "cat", "dan", "eve", "fay")
GROUPS = ("readers", "writers", "keepers", "system:authenticated", "system:serviceaccounts", "system:unauthenticated")


def rule(draw: random.Random) -> Object:
    pairs = draw.sample(RESOURCES, draw.choice((1, 1, 1, 2)))
    found: Object = {
        "verbs": draw.sample(VERBS, draw.choice((1, 2, 2, 3))),
        "apiGroups": sorted({group for group, _ in pairs}),
        "resources": sorted({resource for _, resource in pairs}),
    }
    if draw.random() < 0.3:
        found["resourceNames"] = draw.sample(NAMES, draw.choice((1, 2)))
    return found


def url_rule(draw: random.Random) -> Object:
    return {
        "verbs": draw.sample(("get", "post", "head", "*", "put"), 2),
        "nonResourceURLs": draw.sample(URLS, draw.choice((1, 2))),
    }


def subject(draw: random.Random) -> Object:
    kind = draw.choice(("User", "User", "User", "Group", "ServiceAccount"))
    if kind == "ServiceAccount":
        return {"kind": kind, "name": draw.choice(("robot", "default")), "namespace": draw.choice(("default", "$NS"))}
    return {"kind": kind, "apiGroup": GROUP, "name": draw.choice(USERS if kind == "User" else GROUPS)}


def binding(draw: random.Random, name: str, role: Object, *, cluster: bool) -> Step:
    where = f"{RBAC}/clusterrolebindings" if cluster else f"{RBAC}/namespaces/$NS/rolebindings"
    subjects = [subject(draw) for _ in range(draw.choice((1, 1, 2, 3)))]
    body = {"metadata": {"name": name}, "roleRef": {"apiGroup": GROUP, **role}, "subjects": subjects}
    return {"do": f"POST {where}", "body": body}


def attributes(draw: random.Random) -> Object:
    if draw.random() < 0.2:
        verb = draw.choice(("get", "post", "head", "put", "patch"))
        return {"nonResourceAttributes": {"path": draw.choice(ASKED_URLS), "verb": verb}}
    group, _, resource = draw.choice(
        (
            ("", "", "pods"),
            ("", "", "secrets"),
            ("apps", "", "deployments"),
            ("batch", "", "jobs"),
            ("", "", "nodes"),
            ("example.com", "", "lions"),
            ("", "", "namespaces"),
            ("", "", "configmaps"),
        )
    )
    found: Object = {"verb": draw.choice(VERBS), "resource": resource}
    if group:
        found["group"] = group
    if draw.random() < 0.8:
        found["namespace"] = draw.choice(("$NS", "$NS", "$NS", "default"))
    if draw.random() < 0.5:
        found["name"] = draw.choice((*NAMES, "four"))
    if draw.random() < 0.3:
        found["subresource"] = draw.choice(("log", "status", "scale"))
    return {"resourceAttributes": found}


def review(draw: random.Random) -> Step:
    asked = attributes(draw)
    way = draw.random()
    who = draw.choice(sorted(PEOPLE)[:6] if way < 0.25 else USERS)
    if way < 0.25:
        return {
            "do": f"POST {REVIEWS}/selfsubjectaccessreviews",
            "body": {"spec": asked},
            "by": who,
            "pick": ["status"],
        }
    spec: Object = {"user": who, **asked}
    if draw.random() < 0.4:
        spec["groups"] = draw.sample(GROUPS, draw.choice((1, 2)))
    if draw.random() < 0.1:
        del spec["user"]
    if draw.random() < 0.1:
        spec |= {"uid": "u", "extra": {"a": ["b"]}}
    if way < 0.4:
        where = "namespaces/$NS/localsubjectaccessreviews"
    else:
        where = "subjectaccessreviews"
    return {"do": f"POST {REVIEWS}/{where}", "body": {"spec": spec}, "pick": ["status", "metadata"]}


def request(draw: random.Random) -> Step:
    """One that is only looked at from outside: most find nothing, and say who may not look."""
    name = draw.choice((*NAMES, ""))
    target = draw.choice(
        (
            "/api/v1/namespaces/$NS/pods",
            "/api/v1/namespaces/$NS/secrets",
            "/apis/apps/v1/namespaces/$NS/deployments",
            "/apis/batch/v1/namespaces/$NS/jobs",
            "/api/v1/namespaces/default/pods",
        )
    )
    path = f"{target}/{name}" if name else target
    if name and draw.random() < 0.3:
        path += draw.choice(("/status", "/scale", "/log"))
    method = draw.choice(("GET", "GET", "DELETE", "PATCH") if name else ("GET", "POST", "DELETE"))
    step: Step = {"do": f"{method} {path}", "by": draw.choice((*USERS, "anonymous"))}
    if method == "DELETE":
        step["do"] += "?dryRun=All"
    if method in ("POST", "PATCH"):
        step |= {"body": {"metadata": {"labels": {"a": "b"}}}, **({"type": "merge"} if method == "PATCH" else {})}
        step["do"] += "?dryRun=All"
    return step


def matrix(number: int) -> list[Step]:
    draw = random.Random(f"rights {number}")
    steps: list[Step] = []
    for index in range(3):
        name = f"role-{index}"
        body: Object = {"metadata": {"name": name}, "rules": [rule(draw) for _ in range(draw.choice((1, 2, 3)))]}
        steps.append({"do": f"POST {RBAC}/namespaces/$NS/roles", "body": body, "quiet": True})
        steps.append(binding(draw, f"of-role-{index}", {"kind": "Role", "name": name}, cluster=False) | {"quiet": True})
    for index in range(3):
        name = f"q{number}-{index}"
        rules = [rule(draw) for _ in range(draw.choice((1, 2)))]
        if draw.random() < 0.7:
            rules.append(url_rule(draw))
        steps.append(
            {"do": f"POST {RBAC}/clusterroles", "body": {"metadata": {"name": name}, "rules": rules}, "quiet": True}
        )
        made = binding(draw, f"{name}-bound", {"kind": "ClusterRole", "name": name}, cluster=draw.random() < 0.5)
        steps.append(made | {"quiet": True})
    missing = {"kind": "ClusterRole", "name": "nowhere"}
    steps.append(binding(draw, "of-nothing", missing, cluster=False) | {"quiet": True})
    asked = [review(draw) for _ in range(55)] + [request(draw) for _ in range(14)]
    rules_of = {"spec": {"namespace": "$NS"}}
    for who in (*USERS[:4], "system:serviceaccount:default:robot", "anonymous"):
        asked.append({"do": f"POST {REVIEWS}/selfsubjectrulesreviews", "body": rules_of, "by": who, "pick": ["status"]})
    asked[0] |= {"wait": 0.8}
    gone: list[Step] = []
    for index in range(3):
        name = f"q{number}-{index}"
        gone.append({"do": f"DELETE {RBAC}/clusterrolebindings/{name}-bound", "quiet": True})
        gone.append({"do": f"DELETE {RBAC}/clusterroles/{name}", "quiet": True})
    return [*steps, *asked, *gone]


def odd_reviews() -> list[Step]:
    """Reviews that say too little, too much, or something else than their path."""
    attributes: Object = {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "$NS"}}
    path: Object = {"nonResourceAttributes": {"verb": "get", "path": "/api"}}
    bodies: list[tuple[str, Any]] = [
        ("selfsubjectaccessreviews", {}),
        ("selfsubjectaccessreviews", {"spec": {}}),
        ("selfsubjectaccessreviews", {"spec": attributes | path}),
        ("selfsubjectaccessreviews", {"metadata": {"name": "x"}, "spec": attributes}),
        ("selfsubjectaccessreviews", {"metadata": {"namespace": "$NS"}, "spec": attributes}),
        ("selfsubjectaccessreviews", {"kind": "Pod", "apiVersion": "v1", "spec": attributes}),
        ("selfsubjectaccessreviews", {"spec": attributes, "status": {"allowed": False}}),
        ("selfsubjectaccessreviews", {"spec": {"resourceAttributes": {}}}),
        ("selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "*"}}}),
        ("subjectaccessreviews", {"spec": attributes}),
        ("subjectaccessreviews", {"spec": {"user": "ann"}}),
        ("subjectaccessreviews", {"spec": {"user": "ann", **attributes, **path}}),
        ("subjectaccessreviews", {"spec": {"groups": [], **attributes}}),
        ("subjectaccessreviews", {"spec": {"groups": ["system:masters"], **attributes}}),
        ("subjectaccessreviews", {"spec": {"user": "ann", "groups": ["system:masters"], **path}}),
        ("subjectaccessreviews", {"metadata": {"labels": {"a": "b"}}, "spec": {"user": "ann", **attributes}}),
        ("namespaces/$NS/localsubjectaccessreviews", {"spec": {"user": "ann", **attributes}}),
        ("namespaces/$NS/localsubjectaccessreviews", {"spec": {"user": "ann", **path}}),
        ("namespaces/default/localsubjectaccessreviews", {"spec": {"user": "ann", **attributes}}),
        (
            "namespaces/$NS/localsubjectaccessreviews",
            {"metadata": {"namespace": "other"}, "spec": {"user": "ann", **attributes}},
        ),
        (
            "namespaces/$NS/localsubjectaccessreviews",
            {"metadata": {"namespace": "$NS"}, "spec": {"user": "ann", **attributes}},
        ),
        ("selfsubjectrulesreviews", {}),
        ("selfsubjectrulesreviews", {"spec": {"namespace": ""}}),
        ("selfsubjectrulesreviews", {"spec": {"namespace": "nowhere"}}),
    ]
    steps: list[Step] = []
    for where, body in bodies:
        for by in ("ann", "administrator") if "rules" not in where else ("ann",):
            steps.append({"do": f"POST {REVIEWS}/{where}", "body": body, "by": by})
    selectors: tuple[Object, ...] = (
        {"fieldSelector": {"rawSelector": "spec.nodeName=n"}},
        {"fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n"]}]}},
        {"labelSelector": {"requirements": [{"key": "a", "operator": "Exists"}]}},
        {"labelSelector": {"requirements": [{"key": "a", "operator": "Exists", "values": ["x"]}]}},
        {"labelSelector": {"rawSelector": "a in (b"}},
        {"labelSelector": {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]}},
        {"fieldSelector": {"requirements": []}},
        {"fieldSelector": {"requirements": [{"key": "", "operator": "In", "values": ["n"]}]}},
        {"fieldSelector": {"requirements": [{"key": "x", "operator": "Gt", "values": ["n"]}]}},
    )
    for selector in selectors:
        spec = {"resourceAttributes": attributes["resourceAttributes"] | selector}
        steps.append({"do": f"POST {REVIEWS}/selfsubjectaccessreviews", "body": {"spec": spec}})
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        for where in ("selfsubjectaccessreviews", "subjectaccessreviews/x", "namespaces/$NS/subjectaccessreviews"):
            steps.append({"do": f"{method} {REVIEWS}/{where}"})
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"rights-{number}": matrix(number) for number in range(18)} | {"reviews": odd_reviews()}
