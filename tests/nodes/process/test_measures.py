"""What is measured of a machine and its containers, and how a running container gets other limits: all numbers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process import machine_info, usage
from mooring.nodes.process.containers import limits
from mooring.nodes.process.containers.limits import LimitRefused, changed_limits
from mooring.nodes.process.gpus import Gpu
from mooring.nodes.process.machine_info import MachineInfo
from mooring.nodes.process.usage import RunningContainer, UsageSampler
from tests.support.virtual_time import clock, in_virtual_time

GIB = 1 << 30
STAMP = "2026-01-01T00:00:00Z"


# Usage


class Machine:
    """Files of /proc by path, a clock, and processes with their children."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: dict[str, str] = {}
        self.children: dict[int, list[int]] = {}
        monkeypatch.setattr(usage, "Path", lambda path: SimpleNamespace(read_text=lambda: self.read(path)))
        monkeypatch.setattr(usage, "_TICKS", 100)
        monkeypatch.setattr(usage, "time", SimpleNamespace(monotonic=clock))
        monkeypatch.setattr(usage, "family", lambda pid: [pid, *self.children.get(pid, ())])
        monkeypatch.setattr(usage, "held_by", lambda pids: sum(pids) * 1000)
        monkeypatch.setattr("mooring.nodes.process.usage.asyncio.to_thread", at_once)
        self.used(0)

    def read(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def used(self, seconds: int) -> None:
        """Ten times as much by the machine as by process 7, and half of that by its child 8."""
        ticks = seconds * 100
        self.files["/proc/stat"] = (
            f"cpu  {ticks * 4} {ticks} {ticks} 99{ticks} 98{ticks} {ticks} {ticks} {ticks * 2} 5 6\ncpu0 1\n"
        )
        before = "S 1 1 1 0 -1 0 0 0 0 0"
        self.files["/proc/7/stat"] = f"7 (odd) name) {before} {ticks // 4} {ticks // 4} {ticks // 4} {ticks // 4} 20 0"
        self.files["/proc/8/stat"] = f"8 (x) {before} {ticks // 2} 0 0 0 20 0"
        self.files["/proc/meminfo"] = "MemTotal:  5000 kB\nMemFree: 1 kB\nMemAvailable:   2000 kB\n"


async def at_once(work: Any, *arguments: Any) -> Any:
    return work(*arguments)


def cpu(cores: float, total: float, memory: int) -> Object:
    return {
        "cpu": {"time": STAMP, "usageNanoCores": int(cores * 10**9), "usageCoreNanoSeconds": int(total * 10**9)},
        "memory": {"time": STAMP, "workingSetBytes": memory},
    }


WEB = RunningContainer("shop", "web", "u1", "main", 7)
SIDE = WEB._replace(name="side", pid=8)
OTHER = RunningContainer("shop", "other", "u2", "main", 9)
PODS = {each.uid: {"name": each.pod, "namespace": "shop", "uid": each.uid} for each in (WEB, OTHER)}


def test_a_summary_has_rates_sums_and_memory_of_every_container_and_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(monkeypatch)
    machine.children[7] = [8]
    running = [WEB, SIDE]

    async def story() -> None:
        sampler = UsageSampler(lambda: running, lambda: datetime(2026, 1, 1, tzinfo=UTC))
        first = await sampler.summary("here")
        # The first look has nothing to compare with, so that a second one is taken.
        assert clock() == 1
        machine_now = {"nodeName": "here", **cpu(0, 0, 3000 * 1024)}
        assert first["node"] == machine_now
        assert first["pods"] == [
            {
                "podRef": PODS["u1"],
                "containers": [{"name": "main", **cpu(0, 0, 15000)}, {"name": "side", **cpu(0, 0, 8000)}],
            }
        ]
        await asyncio.sleep(4)
        machine.used(8)
        running.append(OTHER)
        second = await sampler.summary("here")
        # Five seconds after the first look, whichever was in between.
        assert clock() == 5
        assert second["node"] == {"nodeName": "here", **cpu(16, 80, 3000 * 1024)}
        assert second["pods"] == [
            {
                "podRef": PODS["u1"],
                "containers": [{"name": "main", **cpu(2.4, 12, 15000)}, {"name": "side", **cpu(0.8, 4, 8000)}],
            },
            {"podRef": PODS["u2"], "containers": [{"name": "main", **cpu(0, 0, 9000)}]},
        ]
        # Counters that were set back are no negative rate.
        await asyncio.sleep(30)
        machine.used(3)
        third = await sampler.summary("here")
        assert clock() == 35
        assert third["node"] == {"nodeName": "here", **cpu(0, 30, 3000 * 1024)}
        assert third["pods"][0]["containers"][1] == {"name": "side", **cpu(0, 1.5, 8000)}
        # A look that is older than half a minute says nothing of now.
        await asyncio.sleep(31)
        machine.used(4)
        assert (await sampler.summary("here"))["node"]["cpu"]["usageNanoCores"] == 0
        assert clock() == 67

    in_virtual_time(story())


def test_a_container_that_starts_during_the_looks_waits_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch)
    looks = iter([[WEB], [WEB], [WEB, OTHER]])
    found = in_virtual_time(UsageSampler(lambda: next(looks), lambda: datetime(2026, 1, 1, tzinfo=UTC)).summary("here"))
    assert [each["podRef"]["name"] for each in found["pods"]] == ["web"]


@pytest.mark.parametrize("text", ["", "MemTotal: x kB\n", "MemTotal: 5 kB\n", "odd\n"])
def test_a_kernel_that_tells_nothing_is_measured_as_nothing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    machine = Machine(monkeypatch)
    machine.files = {"/proc/meminfo": text, "/proc/7/stat": text, "/proc/stat": text}
    found = in_virtual_time(UsageSampler(lambda: [WEB], lambda: datetime(2026, 1, 1, tzinfo=UTC)).summary("here"))
    assert found["node"] == {"nodeName": "here", **cpu(0, 0, 0)}
    assert found["pods"][0]["containers"] == [{"name": "main", **cpu(0, 0, 7000)}]


# The machine


def info(**fields: Any) -> MachineInfo:
    return MachineInfo("n", "192.0.2.7", 4, 8 * GIB + 1023, "amd64", "linux", "6.1", "Debian", "m", "b", **fields)


def test_a_machine_offers_what_it_has_but_for_broken_gpus_and_a_tenth_of_its_disk() -> None:
    bare = {"cpu": "4", "memory": f"{8 << 20}Ki", "pods": "110"}
    assert info().capacity == info().allocatable == bare
    gpu = Gpu(0, "GPU-1", "H200", 1, "5", 0)
    full = info(storage=100 * 1024 + 1000, gpus=(gpu, gpu, gpu), broken_gpus=1)
    assert full.capacity == {**bare, "ephemeral-storage": "100Ki", "nvidia.com/gpu": "3"}
    assert full.allocatable == {**bare, "ephemeral-storage": str(int(103400 * 0.9)), "nvidia.com/gpu": "2"}


def test_a_machine_is_read_from_its_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = {"/etc/machine-id": "machine\n", "/proc/sys/kernel/random/boot_id": "boot\n"}
    for path, text in read.items():
        (tmp_path / path.replace("/", "-")).write_text(text)
    monkeypatch.setattr(machine_info, "Path", lambda path: tmp_path / path.replace("/", "-"))
    for name, value in {
        "os.sched_getaffinity": lambda pid: {0, 2, 5} if pid == 0 else set(),
        "os.sysconf": {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__,
        "socket.gethostname": lambda: "My_Box",
        "platform.machine": lambda: "aarch64",
        "platform.system": lambda: "Linux",
        "platform.release": lambda: "6.1",
        "platform.freedesktop_os_release": lambda: {"PRETTY_NAME": "Debian 12"},
    }.items():
        monkeypatch.setattr(name, value)
    monkeypatch.setattr(machine_info, "_address", lambda: "192.0.2.7")
    found = machine_info.machine_info()
    expected = ("my-box", "192.0.2.7", 3, 4096000, "arm64", "linux", "6.1", "Debian 12", "machine", "boot")
    assert found == MachineInfo(*expected)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setattr("platform.freedesktop_os_release", dict)
    for each in tmp_path.iterdir():
        each.unlink()
    odd = machine_info.machine_info()
    assert (odd.architecture, odd.image, odd.machine_id, odd.boot_id) == ("riscv64", "Linux", "", "")

    def none() -> dict[str, str]:
        raise FileNotFoundError

    monkeypatch.setattr("platform.freedesktop_os_release", none)
    monkeypatch.setattr("platform.system", lambda: "Other")
    assert machine_info.machine_info().image == "Other"


# Limits


class Group:
    def __init__(self, used: int | None) -> None:
        self.used = used
        self.entered: list[list[int]] = []

    def memory_used(self) -> int | None:
        return self.used

    def enter(self, pids: list[int]) -> None:
        self.entered.append(list(pids))


class Kernel:
    """Processes, of which another is there at each look, and what was asked for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, used: int = 0, group: Group | None = None) -> None:
        self.looks, self.group, self.used = 0, group, used
        self.asked: list[Any] = []
        monkeypatch.setattr(limits, "family", self.family)
        monkeypatch.setattr(limits, "memory_of", self.memory_of)
        monkeypatch.setattr(limits, "resource", SimpleNamespace(prlimit=self.prlimit, RLIMIT_DATA="data"))

    def family(self, pid: int) -> list[int]:
        self.looks += 1
        return [pid, *range(20, 20 + self.looks)]

    def memory_of(self, pids: list[int], limit: int) -> int:
        self.asked.append(["of", list(pids), limit])
        return self.used

    def prlimit(self, pid: int, what: str, most: tuple[int, int]) -> None:
        self.asked.append([pid, what, most])
        if pid == 7:
            raise ProcessLookupError

    def make(self, container: str, *, memory: int | None, cpu_milli: int | None) -> Group | None:
        self.asked.append(["make", container, memory, cpu_milli])
        return self.group


def changed(kernel: Kernel, order: Any, memory: int | None, cpu: int | None = 500) -> Any:
    groups: Any = kernel
    return changed_limits(order, groups, 7, "main", memory=memory, cpu=cpu)


def order(monkeypatch: pytest.MonkeyPatch, *, watched: bool, memory: int | None, group: Any = None) -> Any:
    found = SimpleNamespace(id="c1", memory=memory, group=group, watched_memory=None)

    def replaced(of: Any, **fields: Any) -> Any:
        new = SimpleNamespace(**{**vars(of), **fields})
        new.watched_memory = new.memory if watched else None
        return new

    monkeypatch.setattr(limits, "replace", replaced)
    return found


def test_a_container_gets_a_group_with_its_limits_and_all_its_processes_are_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = Group(None)
    kernel = Kernel(monkeypatch, used=GIB - 1, group=group)
    found = changed(kernel, order(monkeypatch, watched=False, memory=2 * GIB), GIB)
    assert kernel.asked == [["of", [7, 20], GIB], ["make", "c1", GIB, 500]]
    assert group.entered == [[7, 20], [7, 20, 21]]
    assert (found.memory, found.group) == (GIB, group)


def test_without_groups_each_process_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(monkeypatch)
    found = changed(kernel, order(monkeypatch, watched=True, memory=GIB), 2 * GIB)
    both = [[pid, "data", (2 * GIB, 2 * GIB)] for pid in (7, 20)]
    assert kernel.asked == [["of", [7, 20], 2 * GIB], ["make", "c1", 2 * GIB, 500], *both]
    assert found.group is None


def test_a_limit_that_stays_is_not_compared_with_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory in (GIB, None):
        kernel = Kernel(monkeypatch, used=9 * GIB)
        changed(kernel, order(monkeypatch, watched=False, memory=GIB), memory, None)
        assert kernel.asked == [["make", "c1", memory, None]]


@pytest.mark.parametrize("counted", [True, False])
def test_a_limit_below_what_is_used_is_refused(monkeypatch: pytest.MonkeyPatch, counted: bool) -> None:
    kernel = Kernel(monkeypatch, used=0 if counted else GIB)
    group = Group(GIB) if counted else None
    with pytest.raises(LimitRefused) as told:
        changed(kernel, order(monkeypatch, watched=False, memory=2 * GIB, group=group), GIB)
    assert str(told.value) == (f'attempting to set container "main" memory limit ({GIB}) below current usage ({GIB})')
    assert ["make", "c1", GIB, 500] not in kernel.asked
