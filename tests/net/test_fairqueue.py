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


def test_long_work_takes_one_slice_a_turn_whether_it_is_a_task_or_not() -> None:
    async def story() -> list[str]:
        queue, begun = FairQueue(slice_seconds=10), list[str]()

        async def long_work(name: str) -> None:
            for _ in range(5):
                await queue.turn(b"lister")
                begun.append(name)

        tasks = [asyncio.create_task(long_work(name)) for name in ("first", "second", "third")]
        await asyncio.sleep(0)
        queue.enqueue(b"person", partial(begun.append, "person"))
        await asyncio.gather(*tasks)
        return begun

    begun = asyncio.run(story())
    assert begun.index("person") <= 1
    assert sorted(begun) == ["first"] * 5 + ["person"] + ["second"] * 5 + ["third"] * 5


def test_a_person_who_comes_later_waits_for_one_slice() -> None:
    async def story() -> int:
        queue, slices = FairQueue(slice_seconds=10), list[int]()
        came: list[int] = []

        async def long_work() -> None:
            for number in range(50):
                await queue.turn(b"lister")
                slices.append(number)

        tasks = [asyncio.create_task(long_work()) for _ in range(20)]
        while len(slices) < 100:
            await asyncio.sleep(0)
        before = len(slices)
        queue.enqueue(b"person", lambda: came.append(len(slices)))
        await asyncio.gather(*tasks)
        return came[0] - before

    assert asyncio.run(story()) <= 2


def test_the_loop_sees_to_its_sockets_after_every_slice_of_a_task() -> None:
    async def story() -> list[int]:
        queue, rounds = FairQueue(slice_seconds=10), list[int]()
        now = 0

        async def long_work() -> None:
            for _ in range(5):
                await queue.turn(b"lister")
                rounds.append(now)

        tasks = [asyncio.create_task(long_work()) for _ in range(20)]
        while not all(task.done() for task in tasks):
            now += 1
            await asyncio.sleep(0)
        return rounds

    rounds = asyncio.run(story())
    assert len(rounds) == 100
    assert max(rounds.count(each) for each in rounds) <= 2
