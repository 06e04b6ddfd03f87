"""Services in drawn stories: what stands behind them in Endpoints and EndpointSlices, and what is mirrored."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.endpoints.endpoints import CONTROLLER as ENDPOINTS
from mooring.builtin.endpoints.mirroring import CONTROLLER as MIRRORING
from mooring.builtin.endpoints.slices import CONTROLLER as SLICES
from mooring.kube.objects import Object
from mooring.testing import node, pod
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

NAMES = ("http", "https", "dns", "metrics")


def ports(draw: Random) -> list[Object]:
    found: list[Object] = []
    for name in draw.sample(NAMES, draw.randrange(1, 4)):
        target = draw.choice([8080, 53, name, "other"])
        port: Object = {"name": name, "port": len(found) + 80, "targetPort": target}
        found.append(port | chosen(draw, 0.3, protocol=["TCP", "UDP"], appProtocol="h2c"))
    return found


def service(draw: Random) -> Object:
    body: dict[str, Any] = {"selector": {"app": "web"}, "ports": ports(draw)}
    body |= chosen(draw, 0.25, publishNotReadyAddresses=True, clusterIP="None")
    body |= chosen(draw, 0.5, trafficDistribution=["PreferClose", "PreferSameNode", "PreferSameZone"])
    if draw.random() < 0.4:
        body |= {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": draw.choice([["IPv4", "IPv6"], ["IPv6", "IPv4"]])}
    metadata = {"name": "web", "labels": {"tier": "front", "service.kubernetes.io/headless": "yes"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": body}


def backend(draw: Random, number: int) -> Object:
    names = draw.sample(NAMES, 2)
    made = pod(f"p{number}", labels={"app": draw.choice(["web", "web", "web", "other"])})
    offered = [{"name": name, "containerPort": 9000 + NAMES.index(name)} for name in names]
    offered[0] |= chosen(draw, 0.3, protocol="UDP")
    made["spec"]["containers"][0]["ports"] = offered
    if draw.random() < 0.3:
        made["spec"] |= {"hostname": f"h{number}", "subdomain": draw.choice(["web", "db"])}
    if draw.random() < 0.3:
        sidecar = {
            "name": "side",
            "image": "x",
            "restartPolicy": "Always",
            "ports": [{"name": "other", "containerPort": 7}],
        }
        made["spec"]["initContainers"] = [sidecar]
    return made


def by_hand(draw: Random) -> Object:
    """Endpoints that a person wrote."""
    subsets = []
    for _ in range(draw.randrange(1, 3)):
        subset: Object = {
            "ports": [{"port": draw.choice([80, 81])} | chosen(draw, 0.5, name="http", appProtocol="h2c")]
        }
        for field in ("addresses", "notReadyAddresses"):
            ips = draw.sample(["10.0.0.1", "10.0.0.2", "fd00::1", "10.0.0.3"], draw.randrange(3))
            listed = [{"ip": ip} | chosen(draw, 0.3, hostname="a", nodeName="n0") for ip in ips]
            if listed:
                subset[field] = listed
        if len(subset) > 1:
            subsets.append(subset)
    notes = chosen(draw, 0.5, note="x", **{"endpoints.kubernetes.io/last-change-trigger-time": "y"})
    notes |= chosen(draw, 0.1, **{"control-plane.alpha.kubernetes.io/leader": "z"})
    labels = chosen(draw, 0.2, **{"endpointslice.kubernetes.io/skip-mirror": ["true", "false"]}) | chosen(
        draw, 0.5, team="x"
    )
    return {"metadata": {"labels": labels, "annotations": notes}, "subsets": subsets}


def disturb(story: Story, draw: Random, kubelet: Kubelet, step: int) -> None:
    some = anyone(story, draw, "Pod")
    name = some["metadata"]["name"] if some else ""
    match draw.randrange(15):
        case 0 | 1 | 2:
            story.create(backend(draw, 100 + step))
        case 3 if name:
            story.delete("Pod", name)
        case 4 | 5 if some is not None and some["status"]["phase"] == "Running":
            kubelet.start(name, ready=draw.random() < 0.5)
        case 6 if name:
            story.patch("Pod", name, {"metadata": {"labels": {"app": draw.choice(["web", "other"])}}})
        case 7:
            story.patch("Service", "web", {"spec": {"ports": ports(draw)}})
        case 8:
            flag = draw.choice([True, False])
            story.patch("Service", "web", {"spec": {"publishNotReadyAddresses": flag}})
        case 9:
            story.patch("Service", "web", {"spec": {"selector": draw.choice([{"app": "web"}, {"app": "other"}, None])}})
        case 10:
            story.patch("Service", "web", {"metadata": {"labels": {"tier": draw.choice(["back", None])}}})
        case 11:
            zone = draw.choice(["z0", "z1", None])
            story.patch("Node", "n0", {"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}})
        case 12:
            for held in story.names("EndpointSlice")[:1]:
                story.patch("EndpointSlice", held, {"metadata": {"labels": {"tier": "wrong"}}})
        case 13:
            story.delete(draw.choice(["Endpoints", "Node"]), draw.choice(["web", "n1", "outside"]))
        case 14:
            wanted = draw.choice(["ExternalName", "ClusterIP"])
            more = {"externalName": "example.com"} if wanted == "ExternalName" else {"externalName": None}
            story.patch("Service", "web", {"spec": {"type": wanted, **more}})


def play(number: int) -> str:
    draw = Random(f"service {number}")
    nodes = [node(f"n{n}", zone=f"z{n}" if n < 2 else None) for n in range(3)]
    outside = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "outside"},
        "spec": {"ports": [{"port": 80}]},
    }
    story = Story((ENDPOINTS, SLICES, MIRRORING, GARBAGE), *nodes, service(draw), outside, seed=number)
    kubelet = Kubelet(story, ("n0", "n1", "n2", "gone"), draw)
    for each in range(draw.randrange(1, 6)):
        story.create(backend(draw, each))
    written = {"apiVersion": "v1", "kind": "Endpoints", **by_hand(draw)}
    written["metadata"]["name"] = "outside"
    story.create(written)
    for step in range(12):
        kubelet.tick(start=0.7, fail=0.03, succeed=0.03, unready=0.1)
        story.run(draw.choice([1, 5]))
        disturb(story, draw, kubelet, step)
        story.run(1)
        if draw.random() < 0.3:
            story.patch("Endpoints", "outside", by_hand(draw))
            story.run(1)
    story.delete("Service", draw.choice(["web", "outside"]), propagation="Background")
    story.run(5)
    return story.text()


@pytest.mark.parametrize("number", range(16))
def test_a_drawn_service_goes_as_it_did(number: int) -> None:
    agrees("services", f"drawn {number}", play(number))


def test_more_pods_than_one_object_may_hold_go_as_they_did() -> None:
    draw = Random("many")
    story = Story((ENDPOINTS, SLICES), node("n0"), service(draw))
    kubelet = Kubelet(story, ("n0",), draw)
    for number in range(230):
        made = pod(f"p{number}", labels={"app": "web"}, node="n0")
        made["status"] = {"phase": "Running", "podIP": f"10.1.{number // 200}.{number % 200 + 1}"}
        story.create(made)
        kubelet.start(f"p{number}", ready=number % 7 != 0)
    story.run(1)
    for number in range(0, 230, 11):
        story.delete("Pod", f"p{number}", grace=0)
    story.run(1)
    agrees("services", "many pods", story.text())
