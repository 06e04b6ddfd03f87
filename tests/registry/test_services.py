"""Services: what they are given, and what they keep when they change."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.kube.status import InternalError
from mooring.registry.kinds.service_ranges import free_addresses
from tests.registry.world import World, refused


def service(name: str = "web", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def test_a_service_gets_the_lowest_free_address(world: World) -> None:
    assert [world.make("service", service(name))["spec"]["clusterIP"] for name in "ab"] == ["10.96.1.0", "10.96.1.1"]
    world.delete("service", "a")
    assert world.make("service", service("c"))["spec"]["clusterIP"] == "10.96.1.0"
    with refused(422, "failed to allocate IP 10.96.1.1: provided IP is already allocated"):
        world.make("service", service("d", clusterIP="10.96.1.1"))
    with refused(422, "failed to allocate IP 10.0.0.1: the provided network does not match the current range"):
        world.make("service", service("d", clusterIP="10.0.0.1"))


def test_a_service_may_have_an_address_of_a_range_that_was_added_as_long_as_it_is_there(world: World) -> None:
    world.make("servicecidr", {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.45.0.0/24", "fd00::/112"]}})
    assert world.make("service", service("asks", clusterIP="10.45.0.5"))["spec"]["clusterIPs"] == ["10.45.0.5"]
    assert world.make("service", service("takes"))["spec"]["clusterIP"] == "10.96.1.0"
    for nobodys in ("10.45.0.0", "10.45.0.255"):
        with refused(422, f"failed to allocate IP {nobodys}: the provided network does not match the current range"):
            world.make("service", service("edge", clusterIP=nobodys))
    world.delete("servicecidr", "more")
    with refused(422, "failed to allocate IP 10.45.0.6: the provided network does not match the current range"):
        world.make("service", service("late", clusterIP="10.45.0.6"))


def test_ranges_that_were_added_are_used_when_those_before_are_full() -> None:
    tiny, next_one = IPv4Network("10.45.0.0/30"), IPv4Network("10.46.0.0/24")
    given = free_addresses([tiny, next_one], {"10.45.0.1"})
    # The first sixteen of a range of this size are for those who ask for them.
    assert [next(given) for _ in range(3)] == ["10.45.0.2", "10.46.0.16", "10.46.0.17"]
    with pytest.raises(InternalError, match="range is full"):
        next(free_addresses([tiny], {"10.45.0.1", "10.45.0.2"}))


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


def test_a_service_of_a_single_family_that_names_two_is_told_which_policies_allow_both(world: World) -> None:
    told = "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when "
    both = service(clusterIP="None", ipFamilyPolicy="SingleStack", ipFamilies=["IPv4", "IPv6"])
    with refused(422, f"{told}multiple IP families are specified"):
        world.make("service", both)
    addresses = ["10.96.1.9", "fd00::9"]
    with refused(422, f"{told}multiple cluster IPs are specified"):
        world.make("service", service(ipFamilyPolicy="SingleStack", clusterIP=addresses[0], clusterIPs=addresses))
    both["spec"]["ipFamilyPolicy"] = "PreferDualStack"
    assert world.make("service", both)["spec"]["ipFamilies"] == ["IPv4", "IPv6"]


def test_local_traffic_through_a_balancer_is_checked_on_a_port(world: World) -> None:
    made = world.make("service", service(type="LoadBalancer", externalTrafficPolicy="Local"))
    assert made["spec"]["healthCheckNodePort"] == 30001
    spec = world.merge("service", "web", {"spec": {"externalTrafficPolicy": "Cluster"}})["spec"]
    assert "healthCheckNodePort" not in spec
