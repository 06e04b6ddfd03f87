"""What the agent finds out about a machine, from what kernels and programs have been seen to answer."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mooring.agents.host.detection import hardware as module
from mooring.agents.host.detection.hardware import (
    Hardware,
    capacity_of,
    count_gpu_devices,
    find_hardware,
    hardware_labels,
    os_image,
    total_memory,
)
from mooring.agents.host.detection.netlink import Link, LinkAddress, list_addresses, list_links, parse_links
from mooring.agents.host.detection.network import default_link, network_status, node_address
from mooring.agents.host.settings import parse_labels
from mooring.kube.errors import InputError

ROUTES = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""
ZERO = "0" * 32
ROUTES_V6 = (
    f"fd000000000000000000000000000000 40 {ZERO} 00 {ZERO} 00000100 00000001 00000000 00000001     eth1\n"
    f"{ZERO} 00 {ZERO} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1\n"
    f"{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200       lo\n"
)
# As an H200 on Ubuntu answered, and as NVIDIA documents it for a card that is cut by MIG.
WHOLE_CARD = "GPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
CUT_CARD = """GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-0000-0000-0000-000000000001)
  MIG 3g.20gb     Device  0: (UUID: MIG-00000000-0000-0000-0000-000000000000)
  MIG 3g.20gb     Device  1: (UUID: MIG-00000000-0000-0000-0000-000000000001)
"""


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ('NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n', "Ubuntu 24.04.3"),
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n', "Debian GNU/Linux 12 (bookworm)"),
        ("PRETTY_NAME=Alpine\n", "Alpine"),
        ('PRETTY_NAME=""\n', "Unknown"),
        ("", "Unknown"),
    ],
)
def test_the_operating_system_is_named_without_lts(text: str, image: str) -> None:
    assert os_image(text) == image


def test_memory_is_read_in_kibibytes() -> None:
    assert total_memory("MemTotal:       131980916 kB\nMemFree:  1 kB\n") == 131980916
    assert total_memory("") == 0


@pytest.mark.parametrize(
    ("listing", "devices"),
    [(WHOLE_CARD, 1), (CUT_CARD, 2), (WHOLE_CARD + CUT_CARD, 3), ("No devices found.\n", 0), ("", 0)],
)
def test_a_card_that_is_cut_counts_its_parts(listing: str, devices: int) -> None:
    assert count_gpu_devices(listing) == devices


def test_capacity_and_labels_tell_only_what_was_found() -> None:
    plain = Hardware("linux", "Debian", "amd64", 2, 24684112)
    assert capacity_of(plain) == {"cpu": "2", "memory": "24684112Ki"}
    assert hardware_labels(plain) == {
        "capacity.infrastructure.cluster.x-k8s.io/cpu": "2",
        "capacity.infrastructure.cluster.x-k8s.io/memory": "24684112Ki",
    }
    equipped = plain._replace(gpus=2, gpu_model="NVIDIA H200 (PCIe)")
    assert capacity_of(equipped)["nvidia.com/gpu"] == "2"
    assert hardware_labels(equipped) | hardware_labels(plain) == {
        **hardware_labels(plain),
        "capacity.infrastructure.cluster.x-k8s.io/gpu": "2",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": "2",
        "nvidia.com/gpu.model": "NVIDIA-H200-PCIe",
    }


async def _found() -> Hardware:
    return await find_hardware()


def test_gpus_are_found_through_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    program = tmp_path / "nvidia-smi"
    line = "0, GPU-00000000-0000-0000-0000-000000000000, NVIDIA H200, 143771, 580.159.04, 00000000:00:06.0"
    program.write_text(f'#!/bin/sh\n[ "$1" = -L ] && echo "{CUT_CARD.strip()}" || echo "{line}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = asyncio.run(_found())
    assert (found.gpus, found.gpu_model) == (2, "NVIDIA H200")
    assert found.cpus == os.cpu_count()
    assert module.total_memory(Path("/proc/meminfo").read_text()) == found.memory


def test_the_default_link_is_that_of_the_cheapest_default_route() -> None:
    assert default_link(ROUTES, ROUTES_V6) == "eth0"
    assert default_link("", ROUTES_V6) == "eth1"
    assert default_link("", "") == ""


def test_the_network_of_pods_is_not_the_hosts() -> None:
    links = [
        Link(1, "lo", "00:00:00:00:00:00", connected=True, loopback=True),
        Link(2, "eth0", "02:fc:00:00:00:01", connected=True, loopback=False),
        Link(3, "moor1234", "02:00:00:00:00:03", connected=True, loopback=False),
        Link(4, "veth1", "02:00:00:00:00:04", connected=True, loopback=False, master=3),
    ]
    addresses = [LinkAddress(1, "127.0.0.1/8"), LinkAddress(2, "192.0.2.2/24"), LinkAddress(2, "fd00::2/64")]
    (found,) = network_status(links, addresses, "eth0", ("moor1234",))
    assert found == {
        "networkInterfaceName": "eth0",
        "macAddr": "02:fc:00:00:00:01",
        "ipAddrs": ["192.0.2.2/24", "fd00::2/64"],
        "isDefault": True,
        "connected": True,
    }
    assert node_address([found]) == "192.0.2.2"
    assert node_address([{**found, "isDefault": False}]) == ""


def test_the_kernel_tells_links_and_their_addresses() -> None:
    links = {link.number: link for link in list_links()}
    assert {link.name for link in links.values()} == {name for _, name in socket.if_nameindex()}
    assert all(address.number in links for address in list_addresses())
    assert parse_links(b"") == []
    assert parse_links(b"\x00" * 64) == []


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        ((), {}),
        (("a=b",), {"a": "b"}),
        (("a=b, c = d,",), {"a": "b", "c": "d"}),
        (("a=b", "a=c"), {"a": "c"}),
        (("a=",), {"a": ""}),
    ],
)
def test_labels_of_the_command_line_are_split_at_commas(texts: tuple[str, ...], labels: dict[str, str]) -> None:
    assert parse_labels(texts) == labels


@pytest.mark.parametrize(
    ("text", "problem"), [("a", '--label "a" has no "="'), ("a b=c", '--label "a b=c"'), ("a=b c", '--label "a=b c"')]
)
def test_a_wrong_label_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_labels((text,))
    assert str(refused.value).startswith(problem)
