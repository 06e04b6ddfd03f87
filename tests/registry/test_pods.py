"""Pods: what the server adds, what may change while they run, who binds them and who may evict them."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.registry.world import World, pod, refused


def bind(world: World, name: str = "p", node: str = "n1", **metadata: Any) -> Object:
    binding = {"metadata": {"name": name, "namespace": "default", **metadata}, "target": {"kind": "Node", "name": node}}
    return world.registry.bind(binding, now=world.now)


def test_a_new_pod_is_complete(world: World) -> None:
    made = world.make("pod", pod())
    spec = made["spec"]
    assert spec["serviceAccountName"] == "default"
    assert spec["priority"] == 0
    assert spec["preemptionPolicy"] == "PreemptLowerPriority"
    assert [each["key"] for each in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert made["metadata"]["generation"] == 1


def test_tolerations_that_cover_the_defaults_are_left_alone(world: World) -> None:
    everything = [{"operator": "Exists"}]
    assert world.make("pod", pod(tolerations=everything))["spec"]["tolerations"] == everything


def test_priority_comes_from_the_class(world: World) -> None:
    world.make("priorityclass", {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    spec = world.make("pod", pod(priorityClassName="high"))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")
    with refused(403, 'pods "q" is forbidden: no PriorityClass with name low was found'):
        world.make("pod", pod("q", priorityClassName="low"))
    with refused(403, "the integer value of priority (5) must not be provided in pod spec"):
        world.make("pod", pod("q", priority=5))


def test_a_default_class_serves_pods_that_name_none(world: World) -> None:
    world.make("priorityclass", {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    spec = world.make("pod", pod())["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 7)
    with refused(403, "PriorityClass usual is already marked as default. Only one default can exist"):
        world.make("priorityclass", {"metadata": {"name": "other"}, "value": 8, "globalDefault": True})


def test_an_invalid_pod_is_refused_in_the_words_of_the_api(world: World) -> None:
    with refused(422, 'Pod "p" is invalid: spec.containers: Required value'):
        world.make("pod", pod(containers=[]))


def test_a_binding_sets_the_node_once(world: World) -> None:
    world.make("pod", pod())
    bound = bind(world)
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    assert bound["metadata"]["generation"] == 1
    why = 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    with refused(409, why):
        bind(world, node="n2")


def test_a_binding_tells_the_pod_where_its_node_stands(world: World) -> None:
    world.make("node", {"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "z", "x": "y"}}})
    world.make("pod", pod(labels={"app": "a"}))
    assert bind(world)["metadata"]["labels"] == {"app": "a", "topology.kubernetes.io/zone": "z"}


def test_gated_leaving_or_exchanged_pods_cannot_be_bound(world: World) -> None:
    world.make("pod", pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    with refused(409, "pod gated has non-empty .spec.schedulingGates"):
        bind(world, "gated")
    world.make("pod", pod("leaving", finalizers=["example.com/hold"]))
    world.delete("pod", "leaving")
    with refused(409, "pod leaving is being deleted, cannot be assigned to a host"):
        bind(world, "leaving")
    world.make("pod", pod())
    with refused(409, "UID in precondition: other"):
        bind(world, uid="other")


def test_almost_nothing_may_change_in_a_pod(world: World) -> None:
    world.make("pod", pod(tolerations=[{"key": "gpu", "operator": "Exists"}]))
    with refused(422, "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"):
        world.merge("pod", "p", {"spec": {"nodeSelector": {"a": "b"}}})
    with refused(422, "spec.containers: Forbidden: pod updates may not add or remove containers"):
        world.merge("pod", "p", {"spec": {"containers": [{"name": "a", "image": "b"}, {"name": "c", "image": "d"}]}})
    with refused(422, "existing toleration can not be modified except its tolerationSeconds"):
        world.merge("pod", "p", {"spec": {"tolerations": []}})
    with refused(422, "only deletion is allowed, but found new scheduling gate"):
        world.merge("pod", "p", {"spec": {"schedulingGates": [{"name": "example.com/wait"}]}})


def test_images_deadlines_and_more_tolerations_may_change(world: World) -> None:
    made = world.make("pod", pod())
    changed = world.registry.patch(
        world.kind("pod"),
        "default",
        "p",
        "strategic",
        {"spec": {"containers": [{"name": "main", "image": "busybox:2"}], "activeDeadlineSeconds": 50}},
        now=world.now,
    )
    assert changed["spec"]["containers"][0]["image"] == "busybox:2"
    assert changed["metadata"]["generation"] == 2
    more = [*made["spec"]["tolerations"], {"key": "gpu", "operator": "Exists"}]
    assert world.merge("pod", "p", {"spec": {"tolerations": more}})["spec"]["tolerations"] == more
    with refused(422, "must be less than or equal to previous value"):
        world.merge("pod", "p", {"spec": {"activeDeadlineSeconds": 60}})


def test_a_gated_pod_may_be_narrowed_and_released(world: World) -> None:
    world.make("pod", pod(schedulingGates=[{"name": "example.com/wait"}], nodeSelector={"a": "b"}))
    assert world.merge("pod", "p", {"spec": {"nodeSelector": {"c": "d"}}})["spec"]["nodeSelector"] == {
        "a": "b",
        "c": "d",
    }
    with refused(422, "only additions to spec.nodeSelector are allowed"):
        world.merge("pod", "p", {"spec": {"nodeSelector": {"a": "other"}}})
    assert "schedulingGates" not in world.merge("pod", "p", {"spec": {"schedulingGates": None}})["spec"]


def test_labels_of_a_pod_are_free(world: World) -> None:
    made = world.make("pod", pod())
    assert world.merge("pod", "p", {"metadata": {"labels": {"a": "b"}}})["spec"] is made["spec"]


def test_a_mirror_pod_without_containers_is_refused_in_words(world: World) -> None:
    mirror = {"metadata": {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}}}
    with refused(422, "spec.containers: Required value"):
        world.make("pod", mirror)


def test_the_class_of_service_of_a_pod_stays(world: World) -> None:
    world.make("pod", pod())
    with refused(422, "status.qosClass: Invalid value"):
        world.merge("pod", "p", {"status": {"qosClass": "Guaranteed"}}, subresource="status")


def test_the_address_of_a_pods_host_is_the_first_of_its_addresses(world: World) -> None:
    world.make("pod", pod(nodeName="n1"))
    addresses = {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.2"}, {"ip": "fd00::1"}]}
    with refused(422, 'status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`'):
        world.merge("pod", "p", {"status": addresses}, subresource="status")
    told = world.merge("pod", "p", {"status": {**addresses, "hostIP": "10.0.0.2"}}, subresource="status")
    assert told["status"]["hostIPs"] == addresses["hostIPs"]


def budget(world: World, allowed: int, **status: int) -> None:
    world.make("pdb", {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}})
    status = {
        "disruptionsAllowed": allowed,
        "observedGeneration": 1,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        **status,
    }
    world.merge("pdb", "b", {"status": status}, subresource="status")


def running(world: World, name: str = "p") -> None:
    world.make("pod", pod(name, labels={"a": "b"}, nodeName="n1"))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    world.merge("pod", name, {"status": ready}, subresource="status")


def test_a_budget_refuses_an_eviction(world: World) -> None:
    running(world)
    budget(world, 0)
    with refused(429, "Cannot evict pod as it would violate the pod's disruption budget.") as caught:
        world.registry.evict("default", "p", now=world.now)
    causes = caught.value.status()["details"]["causes"]
    assert causes[0]["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"


def test_an_eviction_spends_a_disruption(world: World) -> None:
    running(world)
    running(world, "q")
    budget(world, 1, currentHealthy=2)
    gone = world.registry.evict("default", "p", now=world.now)
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 30
    assert gone["status"]["conditions"][-1]["type"] == "DisruptionTarget"
    assert world.get("pdb", "b")["status"]["disruptionsAllowed"] == 0
    with refused(429, "disruption budget"):
        world.registry.evict("default", "q", now=world.now)


def test_a_pending_pod_can_always_be_evicted(world: World) -> None:
    world.make("pod", pod(labels={"a": "b"}))
    budget(world, 0)
    world.registry.evict("default", "p", now=world.now)
    assert not world.exists("pod", "p")


def test_a_new_node_is_tainted_until_it_is_seen_ready(world: World) -> None:
    node = world.make("node", {"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "4000m"}}})
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    assert node["status"]["allocatable"] == {"cpu": "4"}


def test_the_image_of_an_init_container_may_change_and_nothing_else_of_it(world: World) -> None:
    world.make("pod", pod(initContainers=[{"name": "fetch", "image": "curl:1", "command": ["curl"]}]))
    init = world.get("pod", "p")["spec"]["initContainers"][0]
    changed = world.merge("pod", "p", {"spec": {"initContainers": [{**init, "image": "curl:2"}]}})
    assert changed["spec"]["initContainers"][0]["image"] == "curl:2"
    with refused(422, "changed: initContainers"):
        world.merge("pod", "p", {"spec": {"initContainers": [{**init, "command": ["wget"]}]}})
    with refused(422, "spec.initContainers: Forbidden: pod updates may not add or remove containers"):
        world.merge("pod", "p", {"spec": {"initContainers": None}})
    with refused(422, "spec.initContainers[0].image: Required value"):
        world.merge("pod", "p", {"spec": {"initContainers": [{**init, "image": ""}]}})
    with refused(422, "spec.initContainers[0].image: Invalid value"):
        world.merge("pod", "p", {"spec": {"initContainers": [{**init, "image": " curl:2"}]}})
