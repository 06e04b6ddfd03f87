"""Pods that are changed while they run on a simulated node: resized in place, and debugged."""

from __future__ import annotations

import json
from typing import Any

from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.testing import node, pod
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import LIFECYCLE, NODES, Town, condition

CONTROLLERS = (SCHEDULER, NODES, *LIFECYCLE)


def container(name: str = "main", restarts_for: str = "", **requests: str) -> Object:
    found: Object = {"name": name, "image": "busybox", "resources": {"requests": requests}}
    if restarts_for:
        found["resizePolicy"] = [{"resourceName": restarts_for, "restartPolicy": "RestartContainer"}]
    return found


def sized(name: str, *containers: Object, **spec: Any) -> Object:
    return pod(name, containers=list(containers), **spec)


def small_town(*pods: Object) -> Town:
    return Town(node("a", cpu="4", memory="8Gi"), *pods, controllers=CONTROLLERS, settled=True)


def resize(town: Town, name: str, *containers: Object) -> None:
    town.patch("Pod", name, {"spec": {"containers": list(containers)}}, "resize")


def status(town: Town, name: str) -> Object:
    found = town.get("Pod", name)
    assert found is not None
    told: Object = found["status"]
    return told


def first(town: Town, name: str) -> Object:
    told: Object = status(town, name)["containerStatuses"][0]
    return told


def warned_of(town: Town) -> list[str]:
    """What `kubectl get events --field-selector type=Warning` shows about resizes."""
    found = town.registry.list(town.registry.resource("v1", "Event"), field_selector="type=Warning").items
    return [event["reason"] for event in found if event["reason"].startswith("Resize")]


def pending(town: Town, name: str) -> Object:
    return condition(town.get("Pod", name), "PodResizePending")


def test_every_running_container_says_what_it_has() -> None:
    town = small_town(sized("p", container(cpu="1")), pod("q"))
    assert first(town, "p")["resources"] == {"requests": {"cpu": "1"}}
    assert first(town, "p")["allocatedResources"] == {"cpu": "1"}
    assert first(town, "q")["resources"] == {}
    assert "allocatedResources" not in first(town, "q")
    assert status(town, "p")["observedGeneration"] == 1
    assert {each["observedGeneration"] for each in status(town, "p")["conditions"]} == {1}


def test_a_resize_that_fits_is_allocated_then_in_force_without_a_restart() -> None:
    town = small_town(sized("p", container(cpu="1")))
    started = first(town, "p")["state"]
    resize(town, "p", container(cpu="2"))
    town.run(0.2)
    assert first(town, "p")["allocatedResources"] == {"cpu": "2"}
    assert first(town, "p")["resources"] == {"requests": {"cpu": "1"}}
    progress = condition(town.get("Pod", "p"), "PodResizeInProgress")
    assert (progress["status"], progress["observedGeneration"]) == ("True", 2)
    town.run()
    assert first(town, "p")["resources"] == {"requests": {"cpu": "2"}}
    assert condition(town.get("Pod", "p"), "PodResizeInProgress") == {}
    assert (first(town, "p")["restartCount"], first(town, "p")["state"]) == (0, started)
    assert status(town, "p")["observedGeneration"] == 2
    assert condition(town.get("Pod", "p"), "Ready")["observedGeneration"] == 2
    (message,) = town.events("ResizeCompleted")
    assert message.startswith("Pod resize completed: ")
    told = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}], "generation": 2}
    assert json.loads(message.partition(": ")[2]) == told
    assert len(town.events("ResizeStarted")) == 1


def test_limits_alone_are_resized_too() -> None:
    limited = container(cpu="1") | {"resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}
    town = small_town(sized("p", limited))
    grown = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    resize(town, "p", container() | {"resources": grown})
    town.run()
    assert first(town, "p")["resources"] == grown


def test_a_container_whose_policy_says_so_is_restarted_once() -> None:
    town = small_town(sized("p", container("main", "memory", cpu="1", memory="1Gi"), container("other", cpu="1")))
    resize(town, "p", container("main", "memory", cpu="1", memory="2Gi"), container("other", cpu="2"))
    town.run()
    main, other = status(town, "p")["containerStatuses"]
    assert (main["restartCount"], other["restartCount"]) == (1, 0)
    assert main["lastState"]["terminated"]["finishedAt"] == main["state"]["running"]["startedAt"]
    assert town.events("Killing") == ["Container main resize requires restart"]
    # CPU needs no restart; what is known of the first one stays.
    resize(town, "p", container("main", "memory", cpu="500m", memory="2Gi"), container("other", cpu="2"))
    town.run()
    again = first(town, "p")
    assert again == main | {
        "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}},
        "allocatedResources": {"cpu": "500m", "memory": "2Gi"},
    }


def test_a_resize_that_no_node_of_this_size_can_hold_is_infeasible() -> None:
    town = small_town(sized("p", container(cpu="1")))
    resize(town, "p", container(cpu="5"))
    town.run()
    told = pending(town, "p")
    assert (told["status"], told["reason"], told["observedGeneration"]) == ("True", "Infeasible", 2)
    assert told["message"] == "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"
    assert first(town, "p")["resources"] == {"requests": {"cpu": "1"}}
    assert status(town, "p")["observedGeneration"] == 2
    (message,) = town.events("ResizeInfeasible")
    assert json.loads(message.partition(": ")[2])["error"] == told["message"]
    assert warned_of(town) == ["ResizeInfeasible"]
    # Who takes the wish back has what he had.
    resize(town, "p", container(cpu="1"))
    town.run()
    assert pending(town, "p") == {}
    assert town.events("ResizeStarted") == []


def test_a_resize_waits_for_room_and_is_carried_out_when_there_is_some() -> None:
    town = small_town(sized("p", container(cpu="1")), sized("q", container(cpu="2")))
    resize(town, "p", container(cpu="3"))
    town.run()
    told = pending(town, "p")
    assert told["reason"] == "Deferred"
    message = "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"
    assert told["message"] == message
    town.delete("Pod", "q")
    town.run()
    assert pending(town, "p") == {}
    assert first(town, "p")["resources"] == {"requests": {"cpu": "3"}}
    assert len(town.events("ResizeDeferred")) == 1
    assert warned_of(town) == ["ResizeDeferred"], "that it was carried out is no reason to worry"


def test_the_scheduler_keeps_room_for_a_resize_that_waits() -> None:
    town = small_town(sized("p", container(cpu="1")), sized("q", container(cpu="2")))
    resize(town, "p", container(cpu="3"))
    town.run()
    town.create(sized("late", container(cpu="1")))
    town.run()
    assert "late" not in town.placed()
    resize(town, "p", container(cpu="1"))
    town.run()
    assert town.placed()["late"] == "a"


def test_what_grows_less_urgently_waits_for_what_shrinks_and_for_what_matters_more() -> None:
    first_class = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
    high = sized("high", container(cpu="1"), priorityClassName="high")
    town = small_town(
        first_class | {"value": 5}, sized("low", container(cpu="1")), high, sized("q", container(cpu="2"))
    )
    resize(town, "low", container(cpu="2"))
    resize(town, "high", container(cpu="2"))
    resize(town, "q", container(cpu="1"))
    town.run()
    assert pending(town, "high") == {}
    assert pending(town, "low")["reason"] == "Deferred"


def test_a_sidecar_is_resized_and_what_prepared_the_pod_stays_ended() -> None:
    inits = [container("once", cpu="1"), container("beside", cpu="1") | {"restartPolicy": "Always"}]
    town = small_town(sized("p", container(cpu="1"), initContainers=inits))
    once, _ = status(town, "p")["initContainerStatuses"]
    grown = [inits[0], container("beside", cpu="2") | {"restartPolicy": "Always"}]
    town.patch("Pod", "p", {"spec": {"initContainers": grown}}, "resize")
    town.run()
    again, beside = status(town, "p")["initContainerStatuses"]
    assert again == once
    assert beside["resources"] == {"requests": {"cpu": "2"}}


def test_a_container_that_is_added_to_debug_a_pod_runs_until_the_pod_ends() -> None:
    town = Town(node("a"), pod("p", restartPolicy="Never"), controllers=CONTROLLERS)
    town.run(2)
    debugger = {"name": "debugger", "image": "busybox", "targetContainerName": "main"}
    town.patch("Pod", "p", {"spec": {"ephemeralContainers": [debugger]}}, "ephemeralcontainers")
    town.run(2)
    (told,) = status(town, "p")["ephemeralContainerStatuses"]
    assert (told["name"], told["ready"], list(told["state"])) == ("debugger", False, ["running"])
    assert status(town, "p")["observedGeneration"] == 2
    second = {"name": "second", "image": "busybox"}
    town.patch("Pod", "p", {"spec": {"ephemeralContainers": [debugger, second]}}, "ephemeralcontainers")
    town.run(2)
    assert status(town, "p")["ephemeralContainerStatuses"][0] == told
    town.run()
    assert status(town, "p")["phase"] == "Succeeded"
    ended = [each["state"]["terminated"]["exitCode"] for each in status(town, "p")["ephemeralContainerStatuses"]]
    assert ended == [137, 137]


def test_any_crash_in_a_resize_ends_in_the_same_place() -> None:
    running = {"name": "main", "image": "busybox", "imageID": "", "ready": True, "restartCount": 0}
    running |= {"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "allocatedResources": {"memory": "1Gi"}}
    running["resources"] = {"requests": {"memory": "1Gi"}}
    told = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "containerStatuses": [running]}

    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        here, there = node("a", cpu="4", memory="8Gi"), sized("p", container("main", "memory", memory="1Gi"), node="a")
        for obj in (here, there):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)
        pods = registry.resource("v1", "Pod")
        registry.patch(pods, "default", "p", "merge", {"status": told}, now=now, subresource="status")
        wanted = {"spec": {"containers": [container("main", "memory", memory="2Gi")]}}
        registry.patch(pods, "default", "p", "merge", wanted, now=now, subresource="resize")

    assert survives_every_crash((NODES,), populate) > 3
