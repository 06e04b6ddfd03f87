"""What ties a child process to its parent: it is told what to do through its standard input, and ends when that closes.

A parent that is killed cannot stop its children, and a server that nobody watches over would hold port and data. On
Linux the kernel sees to it at once; elsewhere the child does so itself. Either way nothing that was answered is lost.
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

__all__ = ["end_with_parent", "take_orders"]

# How long a child that lost its parent may take to end in good order.
_GRACE: Final = 3.0
_PR_SET_PDEATHSIG: Final = 1


def take_orders() -> dict[str, Any]:
    """The orders that the parent writes, as one line of JSON, once it does. From then on its end is noticed."""
    orders: dict[str, Any] = json.loads(sys.stdin.buffer.readline() or b"null") or _orphaned()
    threading.Thread(target=_hold, name="lifeline", daemon=True).start()
    return orders


def end_with_parent() -> None:
    """Have the kernel end this process with its parent, where it can. The first thing a child does."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # Of a parent that died before this the kernel says nothing, but its end of the pipe is closed.
    pipe = select.poll()
    pipe.register(0, 0)
    if any(event & select.POLLHUP for _, event in pipe.poll(0)):
        os._exit(1)


def _hold() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(1)


def _orphaned() -> dict[str, Any]:
    """No orders came: the parent died before it could give them."""
    raise SystemExit(1)
