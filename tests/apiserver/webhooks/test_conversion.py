"""Custom kinds that are converted by a foreign webhook, on both API servers."""

from __future__ import annotations

import json
import time

import pytest

from mooring.kube.objects import Object
from mooring.testing.http import Answer
from tests.apiserver.webhooks.foreign import allowed
from tests.apiserver.webhooks.world import DEFINITIONS, World, hook, rule


def converted(obj: Object, wanted: str) -> Object:
    """v1 has host and port in one text, v2 has them apart."""
    spec = obj["spec"]
    if wanted.endswith("/v1"):
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    else:
        host, _, port = spec["address"].partition(":")
        spec = {"host": host, "port": int(port)}
    return {**obj, "apiVersion": wanted, "spec": spec}


def convert(request: Object) -> Object:
    wanted = request["desiredAPIVersion"]
    objects = [converted(each, wanted) for each in request["objects"]]
    return {"result": {"status": "Success"}, "convertedObjects": objects}


class Widgets:
    """A custom kind of two versions, stored in the second."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.group = f"w{world.number}.example.com"
        self.path = world.foreign.on(f"/convert/{world.number}", convert)
        schemas = {
            "v1": {"address": {"type": "string"}},
            "v2": {"host": {"type": "string"}, "port": {"type": "integer"}},
        }
        versions = [
            {
                "name": name,
                "served": True,
                "storage": name == "v2",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": properties}},
                    }
                },
            }
            for name, properties in schemas.items()
        ]
        webhook = {"conversionReviewVersions": ["v1"], "clientConfig": world.foreign.client(self.path)}
        spec = {
            "group": self.group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions,
            "conversion": {"strategy": "Webhook", "webhook": webhook},
        }
        world.made(DEFINITIONS, {"metadata": {"name": f"widgets.{self.group}"}, "spec": spec})
        give_up = time.monotonic() + 20
        while world.api.get(self.at("v1")).code != 200 or world.api.get(self.at("v2")).code != 200:
            assert time.monotonic() < give_up, "the custom kind is not served"
            time.sleep(0.05)

    def at(self, version: str, name: str = "") -> str:
        base = f"/apis/{self.group}/{version}/namespaces/{self.world.namespace}/widgets"
        return f"{base}/{name}" if name else base

    def make(self, name: str, address: str = "here:80") -> Answer:
        body = {
            "apiVersion": f"{self.group}/v1",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"address": address},
        }
        return self.world.api.post(self.at("v1"), body)

    def spec(self, version: str, name: str) -> Object:
        found: Object = self.world.sent("GET", self.at(version, name)).body
        assert found["apiVersion"] == f"{self.group}/{version}"
        spec: Object = found["spec"]
        return spec

    def calls(self) -> int:
        return len(self.world.foreign.asked(self.path))


@pytest.fixture
def widgets(world: World) -> Widgets:
    return Widgets(world)


def test_what_is_written_in_one_version_is_read_in_the_other(widgets: Widgets) -> None:
    made = widgets.make("a")
    assert (made.code, made.body["spec"]) == (201, {"address": "here:80"})
    assert widgets.spec("v2", "a") == {"host": "here", "port": 80}
    assert widgets.spec("v1", "a") == {"address": "here:80"}
    stored = widgets.world.sent("GET", widgets.at("v2", "a")).body["metadata"]
    assert {**made.body["metadata"], "managedFields": 0} == {**stored, "managedFields": 0}


def test_lists_are_converted_too(widgets: Widgets) -> None:
    for number in range(3):
        widgets.make(f"w{number}", f"host:{number}")
    items = widgets.world.sent("GET", widgets.at("v1")).body["items"]
    assert [each["spec"]["address"] for each in items] == ["host:0", "host:1", "host:2"]


def test_a_patch_applies_to_the_version_it_is_sent_in(widgets: Widgets) -> None:
    widgets.make("a")
    api = widgets.world.api
    patched = api.patch(widgets.at("v1", "a"), "merge", {"spec": {"address": "there:81"}})
    assert (patched.code, patched.body["spec"]) == (200, {"address": "there:81"})
    assert widgets.spec("v2", "a") == {"host": "there", "port": 81}
    applied = {"apiVersion": f"{widgets.group}/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"port": 82}}
    assert api.patch(widgets.at("v2", "a"), "apply", applied, fieldManager="me", force="true").code == 200
    assert widgets.spec("v1", "a") == {"address": "there:82"}


def test_watches_tell_changes_in_their_own_version(widgets: Widgets) -> None:
    version = widgets.world.sent("GET", widgets.at("v1")).body["metadata"]["resourceVersion"]
    with widgets.world.api.watch(widgets.at("v1"), resourceVersion=version) as watch:
        widgets.make("a")
        widgets.make("b", "there:81")
        widgets.world.api.delete(widgets.at("v2", "a"))
        events = watch.take(3)
    assert [(each["type"], each["object"]["spec"]["address"]) for each in events] == [
        ("ADDED", "here:80"),
        ("ADDED", "there:81"),
        ("DELETED", "here:80"),
    ]


def test_what_is_deleted_in_another_version_is_gone_once(widgets: Widgets) -> None:
    widgets.make("a")
    gone = widgets.world.api.delete(widgets.at("v1", "a"))
    assert gone.code == 200
    assert widgets.world.api.get(widgets.at("v2", "a")).code == 404
    widgets.make("b")
    widgets.make("c")
    assert widgets.world.api.delete(widgets.at("v1")).code == 200
    assert widgets.world.sent("GET", widgets.at("v2")).body["items"] == []


def test_a_webhook_that_asks_for_one_version_gets_it(widgets: Widgets) -> None:
    world = widgets.world
    path = world.foreign.on("/see", allowed({"op": "replace", "path": "/spec/port", "value": 99}))
    world.mutating(hook("see", world.foreign.client(path), rule("widgets", group=widgets.group, version="v2")))
    made = widgets.make("a")
    assert (made.code, made.body["spec"]) == (201, {"address": "here:99"})
    (told,) = world.foreign.asked(path)
    assert (told["kind"]["version"], told["requestKind"]["version"]) == ("v2", "v1")
    assert told["object"]["spec"] == {"host": "here", "port": 80}


def test_a_conversion_that_fails_stores_nothing_and_says_why(widgets: Widgets) -> None:
    world = widgets.world
    world.foreign.on(widgets.path, lambda _: {"result": {"status": "Failure", "message": "not in this form"}})
    refused = widgets.make("a")
    kind = f"{widgets.group}/v1, Kind=Widget"
    assert refused.code == 500
    assert refused.body["message"] == f"conversion webhook for {kind} failed: not in this form"
    world.foreign.on(widgets.path, convert)
    assert world.api.get(widgets.at("v2", "a")).code == 404


def test_a_conversion_may_not_rename(widgets: Widgets) -> None:
    def rename(request: Object) -> Object:
        text = json.dumps(convert(request)).replace('"name": "a"', '"name": "b"')
        made: Object = json.loads(text)
        return made

    widgets.world.foreign.on(widgets.path, rename)
    refused = widgets.make("a")
    assert refused.code == 500
    assert "must have the same name: a != b" in refused.body["message"]
