"""What is asked of paths and objects: created, read, changed and deleted in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.apiserver.handlers.asked import (
    AGGREGATED,
    APPLY,
    CORE,
    FORMS,
    JOBS,
    JSON,
    MAPS,
    MERGE,
    PARTIAL,
    PATCH,
    PODS,
    PROTOBUF,
    STRATEGIC,
    TABLE,
    YAML,
    Asked,
    config,
    get,
    pod,
    post,
)


def paths() -> Iterator[Asked]:
    """What is no object."""
    for path in (
        "",
        "/",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v2",
        "/apis",
        "/apis/",
        "/apis/apps",
        "/apis/apps/",
        "/apis/apps/v1",
        "/apis/apps/v2",
        "/apis/none",
        "/apis/batch/v1",
        "/apis/metrics.k8s.io",
        "/apis/metrics.k8s.io/v1beta1",
        "/apis/authorization.k8s.io/v1",
        "/apis/apps/v1/x/y/z/a/b",
        "//",
        "/x",
        "//api",
        "/api//v1",
        "/version",
        "/version/",
        "/version/x",
        "/healthz",
        "/healthz/",
        "/livez",
        "/readyz",
        "/healthz/ping",
        "/readyz/storage",
        "/readyz/shutdown",
        "/livez/shutdown",
        "/livez/none",
        "/livez/ping/x",
        "/livez?verbose",
        "/readyz?verbose&exclude=ping",
        "/healthz?exclude=none",
        "/healthz?exclude=ping&exclude=storage&verbose",
        "/openapi",
        "/openapi/v1",
        "/openapi/v3/x",
        "/openapi/v3/apis/none/v1",
        "/openapi/v3/api/v9",
        "/openid",
        "/openid/v1/jwks",
        "/openid/v1",
        "/.well-known/openid-configuration",
        "/.well-known/x",
        "/.well-known",
        "/backup",
        "/logs",
        "/ui",
    ):
        yield get(path)
        if path in (
            "/",
            "/api",
            "/apis/apps",
            "/version",
            "/healthz",
            "/openapi/v3/x",
            "/readyz",
            "/x",
            "/openid/v1/jwks",
        ):
            yield Asked("HEAD", path)
            yield Asked("POST", path, {})
            yield Asked("OPTIONS", path)
    for path in ("/api", "/apis"):
        for accept in (
            *(AGGREGATED.format(version) for version in ("v2", "v2beta1", "v1", "v3")),
            YAML,
            PROTOBUF,
            "text/html",
            f"{AGGREGATED.format('v2')},{JSON}",
        ):
            yield get(path, accept)
    for path in ("/openapi/v2", "/openapi/v3", "/openapi/v3/apis/batch/v1", "/openapi/v3/api/v1"):
        yield get(path)
        yield get(path, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    yield get("/openapi/v3/apis/batch/v1?hash=x")
    yield get("/openapi/v3/apis/batch/v1", headers={"if-none-match": '"x"'})


def creations() -> Iterator[Asked]:
    for query in (
        "",
        "dryRun=All",
        "dryRun=None",
        "dryRun=All&dryRun=All",
        "fieldManager=me",
        f"fieldManager={'x' * 129}",
        "fieldManager=a%00b",
        "fieldValidation=Strict",
        "fieldValidation=Warn",
        "fieldValidation=Ignore",
        "fieldValidation=x",
        "pretty=true",
        "pretty=false",
        "force=true",
        "x=y",
    ):
        yield post(f"{MAPS}?{query}", {**config(), "metadata": {"generateName": "made-"}, "extra": 1})
    yield post(f"{MAPS}", config("one"))
    yield post(f"{MAPS}", config("one"))
    for body in (
        "",
        "{}",
        "[]",
        "null",
        "1",
        '"x"',
        "{",
        "x: 1",
        '{"kind":"Pod","apiVersion":"v1"}',
        '{"kind":"ConfigMap","apiVersion":"v2"}',
        '{"kind":"ConfigMap"}',
        '{"metadata":1}',
        '{"metadata":{"name":1}}',
        '{"metadata":{"name":"A"}}',
        '{"metadata":{"name":"x","namespace":"other"}}',
        '{"metadata":{"name":"x"},"data":{"a":1}}',
        '{"metadata":{"name":"x","resourceVersion":"1"}}',
        '{"metadata":{"name":"x","uid":"1"}}',
        '{"metadata":{"name":"twice","name":"again"}}',
        "\xff",
    ):
        yield post(MAPS, body)
    for kind in (
        "",
        YAML,
        "application/json; charset=utf-8",
        "text/plain",
        "application/x",
        PROTOBUF,
        "application/cbor",
        "x",
    ):
        yield post(MAPS, "metadata: {name: as-yaml}\ndata: {a: '1'}\n" if kind == YAML else config("as-other"), kind)
    yield post(f"{MAPS}/one", config("one"))
    yield post("/api/v1/configmaps", config("nowhere"))
    yield post("/api/v1/namespaces/none/configmaps", config("nowhere"))
    yield post("/api/v1/namespaces", {"metadata": {"name": "made"}})
    yield post("/api/v1/namespaces/made/configmaps", config("there"))


def reads() -> Iterator[Asked]:
    for accept in FORMS:
        yield get(f"{MAPS}/one", accept)
        yield get(f"{MAPS}?labelSelector=none", accept)
        yield get(f"{MAPS}/none", accept)
        yield post(f"{MAPS}?dryRun=All", config("as"), accept=accept)
    for query in (
        "limit=1",
        "limit=0",
        "limit=-1",
        "limit=x",
        "limit=1&continue=x",
        "continue=x",
        "resourceVersion=0",
        "resourceVersion=1",
        "resourceVersion=99999",
        "resourceVersion=x",
        "resourceVersionMatch=Exact",
        "resourceVersion=3&resourceVersionMatch=Exact",
        "resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "fieldSelector=metadata.name%3Done",
        "fieldSelector=metadata.name!%3Done",
        "fieldSelector=x%3Dy",
        "labelSelector=a%3Db",
        "labelSelector=%21",
        "timeoutSeconds=x",
        "watch=false&limit=1",
        "sendInitialEvents=true",
        "pretty=true&limit=1",
        "includeObject=Object&limit=1",
    ):
        yield get(f"{MAPS}?{query}")
        yield get(f"{MAPS}?{query}", TABLE)
    for query in (
        "includeObject=None",
        "includeObject=Metadata",
        "includeObject=Object",
        "includeObject=x",
        "resourceVersion=99999",
        "resourceVersion=1",
        "resourceVersion=x",
        "pretty=true",
    ):
        yield get(f"{MAPS}/one?{query}", TABLE)
        yield get(f"{MAPS}/one?{query}")
    for agent in ("curl/8", "Wget/1", "Mozilla/5.0 (X)", "kubectl/v1", "curlew"):
        yield get(f"{MAPS}/one", headers={"user-agent": agent})
        yield get(f"{MAPS}/none", headers={"user-agent": agent})
    for encoding in ("gzip", "deflate, gzip;q=0.5", "br", "identity"):
        yield get("/openapi/v3/apis/batch/v1", headers={"accept-encoding": encoding})
        yield get(f"{MAPS}/one", headers={"accept-encoding": encoding})
    for path in (
        "configmaps/one/status",
        "configmaps/one/x",
        "configmaps/one/x/y",
        "configmapz",
        "pods/none/status",
        "pods/none/log",
        "pods/none/exec",
        "pods/none/binding",
    ):
        yield get(f"{CORE}/{path}")
    yield get("/api/v1/configmaps")
    yield get("/api/v1/configmaps/one")
    yield get("/api/v1/nodes/none")
    yield get("/api/v1/namespaces/default/nodes/none")
    yield get("/api/v1/namespaces/default")
    yield get("/api/v1/namespaces/default/status")
    yield get("/api/v1/componentstatuses")


def updates() -> Iterator[Asked]:
    one = f"{MAPS}/one"
    body: Any
    for body in (
        config("one"),
        config("two"),
        config(""),
        config("one", namespace="other"),
        config("one", resourceVersion="1"),
        config("one", uid="x"),
        [],
        1,
        {"metadata": []},
        {"metadata": None},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "one"}},
        {**config("one"), "extra": 1},
    ):
        for query in ("", "?dryRun=All&fieldValidation=Strict&fieldManager=putter"):
            yield Asked("PUT", f"{one}{query}", body)
    yield Asked("PUT", f"{MAPS}/unheard-of", config("unheard-of"))
    yield Asked("PUT", MAPS, config("one"))
    yield Asked("PUT", f"{one}/status", config("one"))
    yield Asked(
        "PUT", "/api/v1/namespaces/made", {"metadata": {"name": "made", "namespace": "odd", "labels": {"a": "b"}}}
    )
    yield Asked(
        "PUT",
        "/api/v1/namespaces/made/finalize",
        {"metadata": {"name": "made"}, "spec": {"finalizers": ["kubernetes"]}},
    )
    yield Asked("PATCH", "/api/v1/namespaces/made/finalize", {}, MERGE)
    for kind, body in (
        (MERGE, {"data": {"b": "2"}}),
        (MERGE, []),
        (MERGE, "x"),
        (MERGE, {"metadata": {"name": "other"}}),
        (STRATEGIC, {"data": {"c": "3"}}),
        (STRATEGIC, 1),
        (PATCH, [{"op": "add", "path": "/data/d", "value": "4"}]),
        (PATCH, [{"op": "test", "path": "/data/d", "value": "5"}]),
        (PATCH, [{"op": "x"}]),
        (PATCH, {}),
        (PATCH, [{"op": "remove", "path": "/none"}]),
        (APPLY, config("one")),
        (APPLY, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: x}\n"),
        (APPLY, []),
        (APPLY, '{"kind":"ConfigMap","kind":"ConfigMap","apiVersion":"v1"}'),
        (APPLY, "a: 1\na: 2\n"),
        (JSON, {}),
        ("", {}),
        ("text/plain", {}),
        ("application/apply-patch+cbor", {}),
    ):
        for query in (
            "",
            "?fieldManager=me",
            "?fieldManager=me&force=true",
            "?force=true",
            "?fieldManager=me&fieldValidation=Strict&dryRun=All",
        ):
            yield Asked("PATCH", f"{one}{query}", body, kind)
    yield Asked("PATCH", f"{MAPS}/unheard-of", {}, MERGE)
    yield Asked("PATCH", f"{MAPS}/applied?fieldManager=me", config("applied"), APPLY)
    yield Asked("PATCH", MAPS, {}, MERGE)


def deletions() -> Iterator[Asked]:
    body: Any
    for number, (query, body) in enumerate(
        (
            ("", None),
            ("", {}),
            ("", {"kind": "DeleteOptions", "apiVersion": "v1"}),
            ("", {"kind": "Pod", "apiVersion": "v1"}),
            ("", []),
            ("", "x"),
            ("dryRun=All", None),
            ("", {"dryRun": ["All"]}),
            ("", {"dryRun": ["x"]}),
            ("propagationPolicy=Foreground", None),
            ("propagationPolicy=Orphan", None),
            ("propagationPolicy=x", None),
            ("gracePeriodSeconds=0", None),
            ("gracePeriodSeconds=-1", None),
            ("gracePeriodSeconds=x", None),
            ("", {"preconditions": {"uid": "x"}}),
            ("", {"preconditions": {"resourceVersion": "1"}}),
            ("", {"gracePeriodSeconds": 3, "propagationPolicy": "Background"}),
            ("", {"orphanDependents": True}),
            ("", {"orphanDependents": True, "propagationPolicy": "Orphan"}),
            ("orphanDependents=false", None),
            ("dryRun=x", None),
            ("pretty=true", {"ignoreStoreReadErrorWithClusterBreakingPotential": True}),
        )
    ):
        yield post(MAPS, config(f"d{number}", finalizers=["example.com/keep"] if number % 7 == 3 else []))
        yield Asked("DELETE", f"{MAPS}/d{number}?{query}", body)
        yield post(PODS, pod(f"d{number}", spec={"nodeName": "n"} if number % 2 else {}))
        yield Asked("DELETE", f"{PODS}/d{number}?{query}", body)
        yield get(f"{PODS}/d{number}", PARTIAL)
    for query, body in (("", None), ("propagationPolicy=Background", None), ("", {"propagationPolicy": "Foreground"})):
        job = {
            "metadata": {"name": "job"},
            "spec": {"template": {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}},
        }
        yield post(JOBS, job)
        yield Asked("DELETE", f"{JOBS}/job?{query}", body)
        yield Asked("DELETE", f"{JOBS}?{query}", body)
    yield Asked("DELETE", f"{MAPS}/none")
    yield Asked("DELETE", f"{MAPS}/one/status")
    yield Asked("DELETE", "/api/v1/nodes/none")
    yield Asked("DELETE", f"{MAPS}?labelSelector=none")
    yield Asked("DELETE", f"{MAPS}?fieldSelector=metadata.name%3Dd1&dryRun=All")
    yield Asked("DELETE", f"{MAPS}?limit=2", accept=TABLE)
    yield Asked("DELETE", "/api/v1/namespaces")
    yield Asked("DELETE", "/api/v1/configmaps")
    yield Asked("DELETE", "/api/v1/namespaces/made")
    yield get("/api/v1/namespaces/made")
