"""An API server of either home with foreign webhooks: what a test says, and how it knows that it is heeded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from mooring.kube.objects import Object
from mooring.testing.http import Answer, Api
from tests.apiserver.webhooks.foreign import Foreign, allowed

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HEEDED_SECONDS = 20.0

_numbers = count()


def rule(resource: str, *operations: str, group: str = "", version: str = "v1", scope: str | None = None) -> Object:
    made: Object = {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "operations": list(operations) or ["CREATE"],
    }
    return made | ({"scope": scope} if scope else {})


def hook(name: str, client: Object, *rules: Object, **other: Any) -> Object:
    return {
        "name": f"{name}.example.com",
        "clientConfig": client,
        "rules": list(rules) or [rule("configmaps")],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
    } | other


class World:
    """A namespace of its own on a server, and webhooks that look at nothing outside it."""

    def __init__(self, api: Api, foreign: Foreign, home: str) -> None:
        self.api, self.foreign, self.home = api, foreign, home
        self.number = next(_numbers)
        self.namespace = f"hooks-{self.number}"
        self.base = f"/api/v1/namespaces/{self.namespace}"
        self.configmaps = f"{self.base}/configmaps"
        self.pods = f"{self.base}/pods"
        self._made: list[str] = []
        self.sent("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace, "labels": {"hooked": "yes"}}})
        account = {"metadata": {"name": "default"}, "automountServiceAccountToken": False}
        self.api.request("POST", f"{self.base}/serviceaccounts", account)

    def close(self) -> None:
        for path in self._made:
            self.api.request("DELETE", path)

    # Saying

    def sent(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """The answer to a request that must be a good one."""
        answer = self.api.request(method, path, body, **query)
        assert answer.code < 300, answer.body
        return answer

    def configmap(self, name: str, **metadata: Any) -> Answer:
        return self.api.post(self.configmaps, {"metadata": {"name": name} | metadata})

    def here(self) -> Object:
        """The selector of this test's namespace."""
        return {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}

    def made(self, path: str, body: Object) -> Object:
        """An object that is removed when the test is over."""
        found: Object = self.sent("POST", path, body).body
        self._made.append(f"{path}/{found['metadata']['name']}")
        return found

    def mutating(self, *hooks: Object, name: str = "") -> str:
        return self._configured("mutating", hooks, name)

    def validating(self, *hooks: Object, name: str = "") -> str:
        return self._configured("validating", hooks, name)

    def _configured(self, phase: str, hooks: tuple[Object, ...], name: str) -> str:
        """Store a configuration and wait until the server heeds it, which real ones do after a while."""
        name = f"{name or phase}-{self.number}-{next(_numbers)}"
        path = self.foreign.on(f"/heeded/{name}", allowed())
        probe = hook("heeded", self.foreign.client(path), objectSelector={"matchLabels": {"probe": name}})
        kind = f"{phase.capitalize()}WebhookConfiguration"
        narrowed = [{"namespaceSelector": self.here()} | each for each in hooks]
        body = {"kind": kind, "metadata": {"name": name}, "webhooks": [*narrowed, probe]}
        self.made(f"{CONFIGURATIONS}/{kind.lower()}s", body)
        give_up = time.monotonic() + HEEDED_SECONDS
        while not self.foreign.asked(path):
            assert time.monotonic() < give_up, f"{name} is not heeded"
            probe = {"metadata": {"name": f"probe-{next(_numbers)}", "labels": {"probe": name}}}
            self.api.post("/api/v1/namespaces/default/configmaps", probe, dryRun="All")
        return name


@contextmanager
def world_on(api: Api, foreign: Foreign, home: str) -> Iterator[World]:
    world = World(api, foreign, home)
    try:
        yield world
    finally:
        world.close()


def message(answer: Any) -> str:
    """The sentence of a refusal."""
    assert answer.body["kind"] == "Status", answer.body
    text: str = answer.body["message"]
    return text
