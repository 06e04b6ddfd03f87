"""Machines drawn from a seed, and what an agent reads of them, decides about them and writes for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mooring.agents.helm.empty_namespace import delete_if_empty
from mooring.agents.helm.progress import progressed
from mooring.agents.host.cleaning.firewall import parse_chains, removal_commands
from mooring.agents.host.conditions import agent_conditions, dated_conditions, same_version
from mooring.agents.host.detection.hardware import (
    Hardware,
    capacity_of,
    count_gpu_devices,
    hardware_labels,
    os_image,
    total_memory,
)
from mooring.agents.host.detection.netlink import Link, LinkAddress
from mooring.agents.host.detection.network import default_link, network_status, node_address
from mooring.agents.host.host_informer import typed_host
from mooring.agents.host.node.containerd import containerd_configuration
from mooring.agents.host.node.join import why_no_certificate
from mooring.agents.host.node.kubelet import NodePlan, kubelet_arguments, kubelet_configuration, node_labels
from mooring.agents.host.node.pod_network import default_pod_cidr, network_configuration, parse_pod_cidr
from mooring.agents.host.progress import AgentProgress, ClaimRecord, StepFailure, due_now, failed_again
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import NodeService
from mooring.agents.host.services.systemd import start_command
from mooring.agents.host.steps import next_step
from mooring.api.kinds import Key
from mooring.client.transport import Page
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.features.installation.effects import INSTALL
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.nodes.process.gpus import gpu_labels, parse_gpus
from mooring.runtime.effects import Run
from tests.support.recordings import Draw

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_MODELS = ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla T4", "-odd- (model)", "x" * 70, "")
_LABELS = (
    "purpose",
    "node-role.kubernetes.io/gpu",
    "node.kubernetes.io/pool",
    "k8s.io/x",
    "a.kubelet.kubernetes.io/y",
    "notk8s.io/z",
)
_DOMAIN = "infrastructure.cluster.x-k8s.io"


def readings(draw: Draw) -> Iterator[Any]:
    """What programs and files of a machine say, whole and mangled."""
    card = draw.one(_MODELS)
    listing = "".join(
        f"GPU {number}: {card} (UUID: GPU-2b69-{number})\n"
        + "".join(f"  MIG 1g.10gb  Device {part}: (UUID: MIG-{part})\n" for part in range(draw.one((0, 0, 2, 7))))
        for number in range(draw.below(4))
    )
    yield ["devices", count_gpu_devices(_mangled(draw, listing))]
    sizes = ("143771", "[N/A]", "15360")
    lines = [
        f"{number}, GPU-a59{number}-c9ec, {card}, {draw.one(sizes)}, 580.159.04, 00000000:0{number}:06.0"
        for number in range(draw.below(4))
    ]
    broken = draw.one(
        (
            "",
            "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error",
            "No devices were found",
            "x, y",
        )
    )
    gpus = parse_gpus(
        _mangled(draw, "\n".join(draw.one(([*lines, broken], [broken, *lines], lines)))), Path("/nowhere")
    )
    yield ["gpus", gpus, gpu_labels(gpus)]
    name = draw.one(("Alpine", '"Ubuntu 22.04.4 LTS"', '""', ""))
    release = f'NAME="Ubuntu"\nPRETTY_NAME={name}\nID=x\n'
    yield ["os", os_image(_mangled_lines(draw, release))]
    yield ["memory", total_memory(_mangled_lines(draw, "MemFree: 7 kB\nMemTotal:       65843072 kB\nBuffers: 1 kB\n"))]
    hardware = Hardware("linux", "Ubuntu", "amd64", draw.one((1, 64)), draw.one((0, 9)), draw.one((0, 1, 8)), card)
    yield ["hardware", capacity_of(hardware), hardware_labels(hardware)]


def networks(draw: Draw) -> Iterator[Any]:
    header = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"
    routes = [header] + [
        f"{name} {draw.one(('00000000', '00000000', '0000A8C0'))} 0101A8C0 0003 0 0 {draw.one((0, 100, 20))} "
        f"{draw.one(('00000000', '00000000', '00FFFFFF'))} 0 0 0"
        for name in draw.some(("eth0", "eth1", "wlan0"), 0.6)
    ]
    routes += draw.one(([], ["eth9 00000000"]))
    nowhere, somewhere = "0" * 32, "fe80" + "0" * 28
    routes_v6 = [
        f"{draw.one((nowhere, nowhere, somewhere))} {draw.one(('00', '00', '40'))} {nowhere} 00 {nowhere} "
        f"{draw.one(('00000400', '00000064'))} 00000001 00000000 {draw.one(('00450003', '00200200'))} {name}"
        for name in draw.some(("eth0", "eth1", "lo"), 0.5)
    ]
    default = default_link("\n".join(routes), "\n".join(routes_v6))
    links = [
        Link(number, name, f"02:00:00:00:00:0{number}", draw.chance(0.7), name == "lo", draw.one((0, 0, 4)))
        for number, name in enumerate(("lo", "eth0", "eth1", "wlan0", "cni0", "veth1"), 1)
    ]
    addresses = [
        LinkAddress(1 + draw.below(6), draw.one(("10.0.0.7/24", "fd00::7/64", "127.0.0.1/8"))) for _ in range(5)
    ]
    found = network_status(links, addresses, default, draw.some(("cni0", "eth1"), 0.4))
    yield ["network", default, found, node_address(found)]


def _mangled(draw: Draw, text: str) -> str:
    """Sometimes cut off or with something odd in it."""
    place = draw.below(max(len(text), 1))
    return draw.one(
        (text, text, text, text[:place], text[:place] + "\ufffd" + text[place:], text[place:], text + "\n\n")
    )


def _mangled_lines(draw: Draw, text: str) -> str:
    return "".join(draw.some(text.splitlines(keepends=True), 0.85))


# Decisions

_CLAIMS = (*[ClaimRecord("default", "w1", "u1")] * 4, ClaimRecord("x", "w2", "u2"))


def _progress(draw: Draw) -> AgentProgress:
    def failure(share: float) -> StepFailure | None:
        if not draw.chance(share):
            return None
        return StepFailure("no such file", draw.one((1, 3)), NOON + timedelta(seconds=draw.one((-5, 0, 40))))

    return AgentProgress(
        claim=draw.one((None, None, *_CLAIMS)),
        installed=draw.chance(0.5),
        install_failure=failure(0.3),
        joined=draw.chance(0.3),
        join_failure=failure(0.3),
        clean_failure=failure(0.15),
        kubelet_version=draw.one(("", "v1.35.0", "1.34.2")),
    )


def _host(draw: Draw) -> Object:
    metadata: Object = {"name": "h1", "namespace": "default", "uid": "h"}
    marks = {"byoh.infrastructure.cluster.x-k8s.io/unregistering": "", "cluster.x-k8s.io/paused": ""}
    metadata["annotations"] = {name: marks[name] for name in draw.some(tuple(marks), 0.07)}
    metadata["labels"] = {f"byohost.{_DOMAIN}/host": "other"} if draw.chance(0.3) else {}
    metadata |= {"deletionTimestamp": "2026-01-01T12:00:00Z"} if draw.chance(0.1) else {}
    secret = {"kind": "Secret", "namespace": "default", "name": "s"}
    spec: Object = dict.fromkeys(draw.some(("bootstrapSecret", "installationSecret"), 0.8), secret)
    spec |= (
        {"joinMode": draw.one(("tlsBootstrap", "tlsBootstrap", "tlsBootstrap", "kubeadm"))} if draw.chance(0.95) else {}
    )
    spec |= {"downloadMode": draw.one(("offline", "online"))} if draw.chance(0.5) else {}
    spec |= {"kubernetesVersion": draw.one(("v1.35.0", "v1.34.0", "odd"))} if draw.chance(0.6) else {}
    spec |= {"labels": dict.fromkeys(draw.some(_LABELS), "v")} if draw.chance(0.7) else {}
    spec |= {"taints": [{"key": "a", "value": draw.one(("", "b")), "effect": "NoSchedule"}]} if draw.chance(0.5) else {}
    status: Object = {}
    if draw.chance(0.85):
        uid = draw.one(("u1", "u1", "u1", "u1", "u2"))
        status["machineRef"] = {
            "kind": "ByoMachine",
            "namespace": draw.one(("", "team")),
            "name": f"w{uid[1]}",
            "uid": uid,
        }
    known = ("HostClean", "K8sNodeBootstrapSucceeded", "K8sComponentsInstallationSucceeded", "HostHealthy")
    status["conditions"] = [
        {"type": kind, "status": draw.one(("True", "False")), "lastTransitionTime": "2025-12-31T00:00:00Z"}
        for kind in draw.some(known, 0.4)
    ]
    return {"metadata": metadata, "spec": spec, "status": status}


def decisions(draw: Draw) -> Iterator[Any]:
    found, progress = _host(draw), _progress(draw)
    host = typed_host(found)
    leftovers, skip = draw.chance(0.08), draw.chance(0.3)
    seen = None if draw.chance(0.08) else host
    said = {"leftovers": leftovers, "skip_installation": skip}
    step = next_step(seen, progress, NOON, **{name: value for name, value in said.items() if value})
    conditions = agent_conditions(host, progress, step)
    yield ["step", type(step).__name__, _plain(step), dated_conditions(host, conditions, "2026-01-01T12:00:00Z")]
    failure = failed_again(progress.join_failure, "again", NOON)
    later = failed_again(StepFailure("x", draw.one((2, 5, 6, 40)), NOON), "more", NOON)
    due = due_now(progress.join_failure, NOON)
    yield [
        "failures",
        *(None if each is None else [each.attempts, str(each.retry_at)] for each in (failure, later, due)),
    ]
    versions = ("v1.35.0", "1.35.0", "v1.35.1", "v1.35.0+k3s1", "1.35", "")
    yield ["versions", same_version(draw.one(versions), draw.one(versions))]


def _plain(step: Any) -> list[str]:
    return [str(each) for each in step]


# Files and commands


def files(draw: Draw) -> Iterator[Any]:
    root = RootFolder(Path(draw.one(("/var/lib/mooring-agent", "/srv/agent two"))))
    cidr = draw.one(("10.244.1.0/24", "fd00:1::/112", ""))
    plan = NodePlan(
        root,
        draw.one(("node10", "gpu.example.com")),
        systemd=draw.chance(0.5),
        pod_cidr=cidr,
        download_path=Path("/bundles"),
        kubelet_overrides=draw.one(("", "/etc/kubelet.d")),
        address=draw.one(("", "192.0.2.2")),
        restrict_oom_score=draw.chance(0.5),
        sandbox_image=draw.one(("", 'pause"1"')),
    )
    host = typed_host(_host(draw))
    labels = node_labels(host)
    yield ["kubelet", kubelet_configuration(plan, host, "/etc/resolv.conf"), kubelet_arguments("kubelet", plan, labels)]
    with patch.dict(os.environ, {"PATH": "/opt/own/bin:/usr/bin"}):
        yield ["containerd", containerd_configuration(plan, "/opt/cni/bin").splitlines(), plan.search_path]
    yield ["pods", network_configuration(root, cidr) if cidr else {}, default_pod_cidr(plan.name)]
    asked = draw.one(("none", "10.1.0.0/24", "10.1.0.0/29", "10.1.0.0/30", "10.1.0.1/24", "fd00::/120", "x", ""))
    try:
        yield ["range", asked, parse_pod_cidr(asked)]
    except InputError as error:
        yield ["range", asked, str(error)]
    service = NodeService("kubelet", ("/bin/kubelet", "--x=1 2"), {"A": "1", "B": "x y"}, root.logs / "kubelet.log")
    yield ["unit", start_command("m-kubelet.service", service)]
    log = draw.some(
        (
            "I0101 started\n",
            "E0101 no signed certificate: Unauthorized\n",
            "E0102 cannot get a signed certificate from the control plane: refused\n",
            "E0103 something else\n",
        )
    )
    yield ["log", why_no_certificate("".join(log))]


def firewalls(draw: Draw) -> Iterator[Any]:
    lines = []
    for table in draw.some(("filter", "nat"), 0.8):
        chains = draw.some(("KUBE-SERVICES", "KUBE-FORWARD", "CNI-1234", "DOCKER", "MINE"), 0.6)
        lines += [f"*{table}", ":INPUT ACCEPT [0:0]", *(f":{each} - [0:0]" for each in chains)]
        targets = (*chains, "ACCEPT", "RETURN")
        for _ in range(draw.below(5)):
            source = draw.one(("INPUT", *chains))
            comment = draw.one(("", '-m comment --comment "kubernetes service portals" '))
            lines.append(f"-A {source} {comment}-j {draw.one(targets)}" if draw.chance(0.9) else f"-A {source} -p tcp")
        lines.append("COMMIT")
    saved, program = "\n".join(lines), draw.one(("iptables", "ip6tables"))
    found = parse_chains(program, saved)
    yield ["firewall", found, removal_commands(program, saved, draw.some(found, 0.3))]


# Namespaces


class _Cluster:
    """Answers with drawn objects, and notes what it is asked."""

    def __init__(self, draw: Draw) -> None:
        self._draw, self.asked = draw, list[Any]()

    async def get(self, *which: str) -> Object:
        self.asked.append(which)
        if self._draw.chance(0.05):
            raise NotFoundError("no such namespace")
        return {}

    async def list(self, api_version: str, kind: str, scope: Any = None) -> AsyncIterator[Page]:
        self.asked.append([api_version, kind, None if scope is None else list(scope)])
        draw, items = self._draw, list[Any]()
        if draw.chance(0.05):
            raise NotFoundError("not served")
        if kind == "CustomResourceDefinition":
            versions = [{"name": "v1", "served": draw.chance(0.6)}, {"name": "v2", "served": draw.chance(0.6)}]
            for name in draw.some(("Widget", "Gadget")):
                spec = {
                    "group": "x.io",
                    "scope": draw.one(("Namespaced", "Namespaced", "Cluster")),
                    "names": {"kind": name},
                }
                items.append({"metadata": {"name": name}, "spec": {**spec, "versions": versions}})
        elif draw.chance(0.08):
            names = draw.some(("default", "kube-root-ca.crt", "mine"), 0.5)
            noted = {"kubernetes.io/service-account.name": "default"} if draw.chance(0.2) else {"a": "b"}
            items = [{"metadata": {"name": name, "uid": f"{kind}-{name}", "annotations": noted}} for name in names]
        yield Page(items, "1")

    async def write(self, request: Any) -> None:
        self.asked.append([request.verb, request.kind, request.name])


def namespaces(draw: Draw) -> Iterator[Any]:
    cluster: Any = _Cluster(draw)
    yield ["namespace", asyncio.run(delete_if_empty(cluster, "shop")), cluster.asked]


# Effects


def reports(draw: Draw) -> Iterator[Any]:
    """The output of a step that is shown while it runs."""
    run = Run(INSTALL, INSTALLATION, Key("", "kaito"), "1-install", None, "u1")
    steps = [
        {"name": name, "state": draw.one(("Running", "Running", "Done")), "run": draw.one(("1-install", "2-install"))}
        for name in ("a", "b")
    ]
    metadata = {"name": "kaito", "uid": draw.one(("u1", "u1", "u2")), "resourceVersion": "7"}
    status = draw.one(({}, None, {"steps": steps}, {"steps": steps}, {"steps": steps}))
    request = progressed(run, "output", {"metadata": metadata, "status": status})
    yield ["progress", None if request is None else list(request)]


def rows(count: int) -> Iterator[Any]:
    for number in range(count):
        draw = Draw(f"machine {number}")
        for drawn in (readings, networks, *[decisions] * 6, files, firewalls, reports):
            yield from drawn(draw)
        if number % 6 == 0:
            yield from namespaces(draw)
