"""How the objects of a fleet are brought into a cluster, and what is said of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mooring.client.transport import Page, Request, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ForbiddenError
from mooring.nodes.process.node_object import LABEL as PROCESS_LABEL
from mooring.nodes.stages.crd import stage_definition
from mooring.supervisor.fleet import apply
from mooring.supervisor.fleet.manifest import DEFAULT_FLEET, read_fleet
from tests.supervisor.fleet.test_fleets import FLEET, REAL, SETTINGS, SHOP, fleet, numbered
from tests.support.virtual_time import clock, in_virtual_time


class Api:
    """A server with some nodes; it refuses by name, and is away for as long as it is told."""

    def __init__(self, *nodes: Object, away: int = 0, refuses: Mapping[str, Exception] | None = None) -> None:
        self.nodes, self.away, self.refuses = nodes, away, refuses or {}
        self.made: list[Request] = []
        self.times: list[float] = []

    async def mapping(self, api_version: str, kind: str) -> Any:
        if self.away:
            self.away -= 1
            self.times.append(clock())
            raise (Unreachable if self.away % 2 else UnknownOutcome)("away")
        return SimpleNamespace(namespaced=kind in ("ConfigMap", "Role"))

    async def list(self, *which: str) -> AsyncIterator[Page]:
        assert which == ("v1", "Node")
        for node in self.nodes:
            raw = msgspec.Raw(json.dumps(node).encode()) if len(node["metadata"]["name"]) % 2 else node
            yield Page([raw], "1")

    async def write(self, request: Request) -> Object:
        await asyncio.sleep(0)
        self.made.append(request)
        if request.name in self.refuses:
            raise self.refuses[request.name]
        return request.body


def settled(monkeypatch: pytest.MonkeyPatch, api: Any, path: str | None) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(apply, "tell_parent", lambda what, text: told.append((what, text)))
    in_virtual_time(apply.settle(api, path))
    return told


def request(obj: Object, namespace: str = "") -> Request:
    body = {**obj, "metadata": {**obj["metadata"], "namespace": namespace}} if namespace else obj
    name = obj["metadata"]["name"]
    return Request("create", obj["apiVersion"], obj["kind"], namespace, name, body, manager="mooring-fleet")


def named(name: str, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels or None}}


def test_a_fleet_is_brought_in_once_the_server_is_there_with_what_others_need_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(fleet(tmp_path, FLEET))
    api = Api(away=3)
    assert settled(monkeypatch, api, path) == [("fleet", f"3 nodes of {path}.")]
    others = [numbered(1), numbered(2), REAL]
    assert api.made == [request(stage_definition()), request(SHOP), *map(request, others), request(SETTINGS, "default")]
    assert api.times == pytest.approx([0, 0.2, 0.4])


def test_what_is_there_already_or_is_refused_is_counted_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(fleet(tmp_path, FLEET))
    refuses = {"shop": AlreadyExistsError("there"), "settings": ForbiddenError("no rights")}
    api = Api(named("gpu-1"), named("real", x="y"), named("me", **{"mooring.dev/process": "true"}), refuses=refuses)
    said = f"3 nodes of {path}, 4 of 5 objects there already."
    assert settled(monkeypatch, api, path) == [("fleet", said)]
    # Nodes that are there are not asked for again.
    assert [each.name for each in api.made][1:] == ["shop", "gpu-2", "settings"]
    assert caplog.messages == ["the fleet lacks ConfigMap settings: no rights"]


def test_the_default_fleet_is_for_clusters_without_nodes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(monkeypatch, Api(named("a")), None) == [("fleet", "One node from before.")]
    api = Api(named("a"), named("bb"))
    assert settled(monkeypatch, api, None) == [("fleet", "2 nodes from before.")]
    assert api.made == [request(stage_definition())]
    # This machine, as a node of the cluster, is no fleet.
    this = named("me", **{PROCESS_LABEL: "true"})
    (told,) = settled(monkeypatch, Api(this), None)
    assert told == ("fleet", f"{read_fleet(DEFAULT_FLEET).nodes} nodes of the default fleet.")


def test_a_fleet_without_nodes_counts_its_objects_and_one_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fleet(tmp_path, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: x}\n")
    api = Api()
    assert settled(monkeypatch, api, str(path)) == [("fleet", f"One object of {path}.")]
    assert api.made[1].namespace == "x"
    path.write_text("kind: Node\napiVersion: v1\n")
    ((what, text),) = settled(monkeypatch, Api(), str(path))
    assert what == "fleet refused"
    assert text.startswith("the fleet cannot be brought in: ")
    assert "metadata.name: required" in text
