"""The folder of an agent, --root: everything that it writes lies below.

`agent/` is the agent's own and stays. `node/` belongs to one claim and goes with it, whatever is in it by then.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mooring.kube.errors import InputError
from mooring.nodes.process.containers.proc import mark_of

__all__ = ["MARK_VARIABLE", "RootFolder"]

# What every process that the agent starts has in its environment, with the mark of the folder.
MARK_VARIABLE: Final = "MOORING_HOST_AGENT"
# The path of a socket has at most 107 bytes, and containerd's is the longest below the folder.
_LONGEST_SOCKET_PATH_BYTES: Final = 107


@dataclass(frozen=True)
class RootFolder:
    path: Path

    def prepare(self) -> None:
        """Make what is kept between claims. Raises InputError for a folder that cannot be used."""
        if len(str(self.kubelet / "pod-resources" / "kubelet.sock").encode()) > _LONGEST_SOCKET_PATH_BYTES:
            raise InputError(
                f"--root {self.path} is too long for the sockets below it; take one of 60 characters or less"
            )
        for folder in (self.path, self.agent):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"--root {self.path}: {folder} cannot be made: {error.strerror}") from None

    @property
    def mark(self) -> str:
        return mark_of(self.path)

    @property
    def short_mark(self) -> str:
        """For names that the kernel keeps short, such as those of links."""
        return hashlib.sha256(str(self.path.absolute()).encode()).hexdigest()[:8]

    # What is the agent's

    @property
    def agent(self) -> Path:
        return self.path / "agent"

    @property
    def journal(self) -> Path:
        return self.agent / "journal.json"

    @property
    def lock(self) -> Path:
        return self.agent / "lock"

    @property
    def kubeconfig(self) -> Path:
        """With which the agent comes in, once it has a certificate of its own."""
        return self.agent / "config"

    @property
    def new_key(self) -> Path:
        """The key of a certificate that is asked for and not issued yet."""
        return self.agent / "byoh-client.key.tmp"

    @property
    def bundles(self) -> Path:
        return self.path / "bundles"

    # What belongs to a claim

    @property
    def node(self) -> Path:
        return self.path / "node"

    @property
    def scripts(self) -> Path:
        return self.node / "scripts"

    @property
    def services(self) -> Path:
        """One record for each service that runs: its process number and when it started."""
        return self.node / "services"

    @property
    def logs(self) -> Path:
        return self.node / "log"

    @property
    def etc(self) -> Path:
        return self.node / "etc"

    @property
    def bootstrap_kubeconfig(self) -> Path:
        return self.etc / "bootstrap-kubeconfig"

    @property
    def kubelet(self) -> Path:
        return self.node / "kubelet"

    @property
    def kubelet_kubeconfig(self) -> Path:
        return self.etc / "kubelet.kubeconfig"

    @property
    def containerd(self) -> Path:
        return self.node / "containerd"

    @property
    def containerd_state(self) -> Path:
        return self.node / "run" / "containerd"

    @property
    def containerd_socket(self) -> Path:
        return self.node / "run" / "containerd.sock"

    @property
    def images_imported(self) -> Path:
        return self.containerd / "images-imported"

    @property
    def network_configuration(self) -> Path:
        return self.etc / "cni"

    @property
    def bridge(self) -> str:
        return f"moor{self.short_mark}"

    @property
    def network_name(self) -> str:
        return f"mooring-{self.short_mark}"

    @property
    def control_group(self) -> str:
        return f"/mooring-{self.short_mark}"
