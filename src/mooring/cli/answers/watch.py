"""`explain --watch`: answers again whenever the answer becomes another one, until it is interrupted.

Nothing is polled. Watches tell of changes; these are left to come together for a moment, and after an answer that took
long there is a pause. An answer that is the same as the last one is not shown.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any, Final

from mooring.cli.answers.answer import Question, ShownAnswer
from mooring.cli.answers.display import AnswerDisplay
from mooring.cli.errors import ERROR
from mooring.cli.render.page import TextPage
from mooring.cli.sources.followed_source import FollowedKinds
from mooring.client.http import HttpTransport
from mooring.kube.errors import MooringError
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["watch_answers"]

# How long changes come together before the next answer, and how long answers rest, as a multiple of what one takes.
PAUSE_SECONDS: Final = 0.5
PAUSE_FACTOR: Final = 3.0


async def watch_answers(
    transport: HttpTransport,
    namespace: str,
    asked: Question,
    answer: Callable[[ClusterSource, Question], ShownAnswer],
    display: AnswerDisplay,
) -> int:
    """Returns the exit code of the last answer."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    followed = FollowedKinds(transport, asked.target)
    following = asyncio.ensure_future(followed.run())
    stopping = asyncio.ensure_future(stop.wait())

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    code = 0
    try:
        await _first(stopping, following, followed.complete())
        while not stop.is_set():
            began = loop.time()
            source = followed.source(namespace, run)
            try:
                made = await asyncio.to_thread(answer, source, asked)
            except MooringError as error:
                if display.is_empty:
                    raise
                # What was asked about is gone; it may come again.
                made = _failed(str(error))
            if not stop.is_set():
                display.show(made)
                code = made.exit_code
            ended = loop.time()
            await _first(stopping, following, followed.changed.wait())
            rest = ended + PAUSE_FACTOR * (ended - began) - loop.time()
            await _first(stopping, following, asyncio.sleep(max(PAUSE_SECONDS, rest)))
    finally:
        for task in (stopping, following):
            task.cancel()
        await asyncio.gather(stopping, following, return_exceptions=True)
        await transport.close()
    return code


def _failed(problem: str) -> ShownAnswer:
    page = TextPage()
    page.line(f"error: {problem}", "bad")
    return ShownAnswer(lambda: page, lambda: {"error": problem}, ERROR)


async def _first(stopping: asyncio.Future[Any], following: asyncio.Future[Any], work: Any) -> None:
    """Wait for some work, or for the end. An error of either is raised."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait((stopping, following, task), return_when=asyncio.FIRST_COMPLETED)
    if task not in done:
        task.cancel()
    for each in (following, task):
        if each in done:
            each.result()
