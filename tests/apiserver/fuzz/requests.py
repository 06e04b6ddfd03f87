"""Requests drawn from a seed, as bytes: nearly good ones, wrong ones, and ones that are no HTTP."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import yaml

from mooring.kube.objects import Object
from mooring.registry import Resource
from tests.registry.fuzz import Fuzz

_METHODS: Final = ["GET"] * 8 + ["POST"] * 10 + ["PUT"] * 5 + ["PATCH"] * 8 + ["DELETE"] * 3
_ODD_METHODS: Final = [
    "HEAD", "OPTIONS", "TRACE", "CONNECT", "PURGE", "get", "G\x00T", "PROPFIND", "",
]  # fmt: skip
_ACCEPTS: Final = [
    "application/json", "*/*", "application/yaml", "application/vnd.kubernetes.protobuf", "text/html", "junk", "",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json;q=0.1,*/*;q=x", ";;;=,,",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=Nothing;v=v9;g=x",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/cbor",
    "application/json;stream=watch",
]  # fmt: skip
_CONTENT_TYPES: Final = [
    "application/json", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain",
    "", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "application/cbor",
    "application/json;", "/",
]  # fmt: skip
_BOOTSTRAP: Final = "Bearer abcdef.0123456789abcdef"
_PATCHES: Final = [
    "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/apply-patch+yaml", "application/apply-patch+cbor", "application/json",
]  # fmt: skip
_VALUES: Final = [
    "", "0", "1", "-1", "true", "false", "999999999999999999999", "1.5", "NaN", "null", "a=b", "a in (b,c)", "!a",
    "a,,b", "a in (", "metadata.name=x", "spec.nodeName!=y", "=", "metadata.name==a,metadata.namespace=b", "\x00",
    "é", "%", "&", "NotOlderThan", "Exact", "All", "Strict", "Ignore", "Background", "Orphan", "Foreground",
    "x" * 500, "eyJ2IjoibWV0YSJ9", "2", "100", "Lg==", "[]", "{}", "\\", "a\\,b", "all", "None", "Object",
]  # fmt: skip
_PARAMETERS: Final = [
    "labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "resourceVersionMatch", "dryRun",
    "force", "fieldManager", "fieldValidation", "propagationPolicy", "gracePeriodSeconds", "pretty",
    "allowWatchBookmarks", "sendInitialEvents", "orphanDependents", "includeObject", "timeout", "junk", "", "export",
    "verbose", "exclude", "container", "follow", "tailLines", "command", "stdin", "ports", "path",
]  # fmt: skip
_HEADERS: Final = [
    ("Impersonate-User", "bob"), ("Impersonate-User", ""), ("Impersonate-Group", "system:masters"),
    ("Impersonate-Uid", "u"), ("Impersonate-Extra-%zz", "x"), ("Impersonate-User", "system:serviceaccount:a:b:c"),
    ("Audit-ID", "x" * 300), ("Range", "bytes=0-1"), ("If-None-Match", '"x"'), ("Accept-Encoding", "gzip"),
    ("Accept-Encoding", "gzip;q=,br"), ("Content-Encoding", "gzip"), ("Expect", "100-continue"), ("Expect", "junk"),
    ("Connection", "close"), ("X-Forwarded-For", "1.2.3.4, x, ::1, 999.1.1.1"), ("X-Real-Ip", "%"),
    ("Upgrade", "websocket"), ("Cookie", "a=b"), ("Upgrade", "SPDY/3.1"), ("Connection", "Upgrade"),
    ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"), ("Host", ""), ("User-Agent", "curl/8"),
    ("User-Agent", "\xff\xfe"), ("Origin", "null"), ("Transfer-Encoding", "gzip, chunked"),
]  # fmt: skip
_PATHS: Final = [
    "/", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/openapi/v3",
    "/openapi/v3/api/v1", "/version", "/healthz", "/readyz/ping", "/livez?verbose", "/metrics", "/openid/v1/jwks",
    "/.well-known/x", "/swagger", "/api/v1/namespaces/default/pods/x/log", "/api/v1/namespaces/default/pods/x/exec",
    "/api/v1/nodes/x/proxy/a/b", "/api/v2", "/api/v1/namespaces/default/services/x:y:z/proxy",
    "/api/v1/namespaces/default/pods/x/binding", "*", "//", "/..", "/%2e%2e",
    "/api/v1/namespaces/default/serviceaccounts/default/token", "/api/v1/namespaces/default/finalize",
    "/apis/x.y/v1/z", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authentication.k8s.io/v1/tokenreviews", "http://x/api",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    "/api/v1/", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "/api/v1/namespaces/default/bindings",
    "/apis/autoscaling/v1/scale", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
    "/api/v1/componentstatuses", "?", "",
]  # fmt: skip
_POINTERS: Final = [
    "", "/", "/metadata/labels/a", "/spec/replicas", "/spec/containers/-", "/spec/x/0", "/data/~1", "/metadata/name",
    "/spec", "/status", "/metadata/finalizers/99999999999", "/metadata/annotations", "/kind",
]  # fmt: skip
_SEGMENTS: Final = [
    "..", ".", "%00", "%2F", "é", "a" * 300, "%zz", "x", "status", "scale", "namespaces", "default", "*", "a:b",
]  # fmt: skip
_TEXTS: Final = [
    b"", b"{", b"null", b"[]", b"0", b'"', b"\x00", b"\xff\xfe", b'{"a":1e999}', b'{"a":NaN}', b"{}", b"[[[[[[" * 100,
    b'{"a":' * 300 + b"1" + b"}" * 300, b'{"kind":"Pod","kind":"Pod"}',
    b'{"apiVersion":"v1","kind":"List","items":[null]}', b"a: &a [*a]", b"a: !!python/object:os.system x",
    b"? {a: b}", b"- - - -", b"a: b\n---\nc: d\n", b"%YAML 9.9\n---\nx", b"&a [x,x,x,x,x,x,x,x,x,x]\n",
    b"x: &a {y: 1}\nz: {<<: *a}\n", b"k8s\x00", b"k8s\x00\x0a\xff\xff\xff\xff\x0f", b"\x1f\x8b\x08",
    b'{"metadata":{"name":"x","annotations":{"a":"' + b"b" * 300_000 + b'"}}}',
    b'{"metadata":{"managedFields":[{}]}}', b'{"metadata":[]}', b'{"spec":{"nonResourceAttributes":{"path":1}}}',
    b'{"spec":{"resourceAttributes":{"verb":"get"}}}', b'{"spec":{"token":"x"}}',
    b'{"spec":{"expirationSeconds":-1,"audiences":[1]}}', b'{"target":{"name":"n"}}', b"\xef\xbb\xbf{}",
    b'[{"op":"add","path":"/a~2","value":1}]', b'[{"op":"move","from":"/","path":"/metadata"}]', b'[{"op":"test"}]',
    b'[{"op":"copy","from":"","path":"/spec/x"}]', b'{"\\ud800":"\\udfff"}', b'{"preconditions":{"uid":5}}',
]  # fmt: skip


class DrawnRequest(NamedTuple):
    """The bytes, whether the answer goes on for as long as the client likes, and whether there must be one."""

    data: bytes
    endless: bool
    whole: bool


class RequestFuzz:
    """Draws requests; the same seed draws the same ones. `authorization` is a header that is good."""

    def __init__(self, seed: int, authorization: str) -> None:
        self._draw = random.Random(seed)
        self._objects = Fuzz(seed)
        self._authorization = authorization

    def next(self) -> DrawnRequest:
        draw = self._draw
        resource, obj = self._objects.new_object(mutated=draw.random() < 0.7)
        method = draw.choice(_METHODS) if draw.random() < 0.98 else draw.choice(_ODD_METHODS)
        path = self._path(resource, obj, named=draw.random() < (0.15 if method == "POST" else 0.85))
        content_type, body = self._body(method, obj)
        query, endless = self._query(method)
        headers = [("Host", "x"), ("Authorization", self._credentials()), ("Accept", self._accept())]
        if body or draw.random() < 0.1:
            headers.append(("Content-Type", content_type))
        whole = method not in _ODD_METHODS
        while draw.random() < 0.15:
            headers.append(draw.choice(_HEADERS))
            # These say that the connection goes on in another way.
            whole = whole and headers[-1][0] not in ("Expect", "Upgrade", "Connection", "Transfer-Encoding")
        data = self._framed(method, path + query, headers, body)
        if draw.random() < 0.03:
            data, whole = self._damaged(data), False
        return DrawnRequest(data, endless, whole)

    def _accept(self) -> str:
        return "application/json" if self._draw.random() < 0.8 else self._draw.choice(_ACCEPTS)

    def _credentials(self) -> str:
        if self._draw.random() < 0.97:
            return self._authorization
        return self._draw.choice(["", "Bearer", "Bearer x", "Basic eDp5", "bearer a.b.c", _BOOTSTRAP])

    def _path(self, resource: Resource, obj: Any, *, named: bool) -> str:
        draw = self._draw
        if draw.random() < 0.12:
            return draw.choice(_PATHS)
        prefix = f"/apis/{resource.group}" if resource.group else "/api"
        parts = [prefix, resource.version]
        if resource.namespaced and draw.random() < 0.95:
            parts += ["namespaces", draw.choice(["default", "default", "default", "kube-system", "no"])]
        parts.append(resource.plural)
        if named:
            metadata = obj.get("metadata") if isinstance(obj, dict) else None
            name = metadata.get("name") if isinstance(metadata, dict) else None
            parts.append(quote(str(name or f"o{draw.randrange(5)}"), safe=":", errors="replace"))
            if draw.random() < 0.2:
                parts.append(draw.choice([*sorted(resource.subresources), "status", "x"]))
        if draw.random() < 0.05:
            parts.insert(draw.randrange(len(parts) + 1), draw.choice(_SEGMENTS))
        return "/".join(parts)

    def _query(self, method: str) -> tuple[str, bool]:
        draw = self._draw
        pairs = []
        while draw.random() < 0.4:
            pairs.append(f"{draw.choice(_PARAMETERS)}={quote(draw.choice(_VALUES))}")
        endless = method in ("GET", "HEAD") and draw.random() < 0.03
        if endless:
            pairs.append("watch=1")
        return ("?" + "&".join(pairs) if pairs else ""), endless

    def _body(self, method: str, obj: Any) -> tuple[str, bytes]:
        draw = self._draw
        if method == "GET" and draw.random() < 0.97:
            return "application/json", b""
        content_type = draw.choice(_PATCHES if method == "PATCH" and draw.random() < 0.95 else _CONTENT_TYPES)
        if method != "PATCH" and draw.random() < 0.8:
            content_type = "application/json"
        if draw.random() < 0.1:
            return content_type, draw.choice(_TEXTS)
        body = self._encoded(content_type, obj)
        if draw.random() < 0.05 and body:
            at = draw.randrange(len(body))
            body = body[:at] + bytes([draw.randrange(256)]) + body[at + draw.randrange(3) :]
        return content_type, body

    def _encoded(self, content_type: str, obj: Any) -> bytes:
        draw = self._draw
        if content_type == "application/json-patch+json":
            return json.dumps(self._operations(obj)).encode()
        if "yaml" in content_type and draw.random() < 0.5:
            try:
                return yaml.safe_dump(obj).encode()
            except (yaml.YAMLError, UnicodeEncodeError):
                return b"x: y"
        if "protobuf" in content_type:
            return b"k8s\x00" + draw.randbytes(draw.randrange(60))
        return json.dumps(obj, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")

    def _operations(self, obj: Any) -> list[Object]:
        draw, paths = self._draw, _POINTERS
        value = draw.choice([obj, None, 1, "x", [], {}])
        operations = ("add", "remove", "replace", "copy", "move", "test", "x")
        return [
            {"op": draw.choice(operations), "path": draw.choice(paths), "from": draw.choice(paths), "value": value}
            for _ in range(draw.randrange(4))
        ]

    def _framed(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
        draw = self._draw
        if body and draw.random() < 0.05:
            headers = [*headers, ("Content-Encoding", "gzip")]
            body = gzip.compress(body, 1)
        if body and draw.random() < 0.05:
            headers = [*headers, ("Transfer-Encoding", "chunked")]
            half = len(body) // 2
            parts = [part for part in (body[:half], body[half:]) if part]
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        else:
            headers = [*headers, ("Content-Length", str(len(body)))]
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("utf-8", "surrogatepass") + body

    def _damaged(self, data: bytes) -> bytes:
        draw = self._draw
        found = bytearray(data[: draw.randrange(1, len(data) + 1)] if draw.random() < 0.3 else data)
        for _ in range(draw.randrange(5)):
            found[draw.randrange(min(len(found), 400))] = draw.randrange(256)
        return bytes(found)
