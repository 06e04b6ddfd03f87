"""Topics and mirrors: what is told of each change, in which order, under which number, and when."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.runway.rest.mirror import mirror as mirrors
from mooring.runway.rest.mirror.direct_topic import direct_topic
from mooring.runway.rest.mirror.mirror import NOWHERE
from mooring.runway.rest.mirror.topic import Topic, TopicSource, frame
from tests.runway.rest.mirror.things import (
    ONE,
    THING,
    Server,
    is_due,
    mirror,
    play,
    settle,
    thing,
)


def test_what_went_is_told_first_and_by_the_bytes_that_were_there() -> None:
    values: dict[str, Any] = {"a": 1, "b": 2, "c": 3}
    changed = ["c", "a", "b"]
    numbers = iter(range(7, 99))

    def next_id() -> tuple[int, str]:
        number = next(numbers)
        return number, f"x-{number}"

    topic = Topic(TopicSource("things", (), lambda: list(changed), values.get), 6)
    assert topic.list() == b"[]"
    topic.start()
    assert topic.list() == b"[1,2,3]"
    assert topic.list() is topic.list()
    assert topic.history.after(0) == [], "nobody has seen the topic before"
    values.update(a=1, b=20, d=4)
    del values["c"]
    changed[:] = ["a", "b", "d", "c", "never"]
    topic.flush(next_id)
    assert topic.list() == b"[1,20,4]"
    assert [each.number for each in topic.history.after(6)] == [7, 8, 9]
    assert b"".join(each.frame for each in topic.history.after(6)).decode() == (
        'event: things\nid: x-7\ndata: {"type":"DELETED","object":3}\n\n'
        'event: things\nid: x-8\ndata: {"type":"MODIFIED","object":20}\n\n'
        'event: things\nid: x-9\ndata: {"type":"ADDED","object":4}\n\n'
    )
    changed.clear()
    topic.flush(next_id)
    assert next(numbers) == 10, "what did not change has no number"


def test_a_whole_topic_is_a_reset_and_each_element_with_one_id_at_its_end() -> None:
    topic = Topic(TopicSource("t", (), lambda: ["b", "a"], {"a": 1, "b": 2}.get), 0)
    assert topic.snapshot("e-1") == b'id: e-1\nevent: t\ndata: {"type":"RESET"}\n\n'
    topic.start()
    text = (
        'event: t\ndata: {"type":"RESET"}\n\nevent: t\ndata: {"type":"ADDED","object":1}\n\n'
        '%sevent: t\ndata: {"type":"ADDED","object":2}\n\n'
    )
    assert topic.snapshot("e-1").decode() == text % "id: e-1\n"
    assert topic.snapshot("").decode() == text % ""
    assert frame("t", "RESET", None, "e-2") == b'event: t\nid: e-2\ndata: {"type":"RESET"}\n\n'


def test_a_direct_topic_tells_its_changes_in_their_order_and_once() -> None:
    source, told = direct_topic("things", THING)
    assert (source.name, source.required, source.optional, source.custom) == ("things", (), (), (THING,))
    told("b", None, 1)
    told("a", None, 2)
    told("b", 1, 3)
    told("c", None, 4)
    told("c", 4, None)
    told("d", 5, None)
    assert list(source.changed()) == ["b", "a", "c", "d"]
    assert list(source.changed()) == []
    assert [source.element(key) for key in "abcd"] == [2, 3, None, None]


def test_a_cluster_without_a_kind_has_none_of_it_and_one_that_may_not_be_read_is_told() -> None:
    async def story() -> None:
        for error, role, raised in (
            (NotFoundError("none"), "custom", False),
            (ForbiddenError("no"), "custom", True),
            (NotFoundError("none"), "required", True),
            (ForbiddenError("no"), "required", True),
            (NotFoundError("none"), "optional", False),
            (ForbiddenError("no"), "optional", False),
        ):
            found = mirror(Server(error=error), THING, **{role: (THING,)})
            if raised:
                with pytest.raises(type(error)):
                    await found.topic("things")
                assert found.names == frozenset(), role
            else:
                assert (await found.topic("things")).list() == b"[]", role
                assert found.names == ONE
            assert [each.followed for each in found.kinds_of(ONE)] == [THING], role
            await found.close()
            assert all(each._task.done() for each in found.followers.values())

    play(story)


def test_changes_are_numbered_and_told_at_the_next_flush_or_when_somebody_asks() -> None:
    async def story() -> None:
        server = Server(thing("a", 1))
        found = mirror(server, THING)
        topic = await found.topic("things")
        assert await found.topic("things") is topic
        frames, position = found.after(ONE, NOWHERE)
        assert (frames.count(b"RESET"), position) == (1, 0)
        assert frames.endswith(b'"object":1}\n\n')
        own = f"id: {found._epoch}-0\n".encode()
        assert own in frames
        news = asyncio.Event()
        found.listeners.add(news)
        await settle()
        await server.tell(("MODIFIED", thing("a", 2)))
        assert not news.is_set()
        assert is_due(found)
        due = found._flush_due
        await found.topic("things")
        assert news.is_set(), "who asks anew sees all, and the others are told then too"
        assert due is not None
        assert due.cancelled()
        assert not is_due(found)
        assert found.after(ONE, 0) == (
            f'event: things\nid: {found._epoch}-1\ndata: {{"type":"MODIFIED","object":2}}\n\n'.encode(),
            1,
        )
        assert found.after(ONE, 1) == (b"", 1)
        for last_id, place in (
            (f"{found._epoch}-1", 1),
            (f"{found._epoch}-0", 0),
            (f"{found._epoch}-2", NOWHERE),
            (f"{found._epoch}-", NOWHERE),
            (f"{found._epoch}-²", NOWHERE),
            ("0-1", NOWHERE),
        ):
            assert found.position(last_id) == place, last_id
        news.clear()
        await server.tell(("MODIFIED", thing("a", 2)))
        await found.topic("things")
        assert not news.is_set()
        await server.tell(("MODIFIED", thing("a", 3)))
        waiting = found._flush_due
        await found.close()
        assert waiting is not None
        assert waiting.cancelled()

    play(story)


def test_a_flush_comes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "FLUSH_SECONDS", 0.0)

    async def story() -> None:
        server = Server()
        found = mirror(server, THING)
        await found.topic("things")
        news = asyncio.Event()
        found.listeners.add(news)
        await settle()
        await server.tell(("ADDED", thing("a", 1)))
        await asyncio.wait_for(news.wait(), 5)
        frames, _ = found.after(ONE, 0)
        assert b'"ADDED","object":1' in frames
        assert not is_due(found)
        await found.close()

    play(story)
