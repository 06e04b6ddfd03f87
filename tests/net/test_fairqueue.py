"""Who is seen to next: one of everybody's requests in each turn."""

from __future__ import annotations

import asyncio
from functools import partial

from mooring.net.fairqueue import FairQueue


def test_the_lines_of_different_people_take_turns() -> None:
    async def story() -> list[str]:
        queue, begun = FairQueue(), list[str]()
        for number in range(4):
            queue.enqueue(b"controllers", partial(begun.append, f"c{number}"))
        queue.enqueue(b"person", partial(begun.append, "p0"))
        while queue.waiting():
            await asyncio.sleep(0)
        return begun

    assert asyncio.run(story()) == ["c0", "p0", "c1", "c2", "c3"]


def test_who_comes_during_a_burst_does_not_wait_for_its_end() -> None:
    async def story() -> list[str]:
        queue, begun = FairQueue(slice_seconds=0), list[str]()
        for number in range(50):
            queue.enqueue(b"controllers", partial(begun.append, f"c{number}"))
        await asyncio.sleep(0)
        queue.enqueue(b"person", partial(begun.append, "p"))
        while queue.waiting():
            await asyncio.sleep(0)
        return begun

    assert asyncio.run(story()).index("p") <= 3


def test_a_request_that_brings_the_next_one_of_its_line_does_not_keep_others_waiting() -> None:
    async def story() -> list[str]:
        queue, begun = FairQueue(slice_seconds=0), list[str]()

        def again() -> None:
            begun.append("c")
            if len(begun) < 20:
                queue.enqueue(b"controllers", again)

        queue.enqueue(b"controllers", again)
        queue.enqueue(b"person", partial(begun.append, "p"))
        while queue.waiting():
            await asyncio.sleep(0)
        return begun

    assert asyncio.run(story())[:3] == ["c", "p", "c"]
