"""What is answered, and written, when something is to be installed, changed or taken away, wherever it stands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest

from mooring.client.rest_mapper import RestMapping
from mooring.client.transport import EVERYTHING, Page, Request, Scope
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.runway.providers.gpu_operator import GPU_OPERATOR
from mooring.runway.providers.registry import PROVIDERS
from mooring.runway.settings import DEFAULT_SETTINGS
from tests.runway.rest.asking import Answer, OneCaller, application, asked
from tests.support.golden import same_as_recorded

NAME: Final = "runway-installing"
PATHS: Final = {
    "kaito": "/api/installation/providers/kaito",
    "mooring": "/api/installation/providers/mooring",
    "gpu-operator": "/api/installation/gpu-operator",
}
PHASES: Final = ("", "Installing", "Installed", "Failed", "Cancelled", "Uninstalling")
ACTIONS: Final = (
    ("install", None),
    ("install?force=true", None),
    ("upgrade", None),
    ("rollback", {"revision": 2}),
    ("cancel", None),
    ("uninstall", None),
)
WANTED: Final = {"kaito": PROVIDERS["kaito"], "mooring": PROVIDERS["mooring"], "gpu-operator": GPU_OPERATOR}


class State(NamedTuple):
    """Where an installation stands; with no phase, nobody has asked for it."""

    target: str = "kaito"
    phase: str | None = None
    # What the Installation there says otherwise than the one that is wanted.
    other: str = ""
    # None, some that are not ready, or some that are.
    operators: str = "none"
    allowed: bool = True
    # Kinds that the server does not know, and those that may not be read.
    unserved: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Cluster:
    """An API server with one Installation and the pods of operators."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.writes: list[Any] = []
        self.lists: list[Any] = []
        found = _installation(state)
        self.installations: dict[str, Object] = {} if found is None else {found["metadata"]["name"]: found}

    def _look(self, kind: str) -> None:
        if kind in self.state.unserved:
            raise NotFoundError(f'no matches for kind "{kind}"')
        if kind in self.state.unread:
            raise ForbiddenError(f"{kind} may not be read")

    async def mapping(self, api_version: str, kind: str) -> RestMapping:
        if kind in self.state.unserved:
            raise NotFoundError(f'no matches for kind "{kind}"')
        return RestMapping(api_version, f"{kind.lower()}s", False)

    async def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        self._look(kind)
        if name not in self.installations:
            raise NotFoundError.of(kind, "", name)
        return self.installations[name]

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self.lists.append([api_version, kind, scope.namespace, scope.labels, scope.metadata_only])
        self._look(kind)
        items: list[Object] = []
        if kind == "Installation":
            items = list(self.installations.values())
        if kind == "Pod" and self.state.operators != "none":
            ready = {"type": "Ready", "status": "True" if self.state.operators == "ready" else "False"}
            image = {"name": "main", "image": "registry/operator:v0.9.1"}
            status = {"phase": "Running", "conditions": [ready]}
            items = [{"metadata": {"name": "operator"}, "spec": {"containers": [image]}, "status": status}]
        yield Page(items, "1")

    async def write(self, request: Request) -> Object:
        if not self.state.allowed:
            raise ForbiddenError(f'User "ada" cannot {request.verb} installations')
        self.writes.append([request.verb, request.name, request.body, request.uid, request.resource_version])
        assert (request.kind, request.namespace, request.manager) == ("Installation", "", "mooring-install")
        if request.verb == "create":
            return {**request.body, "metadata": {**request.body["metadata"], "uid": "new", "resourceVersion": "1"}}
        found = self.installations[request.name]
        if request.verb == "patch":
            spec = {**found["spec"], **request.body["spec"]}
            return {**found, "spec": {name: value for name, value in spec.items() if value is not None}}
        return found

    async def require(self, verb: str, api_version: str, kind: str) -> None:
        await self.mapping(api_version, kind)
        if not self.state.allowed:
            raise ForbiddenError(f'User "ada" cannot {verb} {kind} objects')

    async def topic(self, name: str) -> Any:
        nodes = [("b", 8, True), ("a", 4, False), ("none", 0, True)]
        shown = (
            SimpleNamespace(name=each, gpu=SimpleNamespace(total=gpus), ready=ready) for each, gpus, ready in nodes
        )
        return SimpleNamespace(elements={each.name: SimpleNamespace(value=each) for each in shown}, list=lambda: b"[]")


def _installation(state: State) -> Object | None:
    wanted = WANTED[state.target].installation(DEFAULT_SETTINGS)
    if wanted is None or state.phase is None:
        return None
    spec = dict(wanted["spec"])
    if state.other == "charts":
        spec["charts"] = [{**spec["charts"][0], "version": "0.0.1"}]
    elif state.other == "repository":
        spec["repository"] = {"name": "mirror", "url": "https://mirror.example.com"}
    elif state.other == "asked":
        spec |= {"suspend": True, "rollbackTo": 2, "attempt": 3}
    metadata: Object = {"name": state.target, "uid": "u1", "resourceVersion": "7"}
    if state.phase == "Uninstalling":
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}
    releases = [
        {"name": name, "namespace": "n", "revision": 1, "status": status}
        for name, status in (("one", "pending-install"), ("two", "deployed"), ("three", "pending-rollback"))
    ]
    status = {"phase": "Installed" if state.phase == "Uninstalling" else state.phase, "message": "chart x said no"}
    told = {**status, "releases": releases if state.phase == "Installing" else releases[1:2]}
    if state.phase == "Failed":
        condition = {"type": "Ready", "status": "False", "reason": "HelmMissing", "message": "there is no helm"}
        told["conditions"] = [{**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    return {**wanted, "metadata": metadata, "spec": spec, "status": told}


def states() -> Iterator[State]:
    for target in PATHS:
        for allowed in (True, False):
            yield State(target, allowed=allowed)
            for operators in ("starting", "ready"):
                yield State(target, operators=operators, allowed=allowed)
            if target != "mooring":
                for phase in PHASES:
                    for other in ("", "charts", "repository", "asked"):
                        yield State(target, phase, other, allowed=allowed)
        for kinds in (("Installation",), ("Workspace",), ("ClusterPolicy",), ("LeaderWorkerSet",)):
            for operators in ("none", "ready"):
                yield State(target, None, operators=operators, unserved=kinds)
        for unread in (("Installation",), ("Pod",), ("Workspace",)):
            yield State(target, "Installing", unread=unread, operators="ready")


class Front:
    """The application, made once, for one cluster after the other."""

    def __init__(self) -> None:
        self._callers = OneCaller()
        self._app = application(self._callers)

    async def ask(self, cluster: Cluster, method: str, path: str, body: Any = None) -> Answer:
        one: Any = SimpleNamespace(transport=cluster, require=cluster.require, topic=cluster.topic, uses=0)
        self._callers.caller = one
        return await asked(self._app, method, path, body)


FRONT: Final = Front()
LOOKS: Final = ("/api/installation/helm/status", "/api/runtimes/status")


async def everything() -> AsyncGenerator[tuple[State, str, Cluster, Answer]]:
    for state in states():
        for action, body in ACTIONS:
            cluster = Cluster(state)
            path = f"{PATHS[state.target]}/{action}"
            yield state, action, cluster, await FRONT.ask(cluster, "POST", path, body)
        for path in (f"{PATHS[state.target]}/status", *LOOKS):
            cluster = Cluster(state)
            yield state, path, cluster, await FRONT.ask(cluster, "GET", path)


def test_wherever_something_stands_it_is_answered_and_written_as_recorded() -> None:
    found: dict[str, str] = {}

    async def ask_all() -> None:
        async for state, action, cluster, answer in everything():
            case = f"{action} of {', '.join(map(str, state))}"
            told = [answer.status, answer.body, cluster.writes, cluster.lists]
            found[case] = json.dumps(told, indent=0, sort_keys=True)
            assert state.allowed or not cluster.writes, case
            assert answer.status != 500, case
            if action.startswith("/"):
                assert not cluster.writes, case
            elif not state.allowed and state.phase is not None:
                assert answer.status == 403, f"{case}: who may not change it is told so, also where nothing changes"

    asyncio.run(ask_all())
    same_as_recorded(NAME, found)


def one(action: str, **state: Any) -> tuple[int, Any, list[Any]]:
    cluster = Cluster(State(**state))
    body = dict(ACTIONS).get(action)
    method = "GET" if action.startswith("/") or action == "status" else "POST"
    path = action if action.startswith("/") else f"{PATHS[cluster.state.target]}/{action}"
    answer = asyncio.run(FRONT.ask(cluster, method, path, body))
    return answer.status, answer.body, cluster.writes


def test_charts_that_are_under_way_are_named() -> None:
    status, body, writes = one("install", phase="Installing")
    assert (status, writes) == (202, [])
    assert body["pendingCharts"] == "one (pending-install), three (pending-rollback)"
    assert (body["installing"], body["message"]) == (True, "KAITO is being installed")
    assert body["installationStatus"]["phase"] == "Installing"
    assert "pendingCharts" not in one("upgrade", phase="Installed", other="charts")[1]


@pytest.mark.parametrize("other", ["charts", "repository"])
def test_what_is_installed_otherwise_than_it_is_wanted_is_written(other: str) -> None:
    status, body, ((verb, name, written, _, version),) = one("install", phase="Installed", other=other)
    assert (status, body["installing"], verb, name, version) == (202, True, "patch", "kaito", "7")
    wanted = PROVIDERS["kaito"].installation(DEFAULT_SETTINGS)
    assert wanted is not None
    assert written == {"spec": {**wanted["spec"], "suspend": None, "rollbackTo": None}}


def test_what_is_installed_already_is_left_alone() -> None:
    status, body, writes = one("install", phase="Installed")
    assert (status, writes, body["alreadyInstalled"], body["installing"]) == (200, [], True, False)
    assert body["message"] == "KAITO is installed already"


def test_what_has_failed_is_tried_again_when_that_is_wanted() -> None:
    status, body, writes = one("install", phase="Failed")
    assert (status, writes) == (409, [])
    assert body["error"]["message"] == ("the last installation has failed: chart x said no; ?force=true tries again")
    status, body, ((_, _, written, _, _),) = one("install?force=true", phase="Failed")
    assert (status, written["spec"]["attempt"]) == (202, 2)


def test_what_runs_by_somebody_else_is_taken_over_only_when_that_is_said() -> None:
    status, body, writes = one("install", operators="ready")
    assert (status, writes, body["success"], body["installing"]) == (200, [], True, False)
    assert body["alreadyInstalled"] is True
    assert body["message"] == (
        "KAITO runs already, and not by Mooring; upgrade it, or ?force=true, to have Mooring take it over"
    )
    for action in ("install?force=true", "upgrade"):
        status, _, ((verb, *_),) = one(action, operators="ready")
        assert (status, verb) == (202, "create")


def test_what_needs_nothing_is_there() -> None:
    status, body, writes = one("install", target="mooring")
    assert (status, writes) == (200, [])
    assert body == {
        "success": True,
        "message": "Mooring needs nothing installed",
        "installing": False,
        "alreadyInstalled": True,
    }
    status, body, _ = one("upgrade", target="mooring")
    assert (status, body["error"]["message"]) == (422, "Mooring has nothing installed that could be upgraded")


def test_the_gpu_operator_is_told_with_the_gpus_that_pods_can_get() -> None:
    for operators, unserved, state, installed in (
        ("ready", (), "runs", True),
        ("starting", (), "is installed and does not run", False),
        ("none", ("ClusterPolicy",), "is not installed", False),
        ("ready", ("ClusterPolicy",), "runs", False),
    ):
        _, body, _ = one("status", target="gpu-operator", operators=operators, unserved=unserved)
        assert body["message"] == f"the GPU Operator {state}; 12 GPUs on 2 nodes can be given to pods"
        assert (body["installed"], body["totalGPUs"], body["gpuNodes"]) == (installed, 12, ["a", "b"])
        assert (body["crdFound"], body["operatorRunning"]) == (not unserved, operators == "ready")
        assert body["gpusAvailable"] is True
        assert "installation" not in body


def test_helm_is_there_where_mooring_runs_and_has_found_it() -> None:
    path = "/api/installation/helm/status"
    assert one(path, phase="Installing")[1] == {"available": True}
    assert one(path, phase="Failed")[1] == {"available": False, "error": "chart x said no"}
    text = "no Mooring runs in this cluster that could install charts; do it by hand"
    assert one(path, unserved=("Installation",))[1] == {"available": False, "error": text}
