"""Rules that take long: others are answered in the meantime, and the write is answered as Kubernetes answers it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mooring.kube.objects import Object
from mooring.testing.homes import EMBEDDED, Home, api_only
from mooring.testing.http import Answer
from tests.apiserver.webhooks.world import DEFINITIONS

RULE = "self.list.all(a, self.list.all(b, a + b >= 0)) || self.list.size() == 1000"
# A server that waits for one rule after the other answers about one between each two.
FEWEST_READS = 20


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with api_only(EMBEDDED, tmp_path_factory.mktemp("rules")) as found:
        with found.api() as api:
            assert api.post(DEFINITIONS, definition()).code == 201
        yield found


def definition() -> Object:
    listed = {"type": "array", "maxItems": 1000, "items": {"type": "integer"}}
    spec = {"type": "object", "properties": {"list": listed}, "x-kubernetes-validations": [{"rule": RULE}]}
    return {
        "metadata": {"name": "loops.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "loops", "kind": "Loop"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }
            ],
        },
    }


def loop(count: int, **metadata: str) -> Object:
    return {"metadata": metadata, "spec": {"list": list(range(count))}}


PATH = "/apis/example.com/v1/namespaces/default/loops"


def test_others_are_answered_while_a_rule_takes_its_time(home: Home) -> None:
    answers: list[Answer] = []

    def write() -> None:
        with home.api() as api:
            answers.append(api.post(PATH, loop(1000, name="slow")))

    writers = [threading.Thread(target=write) for _ in range(3)]
    reads = 0
    with home.api() as api:
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            assert api.get("/api/v1/namespaces/default").code == 200
            reads += 1
    assert [answer.code for answer in answers] == [422, 422, 422]
    assert "call cost exceeds limit for rule" in answers[0].body["message"]
    assert reads >= FEWEST_READS


def test_what_takes_long_and_holds_is_stored_once_under_a_generated_name(home: Home) -> None:
    with home.api() as api:
        made = api.post(PATH, loop(200, generateName="long-"))
        assert made.code == 201
        assert made.body["metadata"]["name"].startswith("long-")
        assert len(api.get(PATH).body["items"]) == 1
