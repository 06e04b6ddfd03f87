"""Stages on simulated nodes: the published examples, crashes and faults."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.manifests import read_manifests
from mooring.nodes.stages.crd import stage_definition
from mooring.runtime.drivers.faults import Faults
from mooring.testing import node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from tests.builtin.serving import LABELS, port, service
from tests.builtin.town import Town, condition
from tests.nodes.stages.objects import PENDING, READINESS, setting, stage

EXAMPLES = Path(__file__).parents[3] / "examples" / "stages"


def staged(*objects: Object, stages: list[Object], **options: Any) -> Town:
    return Town(*objects, controllers=whole_control_plane(), before=(stage_definition(), *stages), **options)


def example(name: str) -> list[Object]:
    return [document.value for document in read_manifests(EXAMPLES / f"{name}.yaml")]


def labelled(name: str, value: str) -> Object:
    return pod(name, labels={"stage": value, **LABELS})


def phase(town: Town, name: str = "p") -> str:
    found = town.get("Pod", name)
    return "" if found is None else str(found["status"]["phase"])


def container(town: Town, name: str = "p") -> Object:
    found = town.get("Pod", name)
    assert found is not None
    status: Object = found["status"]["containerStatuses"][0]
    return status


def test_where_no_stage_matches_it_goes_on_as_on_any_node() -> None:
    town = staged(node("a"), pod("p"), stages=[stage("s", ('.metadata.labels["x"]', "Exists", []))], settled=True)
    assert phase(town) == "Running"
    assert town.elapsed() == 1
    town.delete("Pod", "p")
    town.run()
    assert town.get("Pod", "p") is None


def test_a_pod_that_a_stage_has_begun_goes_on_with_a_stage_or_not_at_all() -> None:
    stuck = stage(
        "s", (".status.containerStatuses", "DoesNotExist", []),
        next=setting("containerStatuses: [{name: main, image: x, imageID: '', ready: false, restartCount: 0, "
                     "state: {waiting: {reason: ErrImagePull}}}]"),
    )  # fmt: skip
    town = staged(node("a"), pod("p"), stages=[stuck], settled=True)
    assert phase(town) == "Pending"
    assert container(town)["state"] == {"waiting": {"reason": "ErrImagePull"}}


def test_a_stage_tells_whether_it_is_used() -> None:
    town = staged(stages=[stage("good", PENDING), stage("bad", kind="Job")], settled=True)
    assert has_condition(town.get("Stage", "good"), "Used")
    told = condition(town.get("Stage", "bad"), "Used")
    assert (told["status"], told["message"]) == (
        "False",
        "spec.resourceRef: v1 Job is not driven here; v1 Pod and v1 Node are",
    )
    assert town.events("StageNotUsed") == [told["message"]]


def test_a_stage_that_fails_on_a_pod_is_told_of_once_and_the_pod_waits() -> None:
    failing = stage("s", PENDING, next=setting("a: {{ index .spec.containers 9 }}"))
    town = staged(node("a"), pod("p"), stages=[failing], settled=True)
    assert town.events("StageFailed") == ["Stage s cannot be applied: line 1: index 9 is out of range of 1 items"]
    assert phase(town) == "Pending"


def test_stages_that_come_later_are_followed() -> None:
    town = staged(node("a"), pod("p"), stages=[], settled=True)
    town.create(stage("s", (".status.phase", "In", ["Running"]), delay={"durationMilliseconds": 5000},
                      next=setting("phase: Failed")))  # fmt: skip
    town.run()
    assert phase(town) == "Failed"
    # A delay counts from when the pod came to be as it is, for one that was never looked at.
    assert town.elapsed() == 6


def test_a_label_that_comes_later_starts_the_delay() -> None:
    fails = stage("s", ('.metadata.labels["fail"]', "Exists", []), delay={"durationMilliseconds": 5000},
                  next=setting("phase: Failed"))  # fmt: skip
    town = staged(node("a"), pod("p"), stages=[fails], settled=True)
    town.run(60)
    town.simulation.now += timedelta(seconds=60)
    town.patch("Pod", "p", {"metadata": {"labels": {"fail": "yes"}}})
    town.run()
    assert town.elapsed() == 66


def test_a_slow_image_pull() -> None:
    town = staged(node("a"), labelled("p", "slow-image-pull"), stages=example("slow-image-pull"))
    town.run(20)
    assert phase(town) == "Pending"
    assert container(town)["state"] == {"waiting": {"reason": "ContainerCreating"}}
    town.run()
    assert phase(town) == "Running"
    assert 30 <= town.elapsed() <= 60
    assert (town.events("Pulling"), town.events("Pulled")) == (["Pulling images"], ["Successfully pulled images"])
    found = town.get("Pod", "p")
    assert found is not None
    assert found["status"]["podIP"].startswith("10.244.0.")


def waiting_for(town: Town) -> str:
    return str(container(town)["state"]["waiting"]["reason"])


def test_an_image_that_cannot_be_pulled() -> None:
    town = staged(node("a"), labelled("p", "image-pull-back-off"), stages=example("image-pull-back-off"))
    reasons = []
    for _ in range(4):
        town.run(10)
        reasons.append(waiting_for(town))
    assert reasons == ["ErrImagePull", "ImagePullBackOff", "ImagePullBackOff", "ErrImagePull"]
    assert (
        container(town)["state"]["waiting"]["message"]
        == 'failed to pull image "registry.example.com/main:1": not found'
    )
    town.patch("Pod", "p", {"metadata": {"annotations": {"example.com/image": "present"}}})
    town.run()
    assert phase(town) == "Running"
    assert town.elapsed() == 41


def test_a_crash_loop_backs_off() -> None:
    town = staged(node("a"), labelled("p", "crash-loop"), stages=example("crash-loop"))
    town.run(6)
    assert container(town)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container(town)["restartCount"] == 0
    town.run(10)
    assert (container(town)["restartCount"], "running" in container(town)["state"]) == (1, True)
    town.run(5 + 19)
    assert "waiting" in container(town)["state"]
    town.run(1)
    assert container(town)["restartCount"] == 2
    assert container(town)["lastState"]["terminated"]["exitCode"] == 1
    found = town.get("Pod", "p")
    assert found is not None
    assert found["metadata"]["annotations"] == {"example.com/back-off": "20s"}


def test_a_slow_start() -> None:
    town = staged(node("a"), labelled("p", "slow-start"), service(port(80)), stages=example("slow-start"))
    town.run(20)
    assert (phase(town), condition(town.get("Pod", "p"), "Ready")["status"]) == ("Running", "False")
    endpoints = town.get("Endpoints", "web")
    assert endpoints is not None
    assert list(endpoints["subsets"][0]) == ["notReadyAddresses", "ports"]
    town.run()
    assert has_condition(town.get("Pod", "p"), "Ready")


def test_a_failing_readiness_probe() -> None:
    town = staged(node("a"), labelled("p", "failing-readiness"), service(port(80)), stages=example("failing-readiness"))
    readiness = []
    for _ in range(10):
        town.run(10)
        readiness.append(condition(town.get("Pod", "p"), "Ready")["status"])
    assert readiness == ["True", "True", "False", "False", "False", "True", "True", "False", "False", "False"]


def test_a_node_that_is_lost() -> None:
    lost = node("a", labels={"stage": "lost"})
    town = staged(lost, node("b"), pod("p", nodeName="a"), stages=example("node-loss"))
    town.run(60)
    assert has_condition(town.get("Node", "a"), "Ready")
    town.run(60)
    assert has_condition(town.get("Node", "a"), "Ready", "Unknown")
    town.run()
    found = town.get("Pod", "p")
    assert found is not None
    assert "deletionTimestamp" in found["metadata"]


def test_a_node_that_flaps() -> None:
    town = staged(node("a", labels={"stage": "flapping"}), node("b"), stages=example("node-loss"))
    readiness = []
    for _ in range(6):
        town.run(30)
        readiness.append(condition(town.get("Node", "a"), "Ready")["status"])
    assert readiness == ["True", "False", "True", "True", "False", "True"]


def test_the_heartbeat_of_a_stage_goes_on_without_keeping_time_moving() -> None:
    beat = 'conditions: [{type: Ready, status: "True", lastHeartbeatTime: {{ Now | Quote }}}]'
    ready = (READINESS, "In", ["True"])
    beating = stage("beat", ready, kind="Node", delay={"durationMilliseconds": 7000}, next=setting(beat))
    busy = pod("p")
    busy["metadata"]["annotations"] = {"mooring.dev/duration": "19s"}
    town = staged(node("a"), busy, stages=[beating], settled=True)
    assert town.elapsed() == 20
    assert condition(town.get("Node", "a"), "Ready")["lastHeartbeatTime"] == "2026-01-01T00:00:14Z"


@pytest.mark.parametrize("name", ["slow-image-pull", "slow-start"])
def test_any_crash_ends_in_the_same_place(name: str) -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        for obj in (node("a"), labelled("p", name)):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    controllers = [
        c for c in whole_control_plane() if c.name in ("nodes", "stages", "scheduler", "node-lifecycle", "node-ipam")
    ]
    assert survives_every_crash(controllers, populate, before=(stage_definition(), *example(name))) > 8


@pytest.mark.parametrize("seed", range(12))
def test_with_faults_stages_lead_to_the_same_end(seed: int) -> None:
    pods = [labelled(f"p{number}", name) for number, name in enumerate(("slow-image-pull", "slow-start", "none"))]
    stages = [*example("slow-image-pull"), *example("slow-start")]
    town = staged(node("a"), *pods, stages=stages, seed=seed, faults=Faults.everything(0.08))
    town.run(120)
    town.simulation.quiet()
    town.run()
    assert {phase(town, f"p{number}") for number in range(3)} == {"Running"}
    addresses = {found["status"]["podIP"] for found in town.all("Pod")}
    assert len(addresses) == 3
    assert all(has_condition(found, "Ready") for found in town.all("Pod"))
