"""Configurations of webhooks and what these answer: whom the server asks, in which words, and what becomes of it."""

from __future__ import annotations

import random

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import NS
from tests.conformance.questions.stories import Step

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
MAPS = f"{NS}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/$NS/deployments"
SCALERS = "/apis/autoscaling/v1/namespaces/$NS/horizontalpodautoscalers"
CONDITIONS = (
    "object.metadata.name != 'b'",
    "request.operation == 'CREATE'",
    "oldObject == null",
    "has(object.metadata.labels)",
    "request.userInfo.username == 'ann'",
    "object.metadata.labels['none'] == 'x'",
    "request.kind.kind == 'ConfigMap'",
    "!has(request.dryRun) || !request.dryRun",
    "request.name != 'a'",
    "namespaceObject.metadata.name.startsWith('q')",
    "authorizer.group('').resource('pods').check('get').allowed()",
)
SELECTORS: tuple[Object | None, ...] = (
    None,
    None,
    None,
    {"matchLabels": {"app": "web"}},
    {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]},
)
RULES: tuple[Object, ...] = (
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]},
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]},
    {"apiGroups": [""], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE", "UPDATE", "DELETE"]},
    {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"], "scope": "Namespaced"},
    {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["DELETE"]},
    {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "resources": ["deployments", "deployments/scale"],
        "operations": ["CREATE", "UPDATE"],
    },
    {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/*"], "operations": ["UPDATE"]},
    {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v2"],
        "resources": ["horizontalpodautoscalers"],
        "operations": ["CREATE", "UPDATE"],
    },
    {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"], "scope": "Cluster"},
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/*"], "operations": ["CREATE", "UPDATE"]},
)
DENIALS: tuple[Object, ...] = (
    {},
    {"message": "no"},
    {"reason": "Because"},
    {"message": "no", "code": 418},
    {"message": "no", "code": 200},
    {"code": 503, "reason": "Busy", "message": "later"},
    {
        "message": "no",
        "reason": "Invalid",
        "code": 422,
        "details": {"causes": [{"reason": "FieldValueInvalid", "message": "m", "field": "f"}]},
    },
    {"status": "Success", "message": "odd"},
    {"message": "no", "metadata": {"continue": "x"}},
)
PATCHES: tuple[list[Object], ...] = (
    [{"op": "add", "path": "/metadata/labels", "value": {"app": "web"}}],
    [{"op": "add", "path": "/metadata/labels", "value": {"late": "yes"}}],
    [{"op": "add", "path": "/metadata/annotations", "value": {"seen": "yes"}}],
    [],
    [{"op": "remove", "path": "/none"}],
    [{"op": "test", "path": "/kind", "value": "Pod"}],
    [{"op": "replace", "path": "/kind", "value": "Secret"}],
    [{"op": "replace", "path": "/metadata/name", "value": "other"}],
    [{"op": "add", "path": "/metadata/finalizers", "value": ["Bad_/x/y"]}],
    [{"op": "add", "path": "/unknown", "value": 1}],
    [{"op": "add", "path": "/metadata/namespace", "value": "other"}],
    [{"op": "x", "path": "/kind"}],
    [{"op": "add", "path": "/metadata/labels", "value": 5}],
    [{"op": "replace", "path": "", "value": []}],
    [{"op": "add", "path": "/spec", "value": {"replicas": 7}}],
    [{"op": "copy", "from": "/metadata/name", "path": "/metadata/generateName"}],
)
RAW: tuple[Object, ...] = (
    {"status": 500, "text": "broken"},
    {"status": 404, "text": ""},
    {"status": 200, "text": "{"},
    {"status": 200, "text": "null"},
    {"status": 200, "text": "{}"},
    {"status": 302, "text": "elsewhere"},
    {"review": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}},
    {
        "review": {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": "x", "allowed": True},
        }
    },
    {"review": {"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"}, "fill": True},
    {"review": {"apiVersion": "v1", "kind": "Pod"}, "fill": True},
    {"review": {"kind": "AdmissionReview"}, "fill": True},
    {"review": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": "x"}},
    {
        "review": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"allowed": "yes"}},
        "status": 201,
    },
)


def answer(draw: random.Random, *, mutates: bool) -> Object:
    way = draw.random()
    if way < 0.12:
        return draw.choice(RAW)
    if way < 0.3:
        denial = draw.choice(DENIALS)
        return {"response": {"allowed": False, **({"status": denial} if denial else {})}}
    response: Object = {"allowed": True}
    if draw.random() < 0.3:
        response["warnings"] = draw.choice((["mind"], ["mind", "mind", "the gap"], ["w" * 300], ["a\nb"], [""]))
    if draw.random() < 0.3:
        response["auditAnnotations"] = draw.choice(({"note": "x"}, {"a": "1", "b": "2"}, {"bad key!": "x"}))
    if mutates and draw.random() < 0.75:
        response["patch"] = draw.choice(PATCHES[:4]) if draw.random() < 0.6 else draw.choice(PATCHES)
        response["patchType"] = "JSONPatch" if draw.random() < 0.93 else draw.choice(("MergePatch", ""))
    return {"response": response}


def hook(draw: random.Random, path: str, *, mutates: bool) -> Object:
    made: Object = {
        "name": f"{path[1:]}.example.com",
        "clientConfig": {"url": f"${{foreign/url}}{path}", "caBundle": "${foreign/ca}"},
        "rules": [draw.choice(RULES[:3]) if draw.random() < 0.6 else draw.choice(RULES)],
        "sideEffects": draw.choice(("None", "None", "NoneOnDryRun")),
        "admissionReviewVersions": draw.choice((["v1"], ["v1"], ["v1beta1"], ["v2", "v1"], ["v1beta1", "v1"])),
        "timeoutSeconds": draw.choice((3, 7)),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "$NS"}},
    }
    if draw.random() < 0.4:
        made["failurePolicy"] = draw.choice(("Ignore", "Fail"))
    if draw.random() < 0.3:
        made["matchPolicy"] = draw.choice(("Exact", "Equivalent"))
    if (selector := draw.choice(SELECTORS)) is not None:
        made["objectSelector"] = selector
    if draw.random() < 0.3:
        made["matchConditions"] = [
            {"name": f"c{index}", "expression": draw.choice(CONDITIONS)} for index in range(draw.choice((1, 2)))
        ]
    if mutates and draw.random() < 0.5:
        made["reinvocationPolicy"] = draw.choice(("IfNeeded", "IfNeeded", "Never"))
    return made


def labels(draw: random.Random) -> Object:
    return draw.choice(({}, {"app": "web"}, {"app": "db"}, {"app": "web", "late": "yes"}))


def request(draw: random.Random) -> Step:
    name = draw.choice(("a", "b", "c"))
    dry = draw.choice(("", "", "", "?dryRun=All", "?fieldManager=me"))
    whom = {"by": "ann"} if draw.random() < 0.15 else {}
    return whom | draw.choice(
        (
            {"do": f"POST {MAPS}{dry}", "body": {"metadata": {"name": name, "labels": labels(draw)}}},
            {
                "do": f"POST {MAPS}{dry}",
                "body": {"metadata": {"name": name, "labels": labels(draw)}, "data": {"k": "v"}},
            },
            {"do": f"POST {MAPS}?dryRun=All", "body": {"metadata": {"generateName": "g-", "labels": labels(draw)}}},
            {"do": f"PATCH {MAPS}/{name}{dry}", "type": "merge", "body": {"metadata": {"labels": labels(draw)}}},
            {"do": f"PATCH {MAPS}/{name}{dry}", "type": draw.choice(("merge", "strategic")), "body": {}},
            {
                "do": f"PATCH {MAPS}/{name}?fieldManager=me{'&dryRun=All' if dry == '?dryRun=All' else ''}",
                "type": "apply",
                "body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels(draw)}},
            },
            {"do": f"PUT {MAPS}/{name}{dry}", "body": {"metadata": {"name": name, "labels": labels(draw)}}},
            {"do": f"DELETE {MAPS}/{name}{dry}"},
            {"do": f"DELETE {MAPS}/{name}", "body": {"gracePeriodSeconds": 5, "propagationPolicy": "Background"}},
            {"do": f"DELETE {MAPS}?labelSelector=app%3Dweb"},
            {
                "do": f"PATCH {DEPLOYMENTS}/web/scale{dry}",
                "type": "merge",
                "body": {"spec": {"replicas": draw.choice((1, 2, 3))}},
            },
            {
                "do": f"PUT {DEPLOYMENTS}/web/scale{dry}",
                "body": {"metadata": {"name": "web", "namespace": "$NS"}, "spec": {"replicas": 2}},
            },
            {"do": f"PATCH {DEPLOYMENTS}/web{dry}", "type": "merge", "body": {"metadata": {"labels": labels(draw)}}},
            {
                "do": f"PATCH {DEPLOYMENTS}/web/status{dry}",
                "type": "merge",
                "body": {"status": {"observedGeneration": draw.choice((1, 2))}},
            },
            {
                "do": f"POST {SCALERS}?dryRun=All",
                "body": {
                    "metadata": {"name": "h"},
                    "spec": {
                        "maxReplicas": 3,
                        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                    },
                },
            },
            {
                "do": f"POST {NS}/pods/p/binding?dryRun=All",
                "body": {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}},
            },
            {"do": f"POST {NS}/pods/p/eviction?dryRun=All", "body": {"metadata": {"name": "p"}}},
            {
                "do": f"PATCH /api/v1/namespaces/$NS{dry}",
                "type": "merge",
                "body": {"metadata": {"labels": labels(draw)}},
            },
        )
    )


def world() -> list[Step]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return [
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "a", "labels": {"app": "web"}}}, "quiet": True},
        {
            "do": f"POST {DEPLOYMENTS}",
            "body": {
                "metadata": {"name": "web"},
                "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
            },
            "quiet": True,
        },
        {"do": f"POST {NS}/pods", "body": {"metadata": {"name": "p"}, "spec": template["spec"]}, "quiet": True},
    ]


def story(number: int) -> list[Step]:
    draw = random.Random(f"webhooks {number}")
    answers: dict[str, Object] = {}
    steps = world()
    gone: list[Step] = []
    for phase, mutates, counts in (("mutating", True, (0, 1, 2, 3)), ("validating", False, (0, 1, 2))):
        paths = [f"/{phase[0]}{index}" for index in range(draw.choice(counts) or (1 if mutates else 0))]
        if not paths:
            continue
        hooks = [hook(draw, path, mutates=mutates) for path in paths]
        answers |= {path: answer(draw, mutates=mutates) for path in paths}
        where = f"{CONFIGURATIONS}/{phase}webhookconfigurations"
        steps.append(
            {
                "do": f"POST {where}",
                "body": {"metadata": {"name": "$NS"}, "webhooks": hooks},
                "pick": ["webhooks/*/name"],
            }
        )
        gone.append({"do": f"DELETE {where}/$NS", "quiet": True})
    steps.append({"hooks": answers})
    asked: list[Step] = []
    for index in range(9):
        if index in (3, 6):
            asked.append({"hooks": {path: answer(draw, mutates=path.startswith("/m")) for path in answers}})
        asked.append(request(draw))
    asked[0] |= {"wait": 1.3}
    return [*steps, *asked, *gone, {"do": f"GET {MAPS}", "wait": 0.6}]


def stories() -> dict[str, list[Step]]:
    return {f"hooks-{number}": story(number) for number in range(60)}
