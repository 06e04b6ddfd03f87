"""Addresses: ranges for nodes, and addresses for the pods of simulated ones."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.core.views import Node, Pod
from mooring.builtin.nodelifecycle.ipam import CONTROLLER as NODE_IPAM
from mooring.builtin.nodelifecycle.ipam import RANGES, reconcile
from mooring.kube.objects import Object
from mooring.nodes.addresses import host_address, pod_address
from mooring.runtime.dispatcher.task import ALL
from mooring.testing import node, pod
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import view_of
from tests.builtin.town import LIFECYCLE, NODES, Town


def ranged(name: str, cidr: str = "") -> Object:
    found = node(name)
    found["metadata"]["uid"] = name
    if cidr:
        found["spec"]["podCIDR"] = cidr
    return found


def given(*nodes: Object) -> dict[str, str]:
    view = view_of(nodes, folds=(RANGES,))
    writes = reconcile(ALL, view, view.now).intent
    return {write.key.name: write.body["spec"]["podCIDR"] for write in writes}  # type: ignore[union-attr]


def test_each_node_without_a_range_gets_one_that_nobody_has() -> None:
    assert given(ranged("a"), ranged("b", "10.244.1.0/24"), ranged("c")) == {
        "a": "10.244.0.0/24",
        "c": "10.244.2.0/24",
    }


def test_when_the_first_ranges_run_out_there_are_more() -> None:
    taken = [ranged(f"n{n}", f"10.{244 + n // 256}.{n % 256}.0/24") for n in range(12 * 256)]
    assert given(*taken, ranged("late")) == {"late": "10.128.0.0/24"}


def test_a_range_of_a_node_that_is_gone_is_free_again() -> None:
    town = Town(node("a"), node("b"), controllers=(NODE_IPAM,), settled=True)
    town.delete("Node", "a")
    town.create(node("c"))
    town.run()
    assert {n["metadata"]["name"]: n["spec"]["podCIDR"] for n in town.all("Node")} == {
        "b": "10.244.1.0/24",
        "c": "10.244.0.0/24",
    }


def on(cidr: str, **more: Any) -> Node:
    return msgspec.convert(ranged("a", cidr) | more, Node)


def one(name: str, **spec: Any) -> Pod:
    return msgspec.convert(pod(name, **spec), Pod)


def test_a_pod_has_an_address_of_its_nodes_range_that_nobody_else_has() -> None:
    here = on("10.244.7.0/24")
    taken: set[str] = set()
    for number in range(253):
        taken.add(pod_address(here, one(f"p{number}"), taken))
    assert taken == {f"10.244.7.{n}" for n in range(2, 255)}


def test_when_the_range_is_full_or_there_is_none_there_is_an_address_all_the_same() -> None:
    full = {f"10.244.7.{n}" for n in range(256)}
    assert pod_address(on("10.244.7.0/24"), one("u"), full).startswith("100.")
    assert pod_address(on(""), one("u"), ()).startswith("100.")


def test_a_pod_on_the_hosts_network_has_the_hosts_address() -> None:
    here = on("10.244.7.0/24", status={"addresses": [{"type": "InternalIP", "address": "10.1.2.3"}]})
    assert pod_address(here, one("u", hostNetwork=True), ()) == "10.1.2.3"


def test_a_host_without_an_address_has_one_that_follows_from_its_name() -> None:
    assert host_address(on("")) == host_address(on("10.244.7.0/24"))


def test_a_running_pod_says_where_it_and_its_host_are() -> None:
    first, second = pod("p", nodeName="a"), pod("q", nodeName="a")
    town = Town(node("a"), first, second, controllers=(NODES, NODE_IPAM, *LIFECYCLE), settled=True)
    found = town.get("Node", "a")
    assert found is not None
    addresses = {each["type"]: each["address"] for each in found["status"]["addresses"]}
    status = [each["status"] for each in town.pods().values()]
    assert {each["hostIP"] for each in status} == {addresses["InternalIP"]}
    assert all(each["podIP"].startswith("10.244.0.") and each["podIPs"] == [{"ip": each["podIP"]}] for each in status)
    assert status[0]["podIP"] != status[1]["podIP"]


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        for name in ("a", "b"):
            registry = simulation.registry
            registry.create(registry.resource("v1", "Node"), node(name), now=simulation.now)

    assert survives_every_crash((NODE_IPAM,), populate) == 2
