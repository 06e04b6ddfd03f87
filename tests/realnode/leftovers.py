"""What a host has on it: mounts, processes, links, control groups and files, to be compared before and after."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mooring.agents.host.root_folder import RootFolder
from tests.realnode.agent import command_line
from tests.realnode.network import HostNetwork, run

__all__ = ["Inventory", "inventory", "outside_files"]

_SHOWN = 8
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OUTSIDE = tuple(map(Path, ("/var/lib/cni", "/run/containerd/s", "/var/lib/kubelet", "/var/log/pods")))


class Inventory(NamedTuple):
    mounts: frozenset[str]
    processes: frozenset[str]
    links: frozenset[str]
    control_groups: frozenset[str]
    files: frozenset[str]

    def shown(self) -> str:
        """A line for each part, for the log of a test; of many, the first few."""
        return "\n".join(
            f"  {part}: {len(found)}: {', '.join(sorted(found)[:_SHOWN])}" for part, found in self._asdict().items()
        )


def inventory(root: Path, network: HostNetwork) -> Inventory:
    """`root` is the agent's folder: mounts and processes are the host's if they have to do with it or its network."""
    return Inventory(
        mounts=frozenset(_mounts(root)),
        processes=frozenset(_processes(root, network)),
        links=frozenset(_links(network)),
        control_groups=frozenset(_control_groups(root)),
        files=frozenset(_files(root)),
    )


def _mounts(root: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    places = [line.split()[4] for line in lines]
    return [place for place in places if place.startswith((str(root), "/run/netns/cni-"))]


def _processes(root: Path, network: HostNetwork) -> list[str]:
    """Whatever runs in the network of the host, and whatever has its folder in its command line, but for the agent."""
    own = Path(f"/run/netns/{network.namespace}").stat().st_ino
    found = []
    for entry in Path("/proc").iterdir():
        line = command_line(entry) if entry.name.isdecimal() else b""
        words = [word.decode(errors="replace") for word in line.split(b"\0") if word]
        if not words or "agent" in words[:5]:
            continue
        if _network_of(entry) == own or any(str(root) in word for word in words):
            found.append(" ".join([Path(words[0]).name, *words[1:3]]))
    return found


def _network_of(process: Path) -> int:
    try:
        return (process / "ns" / "net").stat().st_ino
    except OSError:
        return 0


def _links(network: HostNetwork) -> list[str]:
    lines = run(*network.inside("ip", "-oneline", "link")).splitlines()
    rules = run(*network.inside("ip", "-oneline", "addr")).splitlines()
    routes = run(*network.inside("ip", "route")).splitlines()
    return [
        *(line.split(": ")[1].split("@")[0] for line in lines),
        *(f"{line.split()[1]} {line.split()[3]}" for line in rules if " inet " in line),
        *(f"route {line.strip()}" for line in routes),
    ]


def _control_groups(root: Path) -> list[str]:
    name = RootFolder(root).control_group.lstrip("/")
    return [str(path) for group in _CONTROL_GROUPS.glob(f"*/{name}") for path in (group, *group.rglob("*/"))]


def _files(root: Path) -> list[str]:
    """What lies in the agent's folder beside what the agent keeps, and outside of it."""
    own = [str(path.relative_to(root)) for path in root.iterdir() if path.name != "agent"] if root.exists() else []
    return [*own, *map(str, outside_files())]


def outside_files() -> set[Path]:
    """What CNI, containerd and kubelets leave where nobody can tell them to leave it elsewhere."""
    folders = [folder for folder in _OUTSIDE if folder.is_dir()]
    return {path for folder in folders for path in (folder, *folder.rglob("*"))}
