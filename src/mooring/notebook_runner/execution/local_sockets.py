"""Sockets of the file system between the runner and its kernel, in place of ports.

A port is looked for before the kernel opens it, and somebody else may be quicker: on a node whose pods share the
network of the machine, one run of many would fail for it. Whoever reaches a port may also try to talk to it.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["use_local_sockets"]

# Of the path of a socket the kernel of the system takes 107 bytes; the number of the socket is behind it.
_MAX_PATH_BYTES: Final = 100


def use_local_sockets(manager: Any, folder: str) -> None:
    """Only for the kernels of ipykernel: others know ports alone. `folder` is for the user of the runner alone."""
    path = f"{folder}/kernel"
    is_known = any("ipykernel" in word for word in manager.kernel_spec.argv)
    if is_known and len(path.encode()) <= _MAX_PATH_BYTES:
        manager.transport, manager.ip = "ipc", path
