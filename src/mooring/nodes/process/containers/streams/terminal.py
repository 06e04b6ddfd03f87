"""Terminals of containers and of commands beside them."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

__all__ = ["TERMINAL_VARIABLES", "in_terminal", "resize", "terminal_pair"]

# The device numbers of ptmx, and two requests to it that Python has no names for.
_MULTIPLEXER: Final = os.makedev(5, 2)
_SET_LOCK: Final = 0x40045431
_OPEN_PEER: Final = 0x5441
# What programs take for granted in a terminal; the container's own variables stand over it.
TERMINAL_VARIABLES: Final = {"TERM": "xterm"}


def terminal_pair(inside: int | None = None) -> tuple[int, int]:
    """The master and the slave side of a new terminal.

    With the number of a process it is one of that process's own terminals, which has a name there (`tty`).
    """
    if inside is not None:
        with suppress(OSError):
            return _pair_of(f"/proc/{inside}/root/dev/pts/ptmx")
    return os.openpty()


def _pair_of(path: str) -> tuple[int, int]:
    # What lies there is the container's to change, so it is looked at before anything is done with it.
    master = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(master)
        if not stat.S_ISCHR(found.st_mode) or found.st_rdev != _MULTIPLEXER:
            raise OSError(f"{path} is no terminal multiplexer")
        fcntl.ioctl(master, _SET_LOCK, struct.pack("i", 0))
        return master, fcntl.ioctl(master, _OPEN_PEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        os.close(master)
        raise


def in_terminal(command: Sequence[str]) -> list[str]:
    """A command that has its standard input as its controlling terminal, as shells need for job control.

    The session is made inside: one from outside has no number in the process numbering of a sandbox.
    """
    return ["setsid", "--ctty", "--wait", *command]


def resize(descriptor: int, width: int, height: int) -> None:
    with suppress(OSError, struct.error):
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
