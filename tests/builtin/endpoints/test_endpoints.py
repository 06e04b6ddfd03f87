"""Endpoints: who stands behind a Service, ready or not, and at which ports."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.endpoints.endpoints import reconcile
from mooring.builtin.selections import SELECTIONS
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Decision, Patch
from mooring.testing import deployment, node, pod
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import view_of
from tests.builtin.serving import LABELS, backend, port, service
from tests.builtin.town import Town

KEY = Key("default", "web")


def decide(*objects: Object, memory: Any = None) -> Decision:
    view = view_of(objects, folds=(SELECTIONS,), memory=memory)
    return reconcile(KEY, view, view.now)


def made(*objects: Object) -> Object:
    (write,) = decide(*objects).children
    assert isinstance(write, Create)
    return write.object


def subsets(*objects: Object) -> list[tuple[list[str], list[str], list[int]]]:
    """Ready addresses, others, and port numbers of each subset."""
    return [
        (
            [address["ip"] for address in subset.get("addresses", ())],
            [address["ip"] for address in subset.get("notReadyAddresses", ())],
            [each["port"] for each in subset.get("ports", ())],
        )
        for subset in made(*objects).get("subsets", ())
    ]


HTTP = port(80, 8080)


@pytest.mark.parametrize(
    ("why", "served", "pods", "expected"),
    [
        ("nobody", service(HTTP), [], []),
        ("one that is ready", service(HTTP), [backend("p", "10.0.0.1")], [(["10.0.0.1"], [], [8080])]),
        ("one that is not", service(HTTP), [backend("p", "10.0.0.1", ready=False)], [([], ["10.0.0.1"], [8080])]),
        ("one without an address", service(HTTP), [backend("p")], []),
        ("one that has ended", service(HTTP), [backend("p", "10.0.0.1", phase="Succeeded")], []),
        ("one on its way out", service(HTTP), [backend("p", "10.0.0.1", deleting=True)], []),
        (
            "all of them for whoever asks for those that are not ready",
            service(HTTP, publishNotReadyAddresses=True),
            [backend("p", "10.0.0.1", ready=False), backend("q", "10.0.0.2", deleting=True)],
            [(["10.0.0.1", "10.0.0.2"], [], [8080])],
        ),
        (
            "a headless one without ports",
            service(headless=True),
            [backend("p", "10.0.0.1")],
            [(["10.0.0.1"], [], [])],
        ),
        ("one with an address but no ports", service(), [backend("p", "10.0.0.1")], []),
        (
            "those with the same ports stand together",
            service(HTTP, port(443, 8443, "tls")),
            [backend("p", "10.0.0.2"), backend("q", "10.0.0.1")],
            [(["10.0.0.1", "10.0.0.2"], [], [8080, 8443])],
        ),
        (
            "a port by name is what each pod says it is, and left out where it says nothing",
            service(port(80, "http")),
            [
                backend("p", "10.0.0.1", ports=[{"name": "http", "containerPort": 1, "protocol": "TCP"}]),
                backend("q", "10.0.0.2", ports=[{"name": "http", "containerPort": 2, "protocol": "TCP"}]),
                backend("r", "10.0.0.3", ports=[{"name": "http", "containerPort": 3, "protocol": "UDP"}]),
            ],
            [(["10.0.0.1"], [], [1]), (["10.0.0.2"], [], [2])],
        ),
        ("only addresses of its family", service(HTTP, ipFamilies=["IPv6"]), [backend("p", "10.0.0.1")], []),
        (
            "and such as it has",
            service(HTTP, ipFamilies=["IPv6"]),
            [backend("p", "fd::1")],
            [(["fd::1"], [], [8080])],
        ),
    ],
)  # fmt: skip
def test_who_is_told_of(why: str, served: Object, pods: list[Object], expected: list[Any]) -> None:
    assert subsets(served, *pods) == expected, why


def test_a_port_by_name_may_be_one_of_a_sidecar() -> None:
    sidecar = {
        "name": "proxy", "restartPolicy": "Always", "ports": [{"name": "http", "containerPort": 9, "protocol": "TCP"}],
    }  # fmt: skip
    found = backend("p", "10.0.0.1", initContainers=[sidecar])
    assert subsets(service(port(80, "http")), found) == [(["10.0.0.1"], [], [9])]


def test_an_address_names_its_pod_its_node_and_its_place_in_the_domain() -> None:
    named = backend("p", "10.0.0.1", hostname="p-0", subdomain="web")
    (subset,) = made(service(port(80, appProtocol="h2c", name="grpc")), named)["subsets"]
    assert subset == {
        "addresses": [
            {
                "ip": "10.0.0.1",
                "hostname": "p-0",
                "nodeName": "a",
                "targetRef": {"kind": "Pod", "name": "p", "namespace": "default", "uid": "p"},
            }
        ],
        "ports": [{"name": "grpc", "port": 80, "protocol": "TCP", "appProtocol": "h2c"}],
    }


def test_labels_are_those_of_the_service_and_say_who_manages_and_whether_it_is_headless() -> None:
    metadata = made(service(HTTP, headless=True, labels={"team": "a"}))["metadata"]
    assert metadata["labels"] == {
        "team": "a",
        "service.kubernetes.io/headless": "",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }
    assert metadata["ownerReferences"][0]["uid"] == "Service/default/web"


@pytest.mark.parametrize(
    "served", [service(HTTP, selector=None), service(HTTP, type="ExternalName"), service(HTTP, selector={})]
)
def test_a_service_without_a_selector_brings_its_own(served: Object) -> None:
    assert decide(served, backend("p", "10.0.0.1")).empty


def crowd(ready: int, waiting: int) -> list[Object]:
    return [backend(f"p{n}", f"10.0.{n // 250}.{n % 250}", ready=n < ready) for n in range(ready + waiting)]


@pytest.mark.parametrize(("ready", "waiting", "told"), [(1200, 5, (1000, 0)), (990, 30, (990, 10))])
def test_no_more_than_a_thousand_are_told_and_that_is_said(ready: int, waiting: int, told: tuple[int, int]) -> None:
    found = made(service(HTTP), *crowd(ready, waiting))
    (subset,) = found["subsets"]
    assert (len(subset["addresses"]), len(subset.get("notReadyAddresses", ()))) == told
    assert found["metadata"]["annotations"] == {"endpoints.kubernetes.io/over-capacity": "truncated"}


def existing(**changes: Any) -> Object:
    found = made(service(HTTP), backend("p", "10.0.0.1"))
    return {"apiVersion": "v1", "kind": "Endpoints", **found, **changes}


def test_what_is_right_is_left_alone_and_not_looked_at_again() -> None:
    objects = (service(HTTP), backend("p", "10.0.0.1"), existing())
    decision = decide(*objects)
    assert decision.empty
    assert decision.memory is not None


def test_what_was_not_carried_out_is_looked_at_again() -> None:
    assert decide(service(HTTP), backend("p", "10.0.0.1")).memory is None


def test_what_differs_is_put_right_and_nothing_else() -> None:
    (patch,) = decide(service(HTTP, labels={"x": "y"}), backend("p", "10.0.0.2"), existing()).children
    assert isinstance(patch, Patch)
    assert patch.body["metadata"] == {"labels": {"x": "y"}}
    assert patch.body["subsets"][0]["addresses"][0]["ip"] == "10.0.0.2"


def test_when_the_last_one_goes_nobody_is_left_behind() -> None:
    (patch,) = decide(service(HTTP), existing()).children
    assert isinstance(patch, Patch)
    assert patch.body == {"subsets": None}


def test_endpoints_made_by_hand_become_the_services() -> None:
    by_hand = {
        "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web", "namespace": "default"},
        "subsets": [{"addresses": [{"ip": "1.2.3.4"}]}],
    }  # fmt: skip
    (patch,) = decide(service(HTTP), by_hand).children
    assert isinstance(patch, Patch)
    assert patch.body["subsets"] is None
    assert patch.body["metadata"]["ownerReferences"][0]["name"] == "web"


# At work


def test_addresses_come_and_go_with_pods_and_all_goes_with_the_service() -> None:
    def addresses() -> int:
        found = town.get("Endpoints", "web")
        return -1 if found is None else sum(len(subset["addresses"]) for subset in found.get("subsets", ()))

    served = deployment("web", pod("web", labels=LABELS), replicas=3)
    town = Town(node("a"), node("b"), served, service(HTTP), controllers=whole_control_plane(), settled=True)
    assert addresses() == 3
    town.patch("Deployment", "web", {"spec": {"replicas": 1}})
    town.run()
    assert addresses() == 1
    town.delete("Service", "web")
    town.run()
    assert addresses() == -1
    assert town.all("EndpointSlice") == []


def test_a_service_whose_selector_changes_serves_others() -> None:
    pods = pod("p", labels=LABELS), pod("q", labels={"app": "other"})
    town = Town(node("a"), service(HTTP), *pods, controllers=whole_control_plane(), settled=True)
    town.patch("Service", "web", {"spec": {"selector": {"app": "other"}}})
    town.run()
    found = town.get("Endpoints", "web")
    assert found is not None
    assert [address["targetRef"]["name"] for address in found["subsets"][0]["addresses"]] == ["q"]


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        for obj in (node("a"), pod("p", labels=LABELS), pod("q", labels=LABELS), service(HTTP)):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    assert survives_every_crash(whole_control_plane(), populate) > 10
