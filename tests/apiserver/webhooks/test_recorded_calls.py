"""Webhooks: which are called in which words, what becomes of whatever they answer, and what clients are told of it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.net.certificates import ensure_certificates
from tests.apiserver.alone import Alone, Decode, Line, play, shown
from tests.apiserver.webhooks.replies import ANSWERS, CONVERSIONS, asked, patched, reviewed
from tests.support.golden import same_as_recorded

HOOK = ("10.3.0.1", 8443)
URL = "https://10.3.0.1:8443/check"
GROUP = "/apis/admissionregistration.k8s.io/v1"
CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def known() -> Decode:
    """What a webhook gets; each review has an identifier of its own."""
    return lambda data: [shown(UID.sub("(uid)", data.decode()).encode())]


class World:
    def __init__(self, server: Alone, authority: bytes) -> None:
        self.server = server
        self.bundle = b64encode(authority).decode()
        self.found: dict[str, str] = {}
        self.made = 0

    def hook(self, name: str = "a.example.com", **more: Any) -> Object:
        rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"]}]
        client = more.pop("client", {"url": URL})
        made: Object = {"name": name, "rules": rules, "clientConfig": {"caBundle": self.bundle, **client}}
        return made | {"sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 3, **more}

    async def configure(self, kind: str, *hooks: Object, name: str = "hooks") -> None:
        body = {"metadata": {"name": name}, "webhooks": list(hooks)}
        await self.server.ask("POST", f"{GROUP}/{kind}webhookconfigurations", json.dumps(body).encode(), JSON)
        if "client gets 201" in self.server.notes.lines[0]:
            self.server.notes.taken()

    async def forget(self) -> None:
        taken = self.server.notes.lines
        for kind in ("mutating", "validating"):
            await self.server.ask("DELETE", f"{GROUP}/{kind}webhookconfigurations")
        self.server.notes.lines = taken[: len(taken) - 4]

    async def tell(
        self, story: str, method: str, path: str, body: Any = None, kind: str = "application/json", **headers: str
    ) -> None:
        self.server.notes.begin()
        data = b"" if body is None else json.dumps(body).encode()
        await self.server.ask(method, path, data, {"content-type": kind, **headers})
        self.keep(story)

    def hang_up(self) -> None:
        """Leave no connection for the next story, which may be of a webhook that lets nobody in."""
        pools = self.server.app.webhooks._client._pools
        for pool in pools.values():
            pool.close()
        pools.clear()
        self.server.notes.taken()

    def keep(self, story: str) -> None:
        self.found[story] = UID.sub("(uid)", self.server.notes.taken())


JSON = {"content-type": "application/json"}


def config(name: str, **metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"a": "1"}}


async def answers(world: World) -> None:
    """Whatever a webhook answers, where its failure counts and where it does not."""
    for kind in ("mutating", "validating"):
        for policy in ("Fail", "Ignore"):
            await world.configure(kind, world.hook(failurePolicy=policy))
            for number, (name, how) in enumerate(ANSWERS.items()):
                world.server.at(*HOOK, decode=known, **how)
                await world.tell(
                    f"{kind}, {policy}: {name}", "POST", MAPS, config(f"{kind[0]}{policy[0].lower()}{number}")
                )
                world.hang_up()
            await world.forget()


def selections(world: World) -> Iterator[tuple[str, Object]]:
    """Which requests a webhook is called for."""

    def rule(**more: Any) -> Object:
        every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
        return {"rules": [every | more]}

    for operations in (["CREATE"], ["UPDATE"], ["DELETE"], ["CONNECT"], ["CREATE", "DELETE"], ["*"]):
        yield f"operations {operations}", rule(operations=operations)
    for resources in (
        ["configmaps"],
        ["pods"],
        ["pods/*"],
        ["*/*"],
        ["*/status"],
        ["*"],
        ["pods/binding"],
        ["configmaps", "pods/eviction"],
    ):
        yield f"resources {resources}", rule(resources=resources)
    for group, version in (("", "v1"), ("apps", "v1"), ("", "v2"), ("*", "v1")):
        yield f"group {group or 'core'} and {version}", rule(apiGroups=[group], apiVersions=[version])
    for scope in ("*", "Cluster", "Namespaced"):
        yield f"scope {scope}", rule(scope=scope)
    for selector in (
        {"matchLabels": {"team": "a"}},
        {"matchLabels": {"team": "b"}},
        {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    ):
        yield f"namespaces {selector}", {**rule(), "namespaceSelector": selector}
        yield f"objects {selector}", {**rule(), "objectSelector": selector}
    for condition in (
        "true",
        "false",
        "object.metadata.name == 'one'",
        "request.operation == 'CREATE'",
        "oldObject == null",
        "object.none",
        "has(request.userInfo.username) && request.userInfo.username == 'admin'",
    ):
        yield f"where {condition}", {**rule(), "matchConditions": [{"name": "c", "expression": condition}]}
    yield "no rules", {"rules": []}
    yield "side effects on dry runs", {**rule(), "sideEffects": "NoneOnDryRun"}
    yield "a path of its own", {"client": {"url": "https://10.3.0.1:8443//a/../b/?x=1"}}
    yield "no path", {"client": {"url": "https://10.3.0.1:8443"}}
    yield "another port", {"client": {"url": "https://10.3.0.1:9/x"}}
    yield "a name", {"client": {"url": "https://hook.example.com/x"}}
    for name, port, path in (
        ("hook", None, None),
        ("hook", 444, "/p//q"),
        ("hook", 445, "x"),
        ("none", None, None),
        ("far", None, None),
        ("dry", None, None),
    ):
        service = {"namespace": "default", "name": name, "port": port, "path": path}
        yield (
            f"service {name}:{port}{path}",
            {"client": {"service": {key: value for key, value in service.items() if value is not None}}},
        )


async def selected(world: World) -> None:
    server = world.server
    await server.make("/api/v1/namespaces", {"metadata": {"name": "team", "labels": {"team": "a"}}})
    await server.make("/api/v1/nodes", {"metadata": {"name": "n"}})
    spec: Object = {"containers": [{"name": "c", "image": "x"}]}
    ports: list[Object] = [{"port": 443, "name": "a"}, {"port": 444, "name": "b"}, {"port": 445, "name": "c"}]
    for name, more in (("hook", {}), ("dry", {}), ("far", {"type": "ExternalName", "externalName": "x"})):
        await server.make(f"{CORE}/services", {"metadata": {"name": name}, "spec": {"ports": ports, **more}})
    subset = {"addresses": [{"ip": "10.3.0.1"}], "ports": [{"name": "a", "port": 8443}, {"name": "b", "port": 8443}]}
    await server.make(f"{CORE}/endpoints", {"metadata": {"name": "hook"}, "subsets": [subset]})
    for kind, most in (("mutating", 8), ("validating", 100)):
        for number, (name, more) in enumerate(islice(selections(world), most)):
            server.at(*HOOK, decode=known, replies=reviewed())
            await world.configure(kind, world.hook(failurePolicy="Fail", **more))
            pod = f"p{kind[0]}{number}"
            requests: Sequence[tuple[str, str, Any, str]] = (
                ("POST", f"{MAPS}?dryRun=All", config("one", labels={"team": "a"}), "application/json"),
                ("POST", "/api/v1/namespaces/team/configmaps?dryRun=All", config("two"), "application/json"),
                ("POST", f"{CORE}/pods", {"metadata": {"name": pod}, "spec": spec}, "application/json"),
                ("PATCH", f"{CORE}/pods/{pod}/status", {"status": {"phase": "Running"}}, MERGE),
                ("POST", f"{CORE}/pods/{pod}/binding", {"target": {"kind": "Node", "name": "n"}}, "application/json"),
                ("PATCH", "/api/v1/nodes/n", {"metadata": {"labels": {"x": str(number)}}}, MERGE),
                ("DELETE", f"{CORE}/pods/{pod}?gracePeriodSeconds=0", None, "application/json"),
                ("GET", f"{MAPS}?limit=1", None, "application/json"),
            )
            told = []
            for method, path, body, form in requests:
                server.notes.begin()
                await server.ask(
                    method, path, json.dumps(body).encode() if body is not None else b"", {"content-type": form}
                )
                calls = [line for line in server.notes.lines if not line.endswith("is cut off")]
                told.append("\n".join([f"{method} {path}", *calls]))
                server.notes.taken()
            server.notes.lines = told
            world.keep(f"{kind}: {name}")
            await world.forget()
            server.notes.taken()


async def several(world: World) -> None:
    """Several webhooks: in which order they are called, with what the one before made, and once more."""
    server = world.server

    def replies(data: bytes) -> list[Line]:
        path = data.split(b" ")[1].partition(b"?")[0].decode()
        labels = asked(data)["object"]["metadata"].get("labels") or {}
        value = "".join((labels.get("seen", ""), path.strip("/")))
        return patched({"op": "add", "path": "/metadata/labels", "value": {**labels, "seen": value}})(data)

    server.at(*HOOK, decode=known, replies=replies)
    for again in ("Never", "IfNeeded"):
        hooks = [
            world.hook(f"{name}.example.com", client={"url": f"https://10.3.0.1:8443/{name}"}, reinvocationPolicy=again)
            for name in "cab"
        ]
        await world.configure("mutating", *hooks, name="second")
        await world.configure(
            "mutating", world.hook("z.example.com", client={"url": "https://10.3.0.1:8443/z"}), name="first"
        )
        await world.tell(f"several that change, {again}", "POST", MAPS, config(f"several-{again.lower()}"))
        await world.forget()
    server.at(
        *HOOK, replies=lambda data: reviewed(allowed=b"/a?" not in data, warnings=[data.split(b" ")[1].decode()])(data)
    )
    hooks = [world.hook(f"{name}.example.com", client={"url": f"https://10.3.0.1:8443/{name}"}) for name in "cab"]
    await world.configure("validating", *hooks)
    await world.tell("several that look", "POST", MAPS, config("looked-at"))
    await world.tell("an update with what was there", "PATCH", f"{MAPS}/several-never", {"data": {"b": "2"}}, MERGE)
    await world.forget()


async def conversions(world: World) -> None:
    server = world.server
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    for number, (name, how) in enumerate(CONVERSIONS.items()):
        plural = f"widgets{number}"
        client = {"url": "https://10.3.0.1:8443/convert", "caBundle": world.bundle}
        conversion = {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}
        names = {
            "plural": plural,
            "singular": f"widget{number}",
            "kind": f"Widget{number}",
            "listKind": f"Widget{number}List",
        }
        spec = {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": versions,
            "conversion": conversion,
        }
        await server.make(DEFINITIONS, {"metadata": {"name": f"{plural}.example.com"}, "spec": spec})
        base = f"/apis/example.com/v1/namespaces/default/{plural}"
        for each in ("a", "b"):
            metadata = {"name": each, "labels": {"l": each}, "annotations": {"n": each}}
            await server.make(
                base,
                {"apiVersion": "example.com/v1", "kind": f"Widget{number}", "metadata": metadata, "spec": {"x": 1}},
            )
        world.hang_up()
        server.at(*HOOK, decode=known, **how)
        other = base.replace("v1", "v2")
        await world.tell(f"conversion: {name}, get", "GET", f"{other}/a")
        await world.tell(f"conversion: {name}, list", "GET", other)
        await world.tell(f"conversion: {name}, change", "PATCH", f"{other}/a", {"spec": {"z": 1}}, MERGE)
        made = {"apiVersion": "example.com/v2", "kind": f"Widget{number}", "metadata": {"name": "c"}, "spec": {"y": 2}}
        await world.tell(f"conversion: {name}, create", "POST", other, made)
        await world.tell(f"conversion: {name}, watch", "GET", f"{other}?watch=1&timeoutSeconds=1&resourceVersion=0")


def test_webhooks_are_called_and_heeded_as_recorded(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ensure_certificates(tmp_path_factory.mktemp("hooks") / "tls", ["localhost"], now=datetime.now(UTC))
    monkeypatch.setattr("mooring.apiserver.webhooks.endpoints.random.choice", lambda found: found[-1])
    monkeypatch.setattr("mooring.apiserver.webhooks.http._MAX_RESPONSE_BYTES", 20_000)

    def told(story: Any) -> dict[str, str]:
        async def run(server: Alone) -> dict[str, str]:
            world = World(server, files.authority.read_bytes())
            await story(world)
            return world.found

        found: dict[str, str] = play(run)
        return found

    found: dict[str, str] = {}
    for story in (answers, selected, several, conversions):
        found |= told(story)
    same_as_recorded("server-webhooks", found)
