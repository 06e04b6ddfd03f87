"""Services: what they are given, and what they keep when they change."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.registry.world import World, refused


def service(name: str = "web", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def test_a_service_gets_the_lowest_free_address(world: World) -> None:
    assert [world.make("service", service(name))["spec"]["clusterIP"] for name in "ab"] == ["10.96.1.0", "10.96.1.1"]
    world.delete("service", "a")
    assert world.make("service", service("c"))["spec"]["clusterIP"] == "10.96.1.0"
    with refused(422, "failed to allocate IP 10.96.1.1: provided IP is already allocated"):
        world.make("service", service("d", clusterIP="10.96.1.1"))
    with refused(422, "is not in the valid range. The range of valid IPs is 10.96.0.0/12"):
        world.make("service", service("d", clusterIP="10.0.0.1"))


def test_ports_on_nodes_are_handed_out_and_kept(world: World) -> None:
    made = world.make("service", service(type="NodePort"))
    assert made["spec"]["ports"][0]["nodePort"] == 30000
    kept = world.put("service", {"metadata": {"name": "web"}, "spec": {"type": "NodePort", "ports": [{"port": 81}]}})
    assert (kept["spec"]["ports"][0]["nodePort"], kept["spec"]["clusterIP"]) == (30000, made["spec"]["clusterIP"])
    with refused(422, "provided port is not in the valid range. The range of valid ports is 30000-32767"):
        world.make("service", service("far", type="NodePort", ports=[{"port": 80, "nodePort": 80}]))


def test_a_service_that_is_no_longer_on_nodes_gives_its_ports_back(world: World) -> None:
    world.make("service", service(type="NodePort"))
    spec = world.merge("service", "web", {"spec": {"type": "ClusterIP"}})["spec"]
    assert "nodePort" not in spec["ports"][0]
    assert "externalTrafficPolicy" not in spec


def test_an_address_cannot_change(world: World) -> None:
    world.make("service", service())
    with refused(422, "spec.clusterIPs[0]: Invalid value:"):
        world.merge("service", "web", {"spec": {"clusterIP": "10.96.2.2", "clusterIPs": ["10.96.2.2"]}})


def test_a_name_for_something_outside_has_no_address(world: World) -> None:
    world.make("service", service())
    outside = {"spec": {"type": "ExternalName", "externalName": "example.com"}}
    spec = world.merge("service", "web", outside)["spec"]
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & spec.keys()


def test_a_service_without_address_or_selector_is_of_both_families(world: World) -> None:
    spec = world.make("service", service(clusterIP="None"))["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4", "IPv6"], "RequireDualStack")
    spec = world.make("service", service("picky", clusterIP="None", selector={"app": "a"}))["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_local_traffic_through_a_balancer_is_checked_on_a_port(world: World) -> None:
    made = world.make("service", service(type="LoadBalancer", externalTrafficPolicy="Local"))
    assert made["spec"]["healthCheckNodePort"] == 30001
    spec = world.merge("service", "web", {"spec": {"externalTrafficPolicy": "Cluster"}})["spec"]
    assert "healthCheckNodePort" not in spec
