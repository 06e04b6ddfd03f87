"""EndpointSlices: what is told of each pod, and how many slices it takes."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.endpoints.slices import MANAGED_BY, SERVICE_NAME, reconcile
from mooring.builtin.endpoints.slots import slots
from mooring.builtin.selections import SELECTIONS
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing import node, pod
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import view_of
from tests.builtin.serving import LABELS, backend, port, service
from tests.builtin.town import Town

KEY = Key("default", "web")
HTTP = port(80, 8080)
NODE = node("a", zone="z1")


def decide(*objects: Object) -> Decision:
    view = view_of(objects, folds=(SELECTIONS,))
    return reconcile(KEY, view, view.now)


def made(*objects: Object) -> list[Object]:
    decision = decide(*objects)
    assert not decision.children
    return [write.object for write in decision.intent if isinstance(write, Create)]


def stored(*objects: Object) -> list[Object]:
    return [{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", **obj} for obj in made(*objects)]


def only(*objects: Object) -> Object:
    (found,) = made(*objects)
    (endpoint,) = found["endpoints"]
    result: Object = endpoint
    return result


@pytest.mark.parametrize(
    ("why", "pods", "served", "expected"),
    [
        ("well", backend("p", "10.0.0.1"), service(HTTP), (True, True, False)),
        ("not ready", backend("p", "10.0.0.1", ready=False), service(HTTP), (False, False, False)),
        ("serving to the last", backend("p", "10.0.0.1", deleting=True), service(HTTP), (False, True, True)),
        ("gone quiet", backend("p", "10.0.0.1", deleting=True, ready=False), service(HTTP), (False, False, True)),
        (
            "asked for although not ready",
            backend("p", "10.0.0.1", ready=False),
            service(HTTP, publishNotReadyAddresses=True),
            (True, False, False),
        ),
    ],
)
def test_how_a_pod_fares(why: str, pods: Object, served: Object, expected: tuple[bool, bool, bool]) -> None:
    conditions = only(served, NODE, pods)["conditions"]
    assert (conditions["ready"], conditions["serving"], conditions["terminating"]) == expected, why


def test_an_endpoint_says_where_it_is_and_what_it_is_called() -> None:
    found = backend("p", "10.0.0.1", hostname="p-0", subdomain="web")
    assert only(service(HTTP), NODE, found) == {
        "addresses": ["10.0.0.1"],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "hostname": "p-0",
        "nodeName": "a",
        "targetRef": {"kind": "Pod", "name": "p", "namespace": "default", "uid": "p"},
        "zone": "z1",
    }


@pytest.mark.parametrize(
    ("wish", "hints"),
    [
        (None, None),
        ("PreferClose", {"forZones": [{"name": "z1"}]}),
        ("PreferSameNode", {"forZones": [{"name": "z1"}], "forNodes": [{"name": "a"}]}),
    ],
)
def test_traffic_that_should_stay_close_gets_hints(wish: str | None, hints: Object | None) -> None:
    assert only(service(HTTP, trafficDistribution=wish), NODE, backend("p", "10.0.0.1")).get("hints") == hints


@pytest.mark.parametrize(
    ("why", "unpublished"),
    [
        ("no address", backend("p")),
        ("ended", backend("p", "10.0.0.1", phase="Failed")),
        ("a node that is gone", backend("p", "10.0.0.1", node="gone")),
        ("an address of the other family", backend("p", "fd::1")),
    ],
)
def test_a_pod_that_is_not_told_of_leaves_an_empty_slice(why: str, unpublished: Object) -> None:
    (found,) = made(service(HTTP), NODE, unpublished)
    assert (found["endpoints"], found["ports"]) == ([], []), why


def test_a_slice_belongs_to_its_service_and_carries_its_labels() -> None:
    (found,) = made(service(HTTP, headless=True, labels={"team": "a", MANAGED_BY: "me"}))
    metadata = found["metadata"]
    assert metadata["labels"] == {
        "team": "a",
        "service.kubernetes.io/headless": "",
        SERVICE_NAME: "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert metadata["ownerReferences"][0]["uid"] == "Service/default/web"
    assert metadata["name"].startswith("web-")


def test_both_families_have_slices_of_their_own() -> None:
    both = backend("p", "10.0.0.1")
    both["status"]["podIPs"].append({"ip": "fd::1"})
    found = made(service(HTTP, ipFamilies=["IPv4", "IPv6"]), NODE, both)
    assert {each["addressType"]: each["endpoints"][0]["addresses"] for each in found} == {
        "IPv4": ["10.0.0.1"],
        "IPv6": ["fd::1"],
    }


def test_pods_with_other_ports_stand_in_other_slices() -> None:
    def listening(name: str, number: int) -> Object:
        ports = [{"name": "http", "containerPort": number, "protocol": "TCP"}]
        return backend(name, f"10.0.0.{number}", ports=ports)

    found = made(service(port(80, "http")), NODE, listening("p", 1), listening("q", 2), listening("r", 2))
    assert [(each["ports"][0]["port"], len(each["endpoints"])) for each in found] == [(1, 1), (2, 2)]


def crowd(count: int) -> list[Object]:
    return [backend(f"p{n}", f"10.0.{n // 250}.{n % 250}") for n in range(count)]


def test_no_slice_holds_more_than_a_hundred_and_none_is_lost() -> None:
    found = made(service(HTTP), NODE, *crowd(420))
    assert all(len(each["endpoints"]) <= 100 for each in found)
    assert len({each["metadata"]["name"] for each in found}) == len(found)
    assert {e["targetRef"]["name"] for each in found for e in each["endpoints"]} == {f"p{n}" for n in range(420)}


def test_one_more_pod_touches_one_slice() -> None:
    before = stored(service(HTTP), NODE, *crowd(150))
    decision = decide(service(HTTP), NODE, *crowd(151), *before)
    assert [type(write) for stage in decision.stages for write in stage] == [Patch]


def test_a_slice_that_overflows_parts_in_two_before_it_shrinks() -> None:
    before = stored(service(HTTP), NODE, *crowd(100))
    decision = decide(service(HTTP), NODE, *crowd(101), *before)
    assert [type(write) for write in decision.intent] == [Create]
    assert [write.key.name for write in decision.children] == [before[0]["metadata"]["name"]]
    assert not decision.release


def test_slices_that_nobody_needs_go_last() -> None:
    before = stored(service(HTTP), NODE, *crowd(150))
    assert len(before) == 2
    decision = decide(service(HTTP), NODE, *crowd(3), *before)
    assert [type(write) for write in decision.children] == [Patch]
    assert [type(write) for write in decision.release] == [Delete]


def test_places_follow_from_the_endpoints_alone() -> None:
    uids = [f"uid-{n}" for n in range(1000)]
    assert dict(slots(uids)) == dict(slots(reversed(uids)))
    names = [place for place, _ in slots(uids)]
    assert len(names) == len(set(names))


def test_other_peoples_slices_are_left_alone() -> None:
    (foreign,) = stored(service(HTTP))
    foreign["metadata"]["name"] = "by-hand"
    foreign["metadata"]["labels"][MANAGED_BY] = "me"
    assert [type(write) for stage in decide(service(HTTP), foreign).stages for write in stage] == [Create]


def test_what_is_right_is_left_alone_until_its_node_moves() -> None:
    objects = (service(HTTP), backend("p", "10.0.0.1"), *stored(service(HTTP), NODE, backend("p", "10.0.0.1")))
    assert decide(NODE, *objects).empty
    (patch,) = decide(node("a", zone="z2"), *objects).children
    assert isinstance(patch, Patch)
    assert patch.body["endpoints"][0]["zone"] == "z2"


# At work


def test_a_stateful_set_is_found_by_the_names_of_its_pods() -> None:
    spec = {
        "replicas": 2, "serviceName": "web", "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
    }  # fmt: skip
    served = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default"}}
    town = Town(
        NODE, {**served, "spec": spec}, service(HTTP, headless=True), controllers=whole_control_plane(), settled=True
    )
    (found,) = town.all("EndpointSlice")
    assert [endpoint["hostname"] for endpoint in found["endpoints"]] == ["db-0", "db-1"]


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        named = {"name": "http", "containerPort": 7}
        other = pod("q", labels=LABELS)
        other["spec"]["containers"][0]["ports"] = [named]
        for obj in (NODE, pod("p", labels=LABELS), other, service(HTTP, port(81, "http", "named"))):
            obj["spec"].pop("clusterIP", None)
            for each in obj["spec"].get("ports", ()):
                each["name"] = each["name"] or "plain"
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    assert survives_every_crash(whole_control_plane(), populate) > 10
