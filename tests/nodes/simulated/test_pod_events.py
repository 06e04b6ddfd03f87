"""What is told of pods that come and go on simulated nodes, and what a quiet node leaves out."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing import node, pod
from mooring.testing.controllers import whole_control_plane
from tests.builtin.town import Town, condition


def town(*pods: Object) -> Town:
    return Town(node("a", pods=500), *pods, controllers=whole_control_plane())


def init(name: str, **more: Any) -> Object:
    return {"name": name, "image": f"{name}:1", **more}


def waits_for(place: Town, part: str = "containerStatuses") -> list[str]:
    found = place.get("Pod", "p")
    assert found is not None
    return [each["state"]["waiting"]["reason"] for each in found["status"][part]]


def test_containers_are_being_created_before_they_run() -> None:
    place = town(pod("p"))
    place.run(0.5)
    assert waits_for(place) == ["ContainerCreating"]
    ready = condition(place.get("Pod", "p"), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [main]"
    place.run()
    found = place.get("Pod", "p")
    assert found is not None
    assert found["status"]["phase"] == "Running"
    assert {c["status"] for c in found["status"]["conditions"]} == {"True"}
    assert place.elapsed() == 1


def test_what_prepares_a_pod_comes_first() -> None:
    place = town(pod("p", initContainers=[init("fetch"), init("proxy", restartPolicy="Always")]))
    place.run(0.5)
    assert waits_for(place, "initContainerStatuses") == ["PodInitializing", "PodInitializing"]
    said = condition(place.get("Pod", "p"), "Initialized")
    assert (said["status"], said["message"]) == ("False", "containers with incomplete status: [fetch proxy]")


def test_a_kubelet_tells_what_it_does() -> None:
    place = town(pod("p"))
    place.run()
    (pulled,) = place.events("Pulled")
    assert pulled.startswith('Container image "registry.example.com/main:1" already present on machine')
    assert place.events("Created") == ["Container created"]
    assert place.events("Started") == ["Container started"]
    place.delete("Pod", "p")
    place.run()
    assert place.events("Killing") == ["Stopping container main"]
    sources = {event["source"]["component"] for event in place.all("Event") if event["reason"] in ("Pulled", "Killing")}
    assert sources == {"kubelet"}


def test_a_pod_that_never_ran_is_not_stopped() -> None:
    place = town(pod("p"))
    place.run(0.5)
    place.delete("Pod", "p", grace=0)
    place.run()
    assert place.events("Killing") == []


def test_everything_is_told_of_every_pod_however_many_there_are() -> None:
    names = {f"p{number}" for number in range(120)}
    place = town(*map(pod, names))
    place.run(0.5)
    assert {found["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] for found in place.all("Pod")} == {
        "ContainerCreating"
    }
    place.run()
    for reason in ("Pulled", "Created", "Started"):
        told = [event["involvedObject"]["name"] for event in place.all("Event") if event["reason"] == reason]
        assert sorted(told) == sorted(names)


def test_a_quiet_node_starts_and_stops_pods_and_tells_nothing_of_it() -> None:
    place = town(pod("p"))
    place.patch("Node", "a", {"metadata": {"annotations": {"mooring.dev/quiet": "yes"}}})
    place.run(0.5)
    found = place.get("Pod", "p")
    assert found is not None
    assert "containerStatuses" not in found["status"]
    place.run()
    found = place.get("Pod", "p")
    assert found is not None
    assert found["status"]["phase"] == "Running"
    place.delete("Pod", "p")
    place.run()
    assert place.get("Pod", "p") is None
    assert [event for event in place.all("Event") if event["source"]["component"] == "kubelet"] == []
