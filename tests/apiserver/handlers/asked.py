"""Requests in short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from tests.apiserver.alone import Alone

CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"
PODS = f"{CORE}/pods"
ACCOUNTS = f"{CORE}/serviceaccounts"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIALS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
FORMS = (
    "",
    "*/*",
    "application/*",
    JSON,
    YAML,
    "application/yaml;q=0.9,application/json;q=0.1",
    PROTOBUF,
    TABLE,
    PARTIAL,
    PARTIALS,
    f"{TABLE},{JSON}",
    TABLE.replace("v=v1;", "v=v1beta1;"),
    TABLE.replace("v=v1;", "v=v9;"),
    f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io",
    "application/json;pretty=1",
    "application/cbor",
    "text/html",
    "text/html,*/*;q=0.1",
    f"text/html,{JSON}",
    "application/json;q=0",
    "x",
)


class Asked(NamedTuple):
    method: str
    path: str
    body: Any = None
    kind: str = JSON
    accept: str = ""
    token: str = "secret"
    headers: Mapping[str, str] = MappingProxyType({})

    @property
    def name(self) -> str:
        body = "" if self.body is None else self.body if isinstance(self.body, str) else json.dumps(self.body)
        more = [self.accept, *(f"{name}: {value}" for name, value in self.headers.items())]
        more += [self.token] if self.token != "secret" else []
        shown = f"{self.kind} {body}" if self.body is not None else ""
        return " ".join(filter(None, (self.method, self.path, shown, *more)))[:400]

    async def ask(self, server: Alone) -> bytes:
        headers = {**({"accept": self.accept} if self.accept else {}), **self.headers}
        body = b""
        if self.body is not None:
            body = self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()
            headers = {"content-type": self.kind, **headers} if self.kind else headers
        return await server.ask(self.method, self.path, body, headers, token=self.token)


def get(path: str, accept: str = "", **more: Any) -> Asked:
    return Asked("GET", path, accept=accept, **more)


def post(path: str, body: Any, kind: str = JSON, **more: Any) -> Asked:
    return Asked("POST", path, body, kind, **more)


def config(name: str = "", **metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"a": "1"}}


def pod(name: str, **more: Any) -> Object:
    spec = {"containers": [{"name": "c", "image": "x"}], "terminationGracePeriodSeconds": 5, **more.pop("spec", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **more}, "spec": spec}
