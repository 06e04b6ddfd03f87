"""The GPUs of the machine: found through nvidia-smi, and given out one container at a time."""

from __future__ import annotations

import asyncio
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mooring.nodes.process import gpus as module
from mooring.nodes.process.containers.sandbox.driver_mounts import driver_mounts
from mooring.nodes.process.containers.sandbox.machine_view import MachineView
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint
from mooring.nodes.process.gpu_assignments import GpuAssignments, NotEnoughGpus
from mooring.nodes.process.gpus import Gpu, find_gpus, gpu_labels, parse_gpus
from mooring.nodes.process.registration import NodeRegistration
from tests.nodes.process.home import LINUX, WAIT_SECONDS, Home, here, home, needs_sandbox, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")
RECORDED = Path(__file__).parents[2] / "data" / "nvidia-smi"
OUTPUT = (
    "0, GPU-00000000-0000-0000-0000-000000000000, NVIDIA H200, 143771, 580.159.04, 00000000:00:06.0\n"
    "1, GPU-00000000-0000-0000-0000-000000000001, NVIDIA H200, [N/A], 580.159.04, 00000000:00:07.0\n"
)


def gpu(number: int) -> Gpu:
    return Gpu(number, f"GPU-{number}", "NVIDIA H200", 143771, "580.159.04", number)


def test_gpus_are_read_line_by_line_and_their_devices_from_the_driver(tmp_path: Path) -> None:
    folder = tmp_path / "0000:00:06.0"
    folder.mkdir()
    (folder / "information").write_text("Model: \t\t NVIDIA H200\nDevice Minor: \t 3\nGPU Excluded:\t No\n")
    broken = "Unable to determine the device handle for GPU2: 0000:00:08.0: GPU is lost\n"
    first, second = parse_gpus(OUTPUT + broken, tmp_path)
    assert first == Gpu(0, "GPU-00000000-0000-0000-0000-000000000000", "NVIDIA H200", 143771, "580.159.04", 3)
    assert (second.memory_mib, second.minor) == (0, 1)
    assert parse_gpus("No devices were found\n") == []


def test_what_a_real_machine_said_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "0000:00:06.0"
    folder.mkdir()
    (folder / "information").write_text((RECORDED / "information.txt").read_text())
    (found,) = parse_gpus((RECORDED / "query.csv").read_text(), tmp_path)
    assert (found.number, found.name, found.memory_mib, found.driver) == (0, "NVIDIA H200", 143771, "580.159.04")
    assert found.uuid in (folder / "information").read_text()
    assert found.minor == 0
    for failed in ("bad-field.txt", "no-such-gpu.txt"):
        assert parse_gpus((RECORDED / failed).read_text(), tmp_path) == []


def test_the_labels_are_those_of_feature_discovery() -> None:
    assert gpu_labels([]) == {}
    assert gpu_labels([gpu(0), gpu(1)]) == {
        "nvidia.com/gpu.count": "2",
        "nvidia.com/gpu.memory": "143771",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-H200",
    }


@pytest.mark.parametrize(("script", "found"), [(f"printf '{OUTPUT}'", 2), ("exit 9", None), ("exec sleep 100", None)])
def test_a_driver_that_fails_or_hangs_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, found: int | None
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if "sleep" in script:
        monkeypatch.setattr(module, "QUERY_SECONDS", 0.3)
    listed = asyncio.run(find_gpus())
    assert (None if listed is None else len(listed)) == found


def test_a_gpu_belongs_to_one_container_and_a_restart_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "gpus.json"
    assignments = GpuAssignments(path, [gpu(0), gpu(1), gpu(2)])
    assert assignments.assign("a", "main", 2) == [gpu(0), gpu(1)]
    assert assignments.assign("b", "main", 1) == [gpu(2)]
    assert assignments.assign("b", "side", 0) == []
    with pytest.raises(NotEnoughGpus, match="Requested: 1, Available: 0, which is unexpected"):
        assignments.assign("c", "main", 1)
    assignments.release("a")
    again = GpuAssignments(path, [gpu(0), gpu(1), gpu(2)])
    assert again.assign("b", "main", 1) == [gpu(2)]
    again.keep_only([])
    assert again.assign("c", "main", 3) == [gpu(0), gpu(1), gpu(2)]
    path.write_text("[broken")
    assert GpuAssignments(path, [gpu(0)]).assign("d", "main", 1) == [gpu(0)]


def test_a_gpu_that_fails_is_not_given_out_but_stays_in_the_capacity(tmp_path: Path) -> None:
    assignments = GpuAssignments(tmp_path / "gpus.json", [gpu(0), gpu(1)])
    assignments.observe([gpu(1)])
    assert assignments.assign("a", "main", 1) == [gpu(1)]
    registration = NodeRegistration(Home(tmp_path, "").transport, here(gpu(0), gpu(1)), 1, lambda: datetime.now(UTC))
    registration.observe_gpus([gpu(1)])
    assert registration.machine.capacity["nvidia.com/gpu"] == "2"
    assert registration.machine.allocatable["nvidia.com/gpu"] == "1"


def test_the_node_says_at_its_next_renewal_that_a_gpu_has_failed(tmp_path: Path) -> None:
    async def main() -> None:
        registration = Home(tmp_path, "", gpu(0), gpu(1)).registration
        assert (await registration.ensure())["status"]["allocatable"]["nvidia.com/gpu"] == "2"
        registration.observe_gpus([gpu(1)])
        status = (await registration.ensure())["status"]
        assert (status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]) == ("2", "1")

    asyncio.run(main())


async def first_line(at: Home, name: str) -> str:
    """What a pod says first; it runs before it has said anything."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not (lines := (await at.log(name)).splitlines()):
            await asyncio.sleep(0.05)
    return lines[0]


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_containers_with_a_gpu_see_a_driver_that_is_mounted_apart(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    driver, other = tmp_path_factory.mktemp("driver"), tmp_path_factory.mktemp("other")
    show = f"cat {driver}/lib64/libcuda.so.1 {other}/secret 2>/dev/null; touch {driver}/mine 2>/dev/null || echo kept"

    async def main() -> None:
        async with home(tmp_path, gpus=[gpu(0)]) as at:
            limits: Any = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
            at.pod("with", shell(show, **limits), restartPolicy="Never")
            at.pod("without", shell(f"cat {driver}/lib64/libcuda.so.1 2>/dev/null || echo none"), restartPolicy="Never")
            await at.phase("with", "Succeeded")
            await at.phase("without", "Succeeded")
            assert await at.log("with") == "the driver\nkept\n"
            assert await at.log("without") == "none\n"

    for place in (driver, other):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], check=True)
    try:
        (driver / "lib64").mkdir()
        (driver / "lib64" / "libcuda.so.1").write_text("the driver\n")
        (other / "secret").write_text("of another mount\n")
        asyncio.run(main())
    finally:
        for place in (driver, other):
            subprocess.run(["umount", str(place)], check=True)


def test_a_mount_with_a_driver_is_not_bound_where_it_holds_what_is_covered(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvidia-smi").write_text("")
    library = tmp_path / "libnvidia-ml.so.1"
    library.write_text("")
    mounts = [MountPoint("1", "/", path, "tmpfs") for path in ("/", "/run/nvidia", str(tmp_path), str(library))]
    view = MachineView((), (), ("/",), layered=True, root=True)
    assert [each.target for each in driver_mounts(view, mounts)] == [str(tmp_path), str(library)]
    hiding = view._replace(data=(str(tmp_path / "bin"),))
    assert [each.target for each in driver_mounts(hiding, mounts)] == [str(library)]


@needs_sandbox
def test_containers_see_their_own_gpus_and_no_others(tmp_path: Path) -> None:
    show = 'echo "[$NVIDIA_VISIBLE_DEVICES] [$CUDA_VISIBLE_DEVICES]"; ls /dev | grep -c nvidia || true'

    async def main() -> None:
        async with home(tmp_path, gpus=[gpu(0), gpu(1)]) as at:
            node = at.registry.get(at.registry.resource("v1", "Node"), "", "here")
            assert node["status"]["allocatable"]["nvidia.com/gpu"] == "2"
            assert node["metadata"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-H200"
            one: Any = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
            at.pod("one", shell(f"{show}; sleep 1000", **one), initContainers=[shell(show, "prepare", **one)])
            at.pod("two", shell(f"{show}; sleep 1000", **one))
            greedy = [{"name": "CUDA_VISIBLE_DEVICES", "value": "GPU-0"}]
            at.pod("none", shell(f"{show}; true", env=greedy), restartPolicy="Never")
            await at.phase("one", "Running")
            await at.phase("two", "Running")
            await at.phase("none", "Succeeded")
            assert await at.log("none") == "[void] []\n0\n"
            said = {await first_line(at, name) for name in ("one", "two")}
            assert said == {"[GPU-0] [GPU-0]", "[GPU-1] [GPU-1]"}

    asyncio.run(main())
