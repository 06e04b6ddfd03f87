"""LeaderWorkerSets as users have them, on the embedded cluster and beside a real control plane.

In both homes nodes are simulated. The real one has its own scheduler and StatefulSet controller; there Mooring
runs its controllers from outside, and webhooks that the API server calls over HTTPS.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.features.groups.api import EXCLUSIVE_TOPOLOGY, NAME, REVISION
from mooring.features.groups.feature import GROUPS
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.fixtures import missing
from mooring.testing.groups import leader_worker_set
from mooring.testing.homes import HOMES, REAL, Home, simulated, whole
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing

PATIENCE = 90.0
KEY = "example.com/node-group"
POOL = "cloud.google.com/gke-nodepool"
TPU = {"cloud.google.com/gke-tpu-topology": "4x4", "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}
SAMPLES = Path(__file__).parents[3] / "shared" / "upstream" / "manifests" / "lws"
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets"
RUN_CONTROLLERS = "lws,lws-groups,lws-webhook,lws-pod-webhook"


def fleet() -> list[Object]:
    """Three pools of four nodes with TPUs, for samples, and a node group of three for the first replica."""
    made = []
    for pool in ("a", "b", "c"):
        for number in range(4):
            each = node(f"{pool}{number}", labels={POOL: pool, **TPU})
            for amounts in (each["status"]["allocatable"], each["status"]["capacity"]):
                amounts["google.com/tpu"] = "4"
            made.append(each)
    return [*made, *own_nodes("serve-0")]


def own_nodes(leader: str) -> list[Object]:
    taint = f"{KEY}={leader}:NoSchedule"
    return [node(f"{leader}-n{number}", labels={KEY: leader}, taints=[taint]) for number in range(3)]


class MooringRun:
    """Mooring's controllers and webhooks of groups beside a real control plane."""

    def __init__(self, home: Home) -> None:
        port = free_port()
        command = [sys.executable, "-m", "mooring", "run", "--controllers", RUN_CONTROLLERS, "--no-leader-elect"]
        command += ["--webhook-url", f"https://127.0.0.1:{port}"]
        command += ["--webhook-certificates", str(home.folder / "webhooks"), "--kubeconfig", str(home.kubeconfig)]
        self._command, self._home = command, home

    def __enter__(self) -> None:
        with self._home.api() as api:
            for definition in CATALOG.definitions(GROUPS.names):
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
                answer = api.patch(path, "apply", definition, fieldManager="test", force="true")
                assert answer.code in (200, 201), answer.body
        self._process = ProgramProcess(self._command, self._home.folder / "run.log")
        self._process.wait_until(self._registered, PATIENCE)

    def _registered(self) -> bool:
        with self._home.api() as api:
            kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
            base = "/apis/admissionregistration.k8s.io/v1"
            return all(api.get(f"{base}/{kind}").body["items"] for kind in kinds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stop()


@pytest.fixture(scope="module", params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp(f"{request.param}-groups")
    try:
        with whole(request.param, folder, fleet()) as running:
            mooring_run: AbstractContextManager[None] = MooringRun(running) if request.param == REAL else nullcontext()
            with mooring_run:
                yield running
    except ToolMissing as error:
        missing(error)


class Place:
    """A namespace of its own in a home, and verbs to speak of it."""

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.name = api, name
        assert api.post("/api/v1/namespaces", {"metadata": {"name": name}}).code == 201
        account = {"metadata": {"name": "default"}}
        api.post(f"/api/v1/namespaces/{name}/serviceaccounts", account)

    def path(self, kind: str) -> str:
        if kind == "LeaderWorkerSet":
            return SETS.format(self.name)
        group = "/apis/apps/v1" if kind in ("StatefulSet", "ControllerRevision") else "/api/v1"
        return f"{group}/namespaces/{self.name}/{kind.lower()}s"

    def create(self, obj: Object) -> Object:
        body = {**obj, "metadata": {**obj["metadata"], "namespace": self.name}}
        answer = self.api.post(self.path(obj["kind"]), body)
        assert answer.code == 201, answer.body
        made: Object = answer.body
        return made

    def volumes(self, count: int, storage_class: str) -> None:
        """A bare control plane has nobody who makes volumes for claims."""
        spec = {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "hostPath": {"path": "/nowhere"},
        }
        for number in range(count):
            body = {"metadata": {"name": f"{self.name}-{number}"}, "spec": spec}
            assert self.api.post("/api/v1/persistentvolumes", body).code == 201

    def change(self, body: Object, name: str = "serve") -> None:
        answer = self.api.patch(f"{self.path('LeaderWorkerSet')}/{name}", "merge", body)
        assert answer.code == 200, answer.body

    def pods(self) -> dict[str, Object]:
        return {pod["metadata"]["name"]: pod for pod in self.api.get(self.path("Pod")).body["items"]}

    def placed(self) -> dict[str, str]:
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods().items() if pod["spec"].get("nodeName")}

    def conditions(self, name: str = "serve") -> dict[str, str]:
        status = self.api.get(f"{self.path('LeaderWorkerSet')}/{name}").body.get("status", {})
        return {each["type"]: each["status"] for each in status.get("conditions", [])}

    def available(self, name: str = "serve") -> bool:
        lws = self.api.get(f"{self.path('LeaderWorkerSet')}/{name}").body
        seen = lws.get("status", {}).get("observedGeneration") == lws["metadata"]["generation"]
        return seen and self.conditions(name).get("Available") == "True"

    def wait(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < deadline, self._story()
            time.sleep(0.1)

    def _story(self) -> str:
        pods = [f"{name}: {pod['status']}" for name, pod in self.pods().items()]
        events = self.api.get(f"/api/v1/namespaces/{self.name}/events").body["items"]
        return "\n".join([*pods, *(f"{each['reason']}: {each['message']}" for each in events[-30:])])


@pytest.fixture
def place(home: Home, request: pytest.FixtureRequest) -> Iterator[Place]:
    name = f"t{abs(hash(request.node.name)) % 10**8}"
    with home.api() as api:
        place = Place(api, name)
        yield place
        path = place.path("LeaderWorkerSet")
        for obj in api.get(path).body["items"]:
            api.delete(f"{path}/{obj['metadata']['name']}")
        place.wait(lambda: not place.pods())


@pytest.mark.slow
def test_leader_and_workers_of_each_replica_land_in_their_own_group(place: Place) -> None:
    """Size 2, a node group of 3 nodes, scaled to two replicas with exclusive placement.

    Without a selector of its own the second leader would land in the first group, where its worker cannot follow it.
    """
    notes = {EXCLUSIVE_TOPOLOGY: KEY}
    place.create(leader_worker_set(replicas=1, size=2, unique=KEY, annotations=notes))
    place.wait(place.available)
    place.change({"spec": {"replicas": 2}})
    place.wait(lambda: "serve-1" in place.pods())
    for each in own_nodes("serve-1"):
        assert place.api.post("/api/v1/nodes", simulated(each)).code == 201
    place.wait(place.available)
    groups = {pod: name.rpartition("-")[0] for pod, name in place.placed().items()}
    assert groups == {
        "serve-0": "serve-0", "serve-0-1": "serve-0", "serve-1": "serve-1", "serve-1-1": "serve-1",
    }  # fmt: skip


@pytest.mark.slow
def test_an_update_replaces_every_group(place: Place) -> None:
    place.create(leader_worker_set(replicas=3, size=2, rolling={"maxUnavailable": 1, "maxSurge": 1}))
    place.wait(place.available)
    before = {pod["metadata"]["uid"] for pod in place.pods().values()}
    container = {"name": "main", "image": "registry.example.com/serve:2"}
    place.change({"spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container]}}}}})
    place.wait(lambda: place.available() and len(place.pods()) == 6)
    after = place.pods()
    assert sorted(after) == ["serve-0", "serve-0-1", "serve-1", "serve-1-1", "serve-2", "serve-2-1"]
    assert not before & {pod["metadata"]["uid"] for pod in after.values()}
    assert place.conditions()["UpdateInProgress"] == "False"


@pytest.mark.slow
def test_a_worker_that_is_deleted_takes_its_group_with_it(place: Place) -> None:
    place.create(leader_worker_set(replicas=1, size=3))
    place.wait(place.available)
    before = {pod["metadata"]["uid"] for pod in place.pods().values()}
    place.api.delete(f"{place.path('Pod')}/serve-0-2")
    place.wait(lambda: not before & {pod["metadata"]["uid"] for pod in place.pods().values()} and place.available())
    assert sorted(place.pods()) == ["serve-0", "serve-0-1", "serve-0-2"]


@pytest.mark.slow
def test_an_effect_that_there_is_not_is_refused(place: Place) -> None:
    policy = {"schedulingPolicy": {"replicaUniqueToleration": {"key": KEY, "effect": "Evict"}}}
    answer = place.api.post(place.path("LeaderWorkerSet"), leader_worker_set(namespace=place.name, template=policy))
    assert answer.code == 422
    assert "spec.leaderWorkerTemplate.schedulingPolicy.replicaUniqueToleration.effect" in answer.body["message"]
    assert place.pods() == {}


@pytest.mark.slow
def test_a_number_of_groups_that_cannot_roll_is_refused(place: Place) -> None:
    obj = leader_worker_set(namespace=place.name, replicas=5, rolling={"maxUnavailable": "10%"})
    answer = place.api.post(place.path("LeaderWorkerSet"), obj)
    assert answer.code == 422
    assert "must not be 0 when `maxSurge` is 0" in answer.body["message"]


@pytest.mark.slow
def test_a_set_is_scaled_by_its_sub_resource_and_shown_in_columns(place: Place) -> None:
    place.create(leader_worker_set(replicas=1, size=2))
    place.wait(place.available)
    path = f"{place.path('LeaderWorkerSet')}/serve/scale"
    assert place.api.patch(path, "merge", {"spec": {"replicas": 2}}).code == 200
    place.wait(lambda: place.available() and len(place.pods()) == 4)
    scale = place.api.get(path).body
    assert scale["status"]["replicas"] == 2
    assert scale["status"]["selector"].endswith("worker-index=0")
    table = place.api.request(
        "GET", place.path("LeaderWorkerSet"), accept="application/json;as=Table;v=v1;g=meta.k8s.io"
    ).body
    assert [column["name"] for column in table["columnDefinitions"]] == [
        "Name", "Ready", "Desired", "Up-to-date", "Age",
    ]  # fmt: skip
    assert table["rows"][0]["cells"][1:4] == [2, 2, 2]


def uids(place: Place) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in place.pods().items()}


@pytest.mark.slow
def test_another_spelling_of_a_template_replaces_no_group(place: Place) -> None:
    place.create(leader_worker_set(replicas=2, size=2, cpu="100m"))
    place.wait(place.available)
    before = uids(place)
    container = {"name": "main", "image": "registry.example.com/serve:1", "resources": {"requests": {"cpu": "0.1"}}}
    spec = {"containers": [{**container, "env": [], "stdin": False}], "hostNetwork": False, "nodeSelector": {}}
    place.change({"spec": {"leaderWorkerTemplate": {"workerTemplate": {"metadata": {}, "spec": spec}}}})
    place.wait(place.available)
    assert uids(place) == before
    assert "UpdateInProgress" not in place.conditions()


@pytest.mark.slow
def test_a_set_that_is_deleted_without_its_groups_lets_them_go_and_takes_them_back(place: Place) -> None:
    """A server refuses to change a revision whose data it would write in other bytes, even to take its owner off."""
    container = {"name": "main", "image": "registry.example.com/serve:1", "command": ["sh", "-c", "a && b <c >d"]}
    lws = leader_worker_set(replicas=2, size=2, pod={"containers": [container]})
    # A revision that an early version of Mooring left behind, with keys that are not sorted.
    group = {"workerTemplate": {"spec": {"containers": [container]}}, "size": 3, "$patch": "replace"}
    labels = {NAME: "serve", REVISION: "early"}
    early = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "early", "labels": labels}}
    place.create({**early, "revision": 1, "data": {"spec": {"leaderWorkerTemplate": group}}})
    place.create(lws)
    place.wait(place.available)
    before = uids(place)
    path = f"{place.path('LeaderWorkerSet')}/serve"
    assert place.api.delete(path, propagationPolicy="Orphan").code == 200
    place.wait(lambda: place.api.get(path).code == 404)
    assert uids(place) == before
    place.create(lws)
    place.wait(place.available)
    assert uids(place) == before


@pytest.mark.slow
def test_workers_whose_stateful_set_is_deleted_without_them_stay(place: Place) -> None:
    place.create(leader_worker_set(replicas=1, size=3))
    place.wait(place.available)
    before = uids(place)
    path = f"{place.path('StatefulSet')}/serve-0"
    old = place.api.get(path).body["metadata"]["uid"]
    assert place.api.delete(path, propagationPolicy="Orphan").code == 200
    place.wait(lambda: place.api.get(path).body["metadata"].get("uid", old) != old)
    place.wait(place.available)
    assert uids(place) == before


def samples() -> list[Path]:
    # Volcano's own scheduler is not here; what autoscalers do is theirs.
    others = ("volcano", "autoscaler")
    return sorted(path for path in SAMPLES.glob("*.yaml") if not any(word in path.name for word in others))


@pytest.mark.slow
@pytest.mark.skipif(not SAMPLES.is_dir(), reason="upstream's samples are not here")
@pytest.mark.parametrize("sample", samples(), ids=lambda path: path.stem.rpartition("__")[2])
def test_samples_of_upstream_run_as_they_are(place: Place, sample: Path) -> None:
    if "volume-claim" in sample.name:
        place.volumes(4, "default")
    made = [place.create(obj) for obj in yaml.safe_load_all(sample.read_text(encoding="utf-8"))]
    (lws,) = [obj for obj in made if obj["kind"] == "LeaderWorkerSet"]
    name, spec = lws["metadata"]["name"], lws["spec"]
    place.wait(lambda: place.available(name))
    assert len(place.pods()) == spec["replicas"] * spec["leaderWorkerTemplate"]["size"]
    assert {pod["status"]["phase"] for pod in place.pods().values()} == {"Running"}
