"""A thread that asks the loop is always answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Thread

import pytest

from mooring.apiserver.webhooks.off_loop import on_this_loop


def answered(function: Callable[[int], int]) -> Future[int]:
    """What a thread gets that asks for the function of 20, while the loop goes on."""
    found: Future[int] = Future()

    async def story() -> None:
        asked = on_this_loop(function)

        def ask() -> None:
            try:
                found.set_result(asked(20))
            except BaseException as error:
                found.set_exception(error)

        thread = Thread(target=ask, daemon=True)
        thread.start()
        for _ in range(2000):
            if found.done():
                break
            await asyncio.sleep(0.001)
        assert asked(20) == 21 if found.exception(0) is None else True

    asyncio.run(story())
    return found


def refusing(error: BaseException) -> Callable[[int], int]:
    def function(argument: int) -> int:
        raise error

    return function


def test_a_thread_hears_what_the_loop_says() -> None:
    assert answered(lambda argument: argument + 1).result(0) == 21


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError()], ids=["a fault", "a cancellation"])
def test_a_thread_hears_of_whatever_went_wrong(error: BaseException) -> None:
    try:
        assert answered(refusing(error)).exception(0) is error
    except FutureTimeoutError:
        pytest.fail("nobody answers the thread")
