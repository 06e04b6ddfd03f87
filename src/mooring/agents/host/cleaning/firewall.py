"""Chains of iptables that a kubelet and network plug-ins made, and the commands that remove them."""

from __future__ import annotations

import logging
import shlex
import shutil
import subprocess
from collections.abc import Collection, Sequence
from typing import Final

__all__ = ["list_chains", "parse_chains", "removal_commands", "remove_chains"]

PREFIXES: Final = ("KUBE-", "CNI-")
PROGRAMS: Final = ("iptables", "ip6tables")
_SECONDS: Final = 20.0
_log = logging.getLogger("mooring.agent")


def parse_chains(program: str, saved: str) -> list[str]:
    """Chains of Kubernetes in the output of iptables-save, each as program/table/chain."""
    found, table = [], ""
    for line in saved.splitlines():
        if line.startswith("*"):
            table = line[1:].strip()
        elif line.startswith(":") and (chain := line[1:].split()[0]).startswith(PREFIXES):
            found.append(f"{program}/{table}/{chain}")
    return found


def removal_commands(program: str, saved: str, kept: Collection[str] = ()) -> list[list[str]]:
    """The commands that remove the chains of Kubernetes that are not to be kept, and every rule that leads to one."""
    doomed = {name for name in parse_chains(program, saved) if name not in kept}
    jumps, flushes, removals, table = [], [], [], ""
    for line in saved.splitlines():
        if line.startswith("*"):
            table = line[1:].strip()
        elif line.startswith(":"):
            chain = line[1:].split()[0]
            if f"{program}/{table}/{chain}" in doomed:
                flushes.append([program, "-w", "-t", table, "-F", chain])
                removals.append([program, "-w", "-t", table, "-X", chain])
        elif line.startswith("-A "):
            words = shlex.split(line)
            target = words[words.index("-j") + 1] if "-j" in words else ""
            leaves = f"{program}/{table}/{words[1]}" not in doomed
            if leaves and f"{program}/{table}/{target}" in doomed:
                jumps.append([program, "-w", "-t", table, "-D", *words[1:]])
    return [*jumps, *flushes, *removals]


def list_chains() -> list[str]:
    return [chain for program in PROGRAMS for chain in parse_chains(program, _saved(program))]


def remove_chains(kept: Collection[str]) -> None:
    for program in PROGRAMS:
        for command in removal_commands(program, _saved(program), kept):
            done = _run(command)
            if done is not None and done.returncode:
                _log.warning("%s: %s", " ".join(command), done.stderr.strip())


def _saved(program: str) -> str:
    done = _run([f"{program}-save"])
    return done.stdout if done is not None and done.returncode == 0 else ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    if shutil.which(command[0]) is None:
        return None
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
