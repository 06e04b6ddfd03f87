"""Lists, pages and single objects, as every parameter shapes them, while objects come, change and go."""

from __future__ import annotations

import random
from urllib.parse import quote

from mooring.kube.objects import Object
from tests.conformance.questions.stories import Step

NS = "/api/v1/namespaces/$NS"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"
ACCEPTS = ("application/json", "application/json", TABLE, PARTIAL_LIST, PROTOBUF, f"{TABLE},application/json")
LABELS = {
    "app": ("web", "db", "job"),
    "tier": ("front", "back"),
    "size": ("1", "5", "20", "x"),
    "a.example.com/b": ("", "v"),
}
SELECTORS = (
    "app=web",
    "app==db",
    "app!=web",
    "app in (web,db)",
    "app notin (web)",
    "app",
    "!tier",
    "tier=front,app=web",
    "size>4",
    "size<6",
    "size>1,size<20",
    "size in (1)",
    "a.example.com/b",
    "a.example.com/b=",
    "app in (web),!tier",
    "app=none",
    "",
    "app in (web, db),tier notin (back)",
    "size>x",
    "size in ()",
    " app = web ",
    "app in (web,)",
    "notin in (in)",
    "app notin (web,db),size",
)
BAD_SELECTORS = (
    "app in (web",
    "=web",
    "app in web",
    "app>",
    "!",
    "app=web,,tier",
    "app=a b",
    "-app",
    "app=" + "v" * 64,
    "/a=b",
    "app in (web) tier",
    "size>1.5",
    "a/b/c=d",
    "(",
    "app in ((web))",
    "app=!web",
    "app===web",
    ",",
)
FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "metadata.name=p1",
        "metadata.name!=p1",
        "metadata.namespace=$NS",
        "spec.nodeName=node-1",
        "spec.nodeName=",
        "spec.restartPolicy=Never",
        "spec.schedulerName=default-scheduler",
        "spec.serviceAccountName=default",
        "spec.hostNetwork=true",
        "spec.hostNetwork=false",
        "status.phase=Running",
        "status.phase!=Pending",
        "status.podIP=10.1.0.1",
        "status.podIPs=10.1.0.1",
        "status.nominatedNodeName=node-2",
        "spec.nodeName!=node-1",
        "status.phase=Running,spec.nodeName=node-1",
        "metadata.name==p2",
    ),
    "events": (
        "involvedObject.kind=Pod",
        "involvedObject.name=p1",
        "involvedObject.namespace=$NS",
        "involvedObject.uid=u",
        "involvedObject.apiVersion=v1",
        "involvedObject.resourceVersion=5",
        "involvedObject.fieldPath=spec",
        "reason=Killing",
        "source=kubelet",
        "type=Warning",
        "reportingComponent=kubelet",
        "reason!=Killing,type=Normal",
        "reportingComponent=other",
    ),
    "secrets": ("type=Opaque", "type=kubernetes.io/tls", "type!=Opaque", "metadata.name=s1"),
    "services": (
        "spec.clusterIP=None",
        "spec.type=ClusterIP",
        "spec.type=ExternalName",
        "metadata.name=v1",
        "spec.type!=NodePort",
    ),
    "replicationcontrollers": ("status.replicas=0", "status.replicas!=0", "metadata.name=r1"),
    "configmaps": (
        "metadata.name=c1",
        "metadata.namespace=$NS",
        "metadata.namespace=default",
        "metadata.name=c1,metadata.name=c2",
    ),
}
BAD_FIELDS = (
    "spec.x=y",
    "metadata.labels=x",
    "metadata.name",
    "status.phase",
    "metadata.name>1",
    "=x",
    "metadata.name in (a)",
    "a=b=c",
    "metadata.name=a\\,b",
    "metadata.name=a\\b",
    "spec.nodeName=x,",
    "metadata.uid=x",
    "data=x",
)


def made(kind: str, body: Object, index: int, **more: str) -> Step:
    return {"do": f"POST {NS}/{kind}", "body": body, "quiet": True, "as": f"o{index}", **more}


def labels(draw: random.Random) -> Object:
    return {key: draw.choice(values) for key, values in LABELS.items() if draw.random() < 0.6}


def objects(draw: random.Random, kind: str, count: int) -> list[Step]:
    steps: list[Step] = []
    letter = {
        "pods": "p",
        "events": "e",
        "secrets": "s",
        "services": "v",
        "replicationcontrollers": "r",
        "configmaps": "c",
    }[kind]
    for index in range(count):
        name = f"{letter}{index}"
        body: Object = {"metadata": {"name": name, "labels": {"story": "$NS", **labels(draw)}}}
        if kind == "pods":
            body["spec"] = pod_spec(draw)
        elif kind == "events":
            about = {"kind": draw.choice(("Pod", "Node")), "name": draw.choice(("p1", "p2")), "namespace": "$NS"}
            about |= draw.choice(({}, {"uid": "u", "apiVersion": "v1"}, {"resourceVersion": "5", "fieldPath": "spec"}))
            body |= {
                "involvedObject": about,
                "reason": draw.choice(("Killing", "Started")),
                "type": draw.choice(("Normal", "Warning")),
                "message": "m",
            }
            body |= draw.choice(
                ({"source": {"component": "kubelet"}}, {"reportingComponent": "other", "reportingInstance": "i"}, {})
            )
        elif kind == "secrets":
            body |= draw.choice(
                ({}, {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}, {"type": "own/x"})
            )
        elif kind == "services":
            body["spec"] = draw.choice(
                ({"ports": [{"port": 80}]}, {"clusterIP": "None"}, {"type": "ExternalName", "externalName": "a.b"})
            )
        elif kind == "replicationcontrollers":
            body["spec"] = {
                "replicas": draw.choice((0, 2)),
                "selector": {"a": "b"},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            }
        else:
            body["data"] = {"k": str(index)}
        steps.append(made(kind, body, index))
        if kind == "pods" and draw.random() < 0.7:
            address = f"10.1.0.{draw.randrange(1, 4)}"
            status: Object = {"phase": draw.choice(("Running", "Succeeded", "Failed"))}
            status |= draw.choice(
                ({}, {"podIP": address, "podIPs": [{"ip": address}]}, {"nominatedNodeName": "node-2"})
            )
            steps.append(
                {"do": f"PATCH {NS}/pods/{name}/status", "type": "merge", "body": {"status": status}, "quiet": True}
            )
        if kind == "replicationcontrollers" and draw.random() < 0.5:
            steps.append(
                {
                    "do": f"PATCH {NS}/{kind}/{name}/status",
                    "type": "merge",
                    "body": {"status": {"replicas": 2}},
                    "quiet": True,
                }
            )
    return steps


def pod_spec(draw: random.Random) -> Object:
    spec: Object = {"containers": [{"name": "c", "image": "i"}]}
    if draw.random() < 0.6:
        spec["nodeName"] = draw.choice(("node-1", "node-2"))
    spec |= draw.choice(({}, {"restartPolicy": "Never"}, {"hostNetwork": True}, {"schedulerName": "other"}))
    return spec


def query(**parameters: str | int) -> str:
    pairs = [f"{name}={quote(str(value), safe='${}/,=!()')}" for name, value in parameters.items()]
    return "?" + "&".join(pairs) if pairs else ""


def lists(kind: str, number: int) -> list[Step]:
    draw = random.Random(f"lists {kind} {number}")
    count = 9 if kind in ("pods", "configmaps") else 6
    steps = objects(draw, kind, count)
    asked: list[Step] = []
    for _ in range(34):
        parameters: dict[str, str | int] = {}
        if draw.random() < 0.5:
            parameters["labelSelector"] = draw.choice(SELECTORS)
        if draw.random() < 0.5:
            parameters["fieldSelector"] = draw.choice(FIELDS[kind])
        where = f"{NS}/{kind}"
        if draw.random() < 0.2:
            where = f"/api/v1/{kind}"
            parameters["labelSelector"] = "story=$NS," + str(parameters.get("labelSelector", "app"))
        if draw.random() < 0.35:
            parameters["limit"] = draw.choice((0, 1, 2, 3, 500))
        if draw.random() < 0.3:
            parameters["resourceVersion"] = draw.choice(
                ("0", "${o1/metadata/resourceVersion}", f"${{o{count - 1}/metadata/resourceVersion}}")
            )
            if draw.random() < 0.6:
                parameters["resourceVersionMatch"] = draw.choice(("Exact", "NotOlderThan"))
        if draw.random() < 0.1:
            parameters["pretty"] = draw.choice(("true", "false", "1", "0", "x"))
        asked.append({"do": f"GET {where}{query(**parameters)}", "headers": {"Accept": draw.choice(ACCEPTS)}})
    for text in draw.sample(BAD_SELECTORS, 6):
        asked.append({"do": f"GET {NS}/{kind}{query(labelSelector=text)}"})
    for text in draw.sample(BAD_FIELDS, 5):
        asked.append({"do": f"GET {NS}/{kind}{query(fieldSelector=text)}"})
    steps.append({"do": f"GET {NS}/{kind}", "wait": 0.4, "managed": True})
    return [*steps, *asked]


# Of no object, of revision 0, of another version, and of no name.
BAD_TOKENS = (
    "x",
    "e30",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJ4In0",
    "eyJ2IjoieCIsInJ2IjozLCJzdGFydCI6IngifQ",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIifQ",
)


def pages(number: int) -> list[Step]:
    """Pages of a list that changes between them."""
    draw = random.Random(f"pages {number}")
    steps = objects(draw, "configmaps", 9)
    selector = draw.choice(
        ({}, {}, {"labelSelector": "app"}, {"labelSelector": "app in (web,db)"}, {"fieldSelector": "metadata.name!=c3"})
    )
    limit = draw.choice((1, 2, 3, 4))
    base: Object = {"limit": limit, **selector}
    first: Object = draw.choice(
        (
            {},
            {"resourceVersion": "0"},
            {"resourceVersion": "${o8/metadata/resourceVersion}", "resourceVersionMatch": "Exact"},
            {"resourceVersion": "${o8/metadata/resourceVersion}"},
        )
    )
    accept = draw.choice(ACCEPTS)
    where = draw.choice((f"{NS}/configmaps", f"{NS}/configmaps", "/api/v1/configmaps"))
    if where == "/api/v1/configmaps":
        base["labelSelector"] = "story=$NS"
    steps.append(
        {"do": f"GET {where}{query(**base, **first)}", "as": "page0", "headers": {"Accept": accept}, "wait": 0.4}
    )
    for index in range(6):
        if draw.random() < 0.6:
            steps.append(change(draw))
        more: Object = dict(base)
        if draw.random() < 0.25:
            more["limit"] = draw.choice((1, 2, 5, 0))
        if draw.random() < 0.12:
            more["resourceVersion"] = draw.choice(("0", "5", "${o1/metadata/resourceVersion}"))
        if draw.random() < 0.08:
            more["resourceVersionMatch"] = draw.choice(("Exact", "NotOlderThan"))
        more["continue"] = f"${{page{index}/metadata/continue}}"
        steps.append({"do": f"GET {where}{query(**more)}", "as": f"page{index + 1}", "headers": {"Accept": accept}})
    steps.append({"do": f"GET {NS}/configmaps"})
    steps.append({"do": f"GET {NS}/configmaps{query(limit=2, **{'continue': draw.choice(BAD_TOKENS)})}"})
    return steps


def change(draw: random.Random) -> Step:
    name = f"c{draw.randrange(10)}"
    way = draw.randrange(3)
    if way == 0:
        return {"do": f"DELETE {NS}/configmaps/{name}"}
    if way == 1:
        body: Object = {
            "metadata": {"labels": {"app": draw.choice(("web", "db", None))}},
            "data": {"x": draw.choice("abc")},
        }
        return {"do": f"PATCH {NS}/configmaps/{name}", "type": "merge", "body": body}
    return {
        "do": f"POST {NS}/configmaps",
        "body": {"metadata": {"name": f"{name}x", "labels": {"story": "$NS", "app": "web"}}},
    }


PARAMETERS: dict[str, tuple[str, ...]] = {
    "limit": ("-1", "x", "1.5", "99999999999999999999", "", "+1", "0x1", "1e3", " 1"),
    "continue": ("x", "", "%00", "e30=", "!!!"),
    "resourceVersion": ("x", "-1", "", "00", "1.5", "99999999999999999999", "5x", " 5", "0"),
    "resourceVersionMatch": ("x", "Exact", "NotOlderThan", "", "exact"),
    "sendInitialEvents": ("true", "false", "x", ""),
    "timeoutSeconds": ("x", "-1", "", "1.5"),
    "allowWatchBookmarks": ("x", "true", ""),
    "pretty": ("true", "x", "", "0"),
    "labelSelector": ("app=web", "x in"),
    "fieldSelector": ("metadata.name=c1", "metadata.name"),
    "includeObject": ("None", "Object", "Metadata", "x", ""),
    "unknown": ("x",),
    "shardSelector": ("x",),
    "watch": ("0", "false", "x", ""),
    "export": ("true",),
    "timeout": ("5s", "x", "0", "-1s"),
}


def parameters(number: int) -> list[Step]:
    """One good request and odd values of its parameters, one or two at a time."""
    draw = random.Random(f"parameters {number}")
    steps = objects(draw, "configmaps", 2)
    asked: list[Step] = []
    for _ in range(60):
        chosen = draw.sample(sorted(PARAMETERS), draw.choice((1, 1, 2, 2, 3)))
        given = {name: draw.choice(PARAMETERS[name]) for name in chosen}
        accept = TABLE if "includeObject" in given else draw.choice(("application/json", PARTIAL, "application/yaml"))
        target = f"{NS}/configmaps" + ("/c1" if draw.random() < 0.25 else "")
        # An open watch has an answer of its own.
        if given.get("watch") in ("x", ""):
            given["watch"] = "false"
        asked.append({"do": f"GET {target}{query(**given)}", "headers": {"Accept": accept}})
    asked[0] |= {"wait": 0.3}
    return [*steps, *asked]


def stories() -> dict[str, list[Step]]:
    found = {
        f"lists-{kind}-{number}": lists(kind, number)
        for kind in sorted(FIELDS)
        for number in range(2 if kind != "pods" else 4)
    }
    found |= {f"pages-{number}": pages(number) for number in range(16)}
    return found | {f"parameters-{number}": parameters(number) for number in range(5)}
