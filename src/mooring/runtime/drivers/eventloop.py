"""Starts the event loop of a process that keeps a cluster in view: the fast one where it is installed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# How uvloop ends its complaint about a connection that is closed on this side; it has no error of its own for that.
_GIVEN_UP = "the handler is closed"


def run(main: Coroutine[Any, Any, T]) -> T:
    """What `asyncio.run` does."""
    # Views live long and form no circles. Looking for some in a million of them after every few hundred new ones took a
    # third of the time in which a cluster is taken in.
    gc.set_threshold(50_000, 20, 20)
    # What was loaded stays.
    gc.freeze()
    gc.enable()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.get_loop().set_exception_handler(_note)
        return runner.run(main)


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Errors that no task awaits. Data for a connection that was just closed is not one of them."""
    if _GIVEN_UP in str(context.get("exception")):
        return
    loop.default_exception_handler(context)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
