"""Pods that are resized while they run on the process node: what is decided, and what becomes of real processes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.conditions import find_condition
from mooring.kube.objects import Object
from mooring.nodes.process.allocations import Allocations
from mooring.nodes.process.pods.model import ChangeLimits, LimitsChanged, PodAction, RecordEvent, Stop, after
from mooring.nodes.process.pods.resizes import admitted, allocated_pod
from mooring.nodes.process.pods.restored_state import restored_state
from mooring.nodes.resize.allocation import ResizeRefusal
from tests.nodes.process.home import LINUX, NODE, Home, home, needs_sandbox, play, shell
from tests.nodes.process.life import NOON, Life, bound_pod, container

SMALL = {"requests": {"cpu": "1"}, "limits": {"memory": "64Mi"}}
LARGE = {"requests": {"cpu": "2"}, "limits": {"memory": "128Mi"}}
REFUSAL = ResizeRefusal("Deferred", "no room")


def running(resources: Object = SMALL, **more: Any) -> Life:
    """A pod whose one container runs with these resources."""
    spec = bound_pod(container(resources=resources, **more))
    life = Life(spec, restored_state(spec, NOON)).running()
    known = replace(life.pod.container("main"), resources=resources)
    life.pod = life.pod.having("main", known)
    return life


def resized(life: Life, resources: Object = LARGE, refusal: ResizeRefusal | None = None) -> list[str]:
    """What is told when the pod asks for other resources."""
    (main,) = life.spec["spec"]["containers"]
    spec = {**life.spec["spec"], "containers": [{**main, "resources": resources}]}
    life.spec = {**life.spec, "metadata": {**life.spec["metadata"], "generation": 2}, "spec": spec}
    life.pod, told = admitted(life.spec, life.pod, refusal)
    life.step()
    return [each.reason for each in told]


def resize_condition(life: Life, kind: str) -> Object:
    return find_condition(life.status["conditions"], kind) or {}


def test_a_resize_that_is_admitted_changes_the_limits_and_is_told_at_its_start_and_end() -> None:
    life = running()
    assert resized(life) == ["ResizeStarted"]
    assert life.new == (ChangeLimits("main", LARGE),)
    state = life.state()
    assert (state["resources"], state["allocatedResources"]) == (SMALL, {"cpu": "2"})
    assert resize_condition(life, "PodResizeInProgress")["observedGeneration"] == 2
    assert life.step().new == ()
    life.pod = after(life.pod, LimitsChanged("main", LARGE), life.now)
    actions: tuple[PodAction, ...] = life.step().new
    assert [each.reason for each in actions if isinstance(each, RecordEvent)] == ["ResizeCompleted"]
    assert life.state()["resources"] == LARGE
    assert resize_condition(life, "PodResizeInProgress") == {}


def test_a_resize_that_is_refused_waits_and_a_restart_has_what_was_given() -> None:
    life = running()
    assert resized(life, refusal=REFUSAL) == ["ResizeDeferred"]
    assert life.new == ()
    told = resize_condition(life, "PodResizePending")
    assert (told["reason"], told["message"], told["observedGeneration"]) == ("Deferred", "no room", 2)
    # It is told once, however often it is looked at.
    assert admitted(life.spec, life.pod, REFUSAL)[1] == ()
    assert allocated_pod(life.spec, life.pod)["spec"]["containers"][0]["resources"] == SMALL
    # The next node knows it from the status.
    again = restored_state({**life.spec, "status": life.status}, NOON)
    assert (again.allocated, again.pending) == ({"main": SMALL}, life.pod.pending)


def test_a_change_that_fails_says_so_and_is_tried_again() -> None:
    life = running()
    resized(life)
    life.pod = after(life.pod, LimitsChanged("main", LARGE, "too much is used"), life.now)
    assert life.step().new == ()
    told = resize_condition(life, "PodResizeInProgress")
    assert (told["reason"], told["message"]) == ("Error", "too much is used")
    assert life.later(10).new == (ChangeLimits("main", LARGE),)


def test_a_container_whose_policy_says_so_is_restarted_at_once_and_keeps_no_back_off() -> None:
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    life = running(resizePolicy=policy)
    resized(life)
    assert Stop("main", 30.0) in life.new
    assert [each.message for each in life.new if isinstance(each, RecordEvent)] == [
        "Container main resize requires restart"
    ]
    life.ended(code=143)
    assert life.starts[-1] == "main"
    assert life.pod.container("main").attempt == 1
    assert life.pod.container("main").paused is None


def test_a_cpu_that_grows_restarts_nobody_for_memory() -> None:
    life = running(resizePolicy=[{"resourceName": "memory", "restartPolicy": "RestartContainer"}])
    resized(life, {"requests": {"cpu": "2"}, "limits": SMALL["limits"]})
    assert [type(each) for each in life.new] == [ChangeLimits]


def test_room_is_what_the_others_leave_and_who_waits_is_told_when_one_goes() -> None:
    node, woken = Allocations({"cpu": "4", "memory": "8Gi"}), []
    node.hold("a", bound_pod(container(resources={"requests": {"cpu": "3"}})))
    asking = bound_pod(container(resources={"requests": {"cpu": "2"}}))
    node.hold("b", bound_pod(container(resources={"requests": {"cpu": "1"}})))
    told = node.refusal("b", asking, lambda: woken.append("b"))
    message = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
    assert told == ResizeRefusal("Deferred", message)
    node.release("a")
    assert woken == ["b"]
    assert node.refusal("b", asking, lambda: None) is None
    huge = bound_pod(container(resources={"requests": {"memory": "9Gi"}}))
    infeasible = node.refusal("b", huge, lambda: None)
    assert infeasible is not None
    assert infeasible.reason == "Infeasible"


def _patch(at: Home, name: str, *containers: Object) -> None:
    pods = at.registry.resource("v1", "Pod")
    body = {"spec": {"containers": list(containers)}}
    at.registry.patch(pods, "default", name, "strategic", body, now=NOON, subresource="resize")


@pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")
@needs_sandbox
def test_the_kernel_holds_a_container_to_its_new_limits_without_a_restart(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        resources = {"requests": {"cpu": "500m"}, "limits": {"memory": "64Mi"}}
        at.pod("web", shell("sleep 100", resources=resources))
        await at.phase("web", "Running")
        _, process = at.agent.running("default", "web", "main")
        before = at.container("web")
        grown = {"requests": {"cpu": "1"}, "limits": {"memory": "128Mi", "cpu": "2"}}
        _patch(at, "web", {"name": "main", "resources": grown})
        await at.until(lambda: at.container("web")["resources"]["limits"].get("cpu") == "2", "it is resized")
        now = at.container("web")
        assert (now["containerID"], now["restartCount"]) == (before["containerID"], 0)
        assert now["allocatedResources"] == {"cpu": "1", "memory": "64Mi"}
        assert process.order.memory == 128 << 20
        group = process.order.group
        if at.agent.isolation.control_groups.limits("memory"):
            assert group is not None
            name = "memory.max" if group.unified else "memory.limit_in_bytes"
            assert int((group.folders["memory"] / name).read_text()) == 128 << 20
        if at.agent.isolation.control_groups.limits("cpu"):
            assert group is not None
            name = "cpu.max" if group.unified else "cpu.cfs_quota_us"
            assert (group.folders["cpu"] / name).read_text().split()[0] == "200000"
            # The limit is new, and so is its group: the processes are in it.
            assert len((group.folders["cpu"] / "cgroup.procs").read_text().split()) > 1
        events = "\n".join(at.events("web"))
        await at.until(lambda: "ResizeCompleted" in "\n".join(at.events("web")), events)
        # Less than is used cannot be held to.
        tiny = {"requests": {"memory": "4Ki"}, "limits": {"memory": "4Ki"}}
        _patch(at, "web", {"name": "main", "resources": tiny})
        told = await at.until(
            lambda: (find_condition(at.get("web")["status"]["conditions"], "PodResizeInProgress") or {}).get("message"),
            "it is told why not",
        )
        assert told.startswith('attempting to set container "main" memory limit (4096) below current usage (')
        assert at.container("web")["resources"]["limits"]["memory"] == "128Mi"

    play(story, tmp_path)


@pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")
def test_without_a_sandbox_memory_is_watched_and_a_restart_is_made_where_the_policy_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with home(tmp_path, problem="there is none") as at:
            policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
            resources = {"requests": {"cpu": "1"}, "limits": {"memory": "64Mi"}}
            at.pod("web", shell("sleep 100", resources=resources, resizePolicy=policy), nodeName=NODE)
            await at.phase("web", "Running")
            _patch(at, "web", {"name": "main", "resources": {"requests": {"cpu": "2"}}})
            await at.until(lambda: at.container("web")["restartCount"] == 1, "it is restarted")
            await at.until(lambda: at.container("web")["resources"]["requests"]["cpu"] == "2", "it has it")
            _patch(at, "web", {"name": "main", "resources": {"requests": {"cpu": "5"}}})
            told = await at.until(
                lambda: find_condition(at.get("web")["status"]["conditions"], "PodResizePending"), "it waits"
            )
            assert told["message"] == "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"

    asyncio.run(main())
