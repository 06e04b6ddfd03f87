"""Terminals of containers and of commands beside them."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

__all__ = ["TERMINAL_VARIABLES", "in_terminal", "resize", "terminal_pair"]

# What programs take for granted in a terminal; the container's own variables stand over it.
TERMINAL_VARIABLES: Final = {"TERM": "xterm"}


def terminal_pair() -> tuple[int, int]:
    """The master and the slave side of a new terminal."""
    return os.openpty()


def in_terminal(command: Sequence[str]) -> list[str]:
    """A command that has its standard input as its controlling terminal, as shells need for job control.

    The session is made inside: one from outside has no number in the process numbering of a sandbox.
    """
    return ["setsid", "--ctty", "--wait", *command]


def resize(descriptor: int, width: int, height: int) -> None:
    with suppress(OSError, struct.error):
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
