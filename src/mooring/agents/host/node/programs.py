"""The programs of a node: where they are, and which version the kubelet has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from mooring.agents.host.program_output import program_output
from mooring.kube.errors import MooringError

__all__ = ["ProgramMissing", "find_program", "kubelet_version", "search_path"]

REQUIRED: Final = ("containerd", "runc", "kubelet")
_USUAL: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_VERSION_SECONDS: Final = 20.0


class ProgramMissing(MooringError):
    """A program that a node needs is not on this machine, or does not run."""


def search_path(download_path: Path) -> str:
    """What bundles brought comes first, then the agent's own PATH, then the usual places."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([str(download_path / "bin"), *own, *_USUAL]))


def find_program(name: str, path: str) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        places = ", ".join(path.split(os.pathsep))
        raise ProgramMissing(
            f"{name} is not on this machine (looked in {places}); install it, or have an installer do so"
        )
    return found


async def kubelet_version(program: str) -> str:
    """As in v1.35.8."""
    try:
        done = await program_output((program, "--version"), _VERSION_SECONDS)
    except OSError as error:
        raise ProgramMissing(f"{program} --version does not answer: {error}") from None
    if done.code is None:
        raise ProgramMissing(f"{program} --version does not answer: it takes too long")
    words = done.text.split()
    if done.code or not words:
        raise ProgramMissing(f"{program} --version ended with exit code {done.code}: {' '.join(words)}")
    return words[-1]
