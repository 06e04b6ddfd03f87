"""Services that become others: types, addresses, ports and policies in every mixture, made, replaced and patched."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import NS
from tests.conformance.questions.drawn.templates import ABSENT, drawn, many, maybe, one
from tests.conformance.questions.stories import Step

RANGES = "/apis/networking.k8s.io/v1/servicecidrs"
# What a field may be, and what it may not or only beside some others.
GOOD: Object = {
    "type": one("ClusterIP", "ClusterIP", "NodePort", "NodePort", *("LoadBalancer",) * 3, "ExternalName"),
    "ports": many(
        (1, 1, 2, 2, 3),
        {
            "port": one(80, 80, 81, 443, 53),
            "protocol": one(ABSENT, ABSENT, "TCP", "UDP", "SCTP"),
            "targetPort": one(ABSENT, ABSENT, 8080, "web", 0, ""),
            "nodePort": one(*(ABSENT,) * 6, 0, 30201, 30202, 30203),
            "appProtocol": one(ABSENT, ABSENT, ABSENT, "example.com/h2"),
        },
        "name",
    ),
    "selector": {"app": "web"},
    "clusterIP": one("", "None", "10.60.0.5", "10.60.0.6"),
    "clusterIPs": one(["10.60.0.5"], ["10.60.0.6"], ["None"]),
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": one("SingleStack", "PreferDualStack"),
    "externalName": one("db.example.com", "db.example.com."),
    "sessionAffinity": one("None", "ClientIP"),
    "sessionAffinityConfig": {"clientIP": one({"timeoutSeconds": one(1, 60, 86400)}, {})},
    "externalTrafficPolicy": one("Cluster", "Local", "Local"),
    "internalTrafficPolicy": one("Cluster", "Local"),
    "healthCheckNodePort": one(0, 30301, 30302),
    "allocateLoadBalancerNodePorts": one(True, False),
    "loadBalancerClass": one("example.com/a", "example.com/b"),
    "loadBalancerIP": one("80.1.2.3", "fd61:0::1", "x"),
    "loadBalancerSourceRanges": one(["10.0.0.0/8"], [" 10.0.0.0/8"], ["10.0.0.1/8", "FD00::/8"]),
    "externalIPs": one(["80.1.2.3"], ["80.1.2.3", "FD61::1"]),
    "publishNotReadyAddresses": one(True, False),
    "trafficDistribution": one("PreferClose", "PreferSameZone", "PreferSameNode"),
}
ADDRESS = one("", "None", "10.60.0.5", "10.60.0.255", "10.61.0.1", "fd60::5", "x", "010.60.0.7")
ODD: Object = {
    "type": "x",
    "ports": one(
        [],
        many(
            (1, 2, 3),
            {
                "port": one(80, 80, 81, 0, 65535, 65536),
                "protocol": one(ABSENT, "UDP", "x"),
                "targetPort": one(ABSENT, 1, 65535, 65536, "web--x"),
                "nodePort": one(ABSENT, 30201, 29999, 30000, 32767, 32768),
                "appProtocol": one(ABSENT, ABSENT, "a b"),
                "name": one("a", "a", "b", "", "A"),
            },
        ),
    ),
    "selector": {"a b": "c"},
    "clusterIP": ADDRESS,
    "clusterIPs": many((1, 1, 2, 2, 3), ADDRESS),
    "ipFamilies": many((1, 2), one("IPv4", "IPv4", "IPv6", "x")),
    "ipFamilyPolicy": one("RequireDualStack", "x"),
    "externalName": "a_b",
    "sessionAffinity": "x",
    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": one(0, 86401)}},
    "externalTrafficPolicy": "x",
    "internalTrafficPolicy": "x",
    "healthCheckNodePort": one(29999, 32768, 65536),
    "allocateLoadBalancerNodePorts": None,
    "loadBalancerClass": "a b",
    "loadBalancerIP": "010.1.2.3",
    "loadBalancerSourceRanges": one(["10.0.0.0/8", "x"], ["010.0.0.0/8"]),
    "externalIPs": one(["127.0.0.1", "x"], ["0.0.0.0"], ["080.1.2.3"]),
    "publishNotReadyAddresses": None,
    "trafficDistribution": "x",
}
# What goes with a type, so that a Service of it may be made.
WITH = {
    "ExternalName": ("externalName",),
    "LoadBalancer": ("externalTrafficPolicy", "loadBalancerClass", "allocateLoadBalancerNodePorts"),
}
NOTES = one(
    *(ABSENT,) * 4,
    {"service.beta.kubernetes.io/load-balancer-source-ranges": one("10.0.0.0/8, 11.0.0.0/8", "x", " ")},
    {"service.kubernetes.io/topology-mode": "Auto"},
    {"service.kubernetes.io/topology-aware-hints": "Auto"},
    {
        "service.kubernetes.io/topology-aware-hints": "Auto",
        "service.kubernetes.io/topology-mode": one("Auto", "Disabled"),
    },
)
STATUS: Object = {
    "loadBalancer": one(
        {},
        {
            "ingress": many(
                (1, 1, 2),
                {
                    "ip": one("80.1.2.3", "x", ABSENT, ""),
                    "ipMode": one(ABSENT, "VIP", "Proxy", "x"),
                    "hostname": one(ABSENT, ABSENT, "a.example.com", "1.2.3.4", "a_b"),
                },
            )
        },
    ),
    "conditions": maybe(
        [
            {
                "type": one("example.com/Fine", "x y"),
                "status": one("True", "x"),
                "reason": one("Because", ""),
                "message": "m",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ]
    ),
}


def service(draw: random.Random, name: str) -> Object:
    """One that may well be made."""
    kind = drawn(draw, GOOD["type"])
    others = [
        each for each in GOOD if each not in ("type", "ports") and (each != "externalName" or draw.random() < 0.2)
    ]
    chosen = {*WITH.get(kind, ()), *draw.sample(others, draw.choice((0, 0, 0, 1, 2)))}
    spec = {"type": kind, **drawn(draw, {each: GOOD[each] for each in GOOD if each in ("ports", *sorted(chosen))})}
    if kind == "ExternalName":
        # A real server does not keep its port for it, and takes it away from another when this one goes.
        for port in spec["ports"]:
            port.pop("nodePort", None)
    return {"metadata": drawn(draw, {"name": name, "annotations": NOTES}), "spec": spec}


def patch(draw: random.Random) -> Object:
    """A few fields as others, or as none."""
    spec: dict[str, Any] = {}
    for each in draw.sample(list(GOOD), draw.choice((1, 1, 2, 3))):
        chance = draw.random()
        spec[each] = None if chance < 0.2 else drawn(draw, (ODD if chance < 0.45 else GOOD)[each])
    return {"spec": spec}


def told(step: Step) -> Step:
    """With what matters of the answer."""
    return step | {"pick": ["spec", "status"]}


def changing(number: int) -> list[Step]:
    draw = random.Random(f"services {number}")
    steps: list[Step] = [
        {
            "do": f"POST {RANGES}",
            "body": {"metadata": {"name": "questions-services"}, "spec": {"cidrs": ["10.60.0.0/24"]}},
            "quiet": True,
        },
        # A real server takes a while to hand out of it.
        {
            "do": f"POST {NS}/services?dryRun=All",
            "body": {
                "metadata": {"name": "ready"},
                "spec": {"clusterIP": "10.60.0.9", "ports": [{"port": 80}]},
            },
            "until": 201,
            "pick": ["spec/type"],
        },
    ]
    for turn in range(12):
        name = f"s{turn}"
        for _ in range(2):
            # Where the first one is refused, there may be a second.
            steps.append(told({"do": f"POST {NS}/services", "body": service(draw, name)}))
        for _ in range(draw.choice((2, 3, 4))):
            if draw.random() < 0.35:
                steps.append(told({"do": f"PUT {NS}/services/{name}", "body": service(draw, name)}))
            else:
                steps.append(told({"do": f"PATCH {NS}/services/{name}", "type": "merge", "body": patch(draw)}))
        if draw.random() < 0.5:
            body = {"status": drawn(draw, STATUS)}
            steps.append(told({"do": f"PATCH {NS}/services/{name}/status", "type": "merge", "body": body}))
            steps.append(told({"do": f"PATCH {NS}/services/{name}", "type": "merge", "body": patch(draw)}))
        if turn % 3:
            steps.append({"do": f"DELETE {NS}/services/{name}", "quiet": True})
    steps += [{"do": f"DELETE {NS}/services/s{turn}", "quiet": True} for turn in range(0, 12, 3)]
    return steps


ODD_ADDRESSES = (
    *("010.0.0.1", "::ffff:1.2.3.4", "FD61:0::1", "80.1.2.3", "fd61::1", "fd61::1:0:0:2", "fd61:0:0:1::2"),
    *("::FFFF:102:304", "0:0::1.2.3.4", "1.2.3", "fd61::00a", "::1.2.3.04", "80.1.2.5", "fe80::1"),
)
BLOCKS = (
    *("010.0.0.0/8", "::ffff:10.0.0.0/104", "FD00::/8", "10.0.0.1/8", "fd00::1/8", "10.0.0.0/08", "10.0.0.0/8"),
    *("::ffff:10.0.0.1/104", "fd61::/064", "10.0.0.7/32", "FD61::7/128", "x/8"),
    *("FD00::1/8", "010.0.0.1/8", "::ffff:10.0.0.0/90"),
)


def _with_addresses(address: str, block: str) -> dict[str, Object]:
    """Objects with an address and a block of addresses, by the places that they are made in."""
    template: Object = {
        "containers": [{"name": "c", "image": "i"}],
        "hostAliases": [{"ip": address, "hostnames": ["a"]}],
        "dnsConfig": {"nameservers": ["80.1.2.3", address]},
    }
    peers = [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["11.0.0.0/8", block]}}, {"ipBlock": {"cidr": block}}]
    workload = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": template},
    }
    return {
        f"{NS}/services": {
            "spec": {
                "type": "LoadBalancer",
                "ports": [{"port": 80}],
                "externalIPs": ["80.1.2.3", address],
                "loadBalancerIP": address,
                "loadBalancerSourceRanges": ["10.0.0.0/8", f" {block}"],
            }
        },
        f"{NS}/pods": {"spec": template},
        "/apis/apps/v1/namespaces/$NS/deployments": {"spec": workload},
        "/api/v1/nodes": {"spec": {"podCIDR": block, "podCIDRs": [block], "externalID": "x"}},
        f"{NS}/endpoints": {
            "subsets": [
                {"addresses": [{"ip": "80.1.2.3"}], "ports": [{"port": 80}]},
                {
                    "addresses": [{"ip": "80.1.2.4"}, {"ip": address}],
                    "notReadyAddresses": [{"ip": address}],
                    "ports": [{"port": 81}],
                },
            ]
        },
        "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices": {
            "addressType": "IPv6" if ":" in address else "IPv4",
            "endpoints": [{"addresses": [address]}, {"addresses": [address]}],
            "ports": [],
        },
        "/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies": {
            "spec": {"podSelector": {}, "ingress": [{}, {"from": peers}], "egress": [{"to": peers}]}
        },
        "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses": {
            "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}
        },
    }


def addressed(number: int) -> list[Step]:
    """Addresses that are no longer written so: what is said of them, and when it is said again."""
    steps: list[Step] = []
    for address, block in list(zip(ODD_ADDRESSES, (*BLOCKS, *BLOCKS), strict=False))[number::2]:
        for place, obj in _with_addresses(address, block).items():
            body = {"metadata": {"name": "$NS"}, **obj}
            steps.append({"do": f"POST {place}", "body": body, "pick": ["metadata/name"]})
            change = {"metadata": {"labels": {"a": "b"}}}
            steps.append({"do": f"PATCH {place}/$NS", "type": "merge", "body": change, "pick": ["metadata/labels/a"]})
            ingress: Object = {"loadBalancer": {"ingress": [{"ip": "80.1.2.3"}, {"ip": address}, {"hostname": "a.b"}]}}
            pod: Object = {"podIPs": [{"ip": address}], "hostIPs": [{"ip": address}]}
            status = pod if place.endswith("pods") else ingress
            if place.endswith(("pods", "services", "ingresses")):
                change = {"status": status}
                steps.append(
                    {"do": f"PATCH {place}/$NS/status", "type": "merge", "body": change, "pick": ["metadata/name"]}
                )
            steps.append({"do": f"DELETE {place}/$NS?gracePeriodSeconds=0", "quiet": True})
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"services-{number}": changing(number) for number in range(12)} | {
        f"addresses-{number}": addressed(number) for number in range(2)
    }
