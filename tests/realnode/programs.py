"""Whether this machine can have real nodes: it must be root, and have what `sh scripts/tools.sh kubelet` brings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mooring.testing.fixtures import missing
from mooring.testing.tools import ToolMissing, tool

__all__ = ["CNI_PLUGINS", "kubelet_or_skip"]

CNI_PLUGINS = Path("/usr/lib/cni")
_PACKAGES = {"containerd": "containerd", "runc": "runc", "busybox": "busybox-static", "ip": "iproute2"}


def kubelet_or_skip() -> Path:
    """The kubelet. In CI, what is missing is a failure."""
    try:
        kubelet = tool("kubelet")
    except ToolMissing as error:
        missing(error)
    lacking = [package for program, package in _PACKAGES.items() if shutil.which(program) is None]
    if not (CNI_PLUGINS / "bridge").exists():
        lacking.append("containernetworking-plugins")
    if lacking:
        missing(
            Exception(f"A real node needs {' '.join(lacking)}: `sh scripts/tools.sh kubelet` as root installs them.")
        )
    if os.geteuid() != 0:
        missing(Exception("A real node needs root: network namespaces and mounts are made."))
    return kubelet
