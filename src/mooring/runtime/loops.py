"""Starts the event loop of a process that keeps a cluster in view: the fast one where it is installed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """What `asyncio.run` does."""
    # Views live long and form no circles. Looking for some in a million of them after every few hundred new ones took a
    # third of the time in which a cluster is taken in.
    gc.set_threshold(50_000, 20, 20)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(main)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
