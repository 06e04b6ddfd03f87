"""The table once more, in clusters that run: the embedded one, and a real control plane beside which Mooring runs.

What StatefulSets and a scheduler make of our objects is there not our own doing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from mooring.kube.objects import Object
from mooring.testing.conditions import has_condition
from mooring.testing.fixtures import missing
from mooring.testing.groups import leader_worker_set
from mooring.testing.homes import HOMES, REAL, Home, whole
from mooring.testing.http import Api
from mooring.testing.processes import free_port
from mooring.testing.tools import ToolMissing
from tests.cli.embedded import eventually
from tests.features.groups.cases import CASES, fleet, home, moved, namespace_of, volumes
from tests.features.groups.corner import Corner

PATIENCE = 240.0
DEFINITIONS = Path(__file__).parents[3] / "config" / "crd"
SETS = "/apis/leaderworkerset.x-k8s.io/v1"
PATHS = {
    "LeaderWorkerSet": f"{SETS}/namespaces/{{}}/leaderworkersets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "ControllerRevision": "/apis/apps/v1/namespaces/{}/controllerrevisions",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Service": "/api/v1/namespaces/{}/services",
    "Event": "/api/v1/namespaces/{}/events",
    "Node": "/api/v1/nodes",
}


class OverHttp(NamedTuple):
    api: Api
    namespace: str

    def all(self, kind: str) -> list[Object]:
        answer = self.api.get(PATHS[kind].format(self.namespace))
        assert answer.code == 200, answer.body
        found: list[Object] = answer.body["items"]
        return found

    def stored(self, obj: Object) -> Object:
        answer = self.api.post(PATHS["StatefulSet"].format(self.namespace), obj, dryRun="All")
        assert answer.code == 201, answer.body
        made: Object = answer.body
        return made


@pytest.fixture(scope="module", params=HOMES)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A cluster with all sets of the table in it, at rest."""
    run_arguments = ("--webhook-url", f"https://127.0.0.1:{free_port()}")
    starting = whole(request.param, tmp_path_factory.mktemp(request.param), fleet(), run_arguments=run_arguments)
    try:
        running = starting.__enter__()
    except ToolMissing as error:
        missing(error)
    try:
        with running.api() as api:
            _fill(running, api)
            eventually(lambda: not _unready(api), "all sets are available", PATIENCE)
            yield api
    finally:
        starting.__exit__(None, None, None)


def _fill(running: Home, api: Api) -> None:
    if running.name == REAL:
        for file in DEFINITIONS.glob("*.yaml"):
            made = api.post(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                yaml.load(file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)),
            )
            assert made.code == 201, made.body
    eventually(lambda: _is_filled_in(api), "the kind is served, with its webhooks")
    for obj in volumes():
        _create(api, "/api/v1/persistentvolumes", obj)
    for case in CASES:
        _create(api, "/api/v1/namespaces", home(case))
        _create(api, PATHS["LeaderWorkerSet"].format(namespace_of(case)), moved(case))


def _is_filled_in(api: Api) -> bool:
    """Whether webhooks are asked by now: only they give a set its network."""
    answer = api.post(PATHS["LeaderWorkerSet"].format("default"), leader_worker_set(), dryRun="All")
    return answer.code == 201 and "networkConfig" in answer.body["spec"]


def _create(api: Api, path: str, obj: Object) -> None:
    answer = api.post(path, obj)
    assert answer.code == 201, answer.body


def _unready(api: Api) -> list[str]:
    sets = api.get(f"{SETS}/leaderworkersets").body["items"]
    return [each["metadata"]["namespace"] for each in sets if not has_condition(each, "Available")]


@pytest.mark.slow
def test_every_set_is_as_read(api: Api, subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case):
            corner = Corner(OverHttp(api, namespace_of(case)))
            reading, status = corner.reading(), corner.lws()["status"]
            assert corner.pods() == reading.pods()
            assert corner.stateful_sets() == corner.stored(reading.stateful_sets())
            assert corner.services() == reading.services()
            assert {key: status.get(key, 0) for key in reading.status()} == reading.status()
            assert not corner.told("FailedCreate")
