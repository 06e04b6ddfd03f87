"""The parent watchdog of a child process: it reads its config from standard input, and ends when the parent does.

A parent that is killed cannot stop its children, and an API server without a parent would hold port and data. On
Linux the kernel kills the child at once; elsewhere the child ends when its standard input closes. Either way no write
that was answered is lost.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
from typing import Any, Final

__all__ = ["end_with_parent", "read_config"]

# How long a child that lost its parent may take to stop after SIGTERM.
_STOP_SECONDS: Final = 3.0
_PR_SET_PDEATHSIG: Final = 1


def read_config() -> dict[str, Any]:
    """The config that the parent writes as one line of JSON. Starts the watchdog."""
    config: dict[str, Any] = json.loads(sys.stdin.buffer.readline() or b"null") or _orphaned()
    threading.Thread(target=_watch_parent, name="parent-watchdog", daemon=True).start()
    return config


def end_with_parent() -> None:
    """Have the kernel end this process with its parent, where it can. The first thing a child does."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # For a parent that died before this call the kernel sends nothing, but the pipe is closed.
    pipe = select.poll()
    pipe.register(0, 0)
    if any(event & select.POLLHUP for _, event in pipe.poll(0)):
        os._exit(1)


def _watch_parent() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_SECONDS)
    os._exit(1)


def _orphaned() -> dict[str, Any]:
    """Exit: the parent died before it wrote a config."""
    raise SystemExit(1)
