"""DaemonSets in a cluster in virtual time, where nodes come, go and change."""

from __future__ import annotations

from mooring.builtin.apps.daemonset.controller import CONTROLLER
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.registry import AdmissionRequest, ClusterView
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from tests.builtin.apps.daemonset.objects import daemon_set, taint, template
from tests.builtin.town import Town, condition

ROOM = {"cpu": "8", "memory": "32Gi", "pods": "110"}


def node(name: str, *taints: Object, **labels: str) -> Object:
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": list(taints)},
        "status": {"allocatable": ROOM},
    }  # fmt: skip


def town(*nodes: str, owner: Object | None = None) -> Town:
    return Town(*(node(name) for name in nodes), owner or daemon_set(), controllers=whole_control_plane(), settled=True)


def where(place: Town) -> list[str]:
    return sorted(place.placed().values())


def status(place: Town) -> Object:
    found = place.get("DaemonSet", "agent")
    assert found is not None
    return dict(found["status"])


def test_a_node_that_comes_gets_a_pod() -> None:
    place = town("a", "b")
    assert where(place) == ["a", "b"]
    place.create(node("c"))
    place.run()
    assert where(place) == ["a", "b", "c"]
    assert status(place)["numberReady"] == 3


def test_a_node_that_goes_takes_its_pod_with_it() -> None:
    place = town("a", "b")
    place.delete("Node", "b")
    place.run()
    assert where(place) == ["a"]
    assert status(place)["desiredNumberScheduled"] == 1


def test_a_label_opens_a_node_and_closes_it() -> None:
    place = town("a", "b", owner=daemon_set(template=template(nodeSelector={"gpu": "yes"})))
    assert where(place) == []
    place.patch("Node", "b", {"metadata": {"labels": {"gpu": "yes"}}})
    place.run()
    assert where(place) == ["b"]
    place.patch("Node", "b", {"metadata": {"labels": {"gpu": None}}})
    place.run()
    assert where(place) == []


def test_a_taint_that_goes_opens_a_node() -> None:
    place = Town(node("a", taint("spot")), daemon_set(), controllers=whole_control_plane(), settled=True)
    assert where(place) == []
    place.patch("Node", "a", {"spec": {"taints": None}})
    place.run()
    assert where(place) == ["a"]


def test_daemons_stay_on_a_node_that_is_lost() -> None:
    place = town("a", "b")
    place.patch("Node", "a", {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}})
    place.run(900)
    assert where(place) == ["a", "b"]
    assert status(place)["numberReady"] == 1


def test_a_pod_that_does_not_fit_waits_for_its_own_node() -> None:
    big = [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "9"}}}]
    place = town("a", owner=daemon_set(template=template(containers=big)))
    (waiting,) = place.pods().values()
    said = condition(waiting, "PodScheduled")
    assert said["reason"] == "Unschedulable"
    assert "Insufficient cpu" in said["message"]
    assert status(place)["currentNumberScheduled"] == 1


def test_an_update_goes_through_all_nodes() -> None:
    place = town("a", "b", "c")
    place.patch("DaemonSet", "agent", {"spec": {"template": template("agent:2")}})
    place.run()
    assert {pod["spec"]["containers"][0]["image"] for pod in place.pods().values()} == {"agent:2"}
    assert status(place)["updatedNumberScheduled"] == 3
    assert sorted(revision["revision"] for revision in place.all("ControllerRevision")) == [1, 2]


def test_what_is_refused_is_told_once_per_reason_and_tried_again() -> None:
    def refuse(request: AdmissionRequest, cluster: ClusterView) -> Object | None:
        if request.resource.kind == "Pod" and refusing:
            raise ForbiddenError('pods "agent" is forbidden: no more')
        return None

    refusing = True
    place = Town(node("a"), controllers=whole_control_plane())
    place.registry.admission.validating.append(refuse)
    place.create(daemon_set())
    place.run(60)
    assert place.events("FailedCreate") == ['Error creating: pods "agent" is forbidden: no more']
    assert status(place)["desiredNumberScheduled"] == 1
    refusing = False
    place.create(node("b"))
    place.run()
    assert where(place) == ["a", "b"]


def test_a_crash_at_any_write_of_an_update_ends_the_same() -> None:
    def populate(simulation: Simulation) -> None:
        def create(obj: Object) -> None:
            resource = simulation.registry.resource(obj["apiVersion"], obj["kind"])
            simulation.registry.create(resource, obj, now=simulation.now)

        for name in ("a", "b"):
            create(node(name))
        create(daemon_set(rolling={"maxUnavailable": 2}))
        simulation.run()
        resource = simulation.registry.resource("apps/v1", "DaemonSet")
        body = {"spec": {"template": template("agent:2")}}
        simulation.registry.patch(resource, "default", "agent", "merge", body, now=simulation.now)

    assert (
        survives_every_crash([CONTROLLER, SCHEDULER, NODE_LIFECYCLE, simulated_nodes(every_node=True)], populate) > 20
    )
