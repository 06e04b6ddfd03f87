"""A history of changes: what came after a number, and how far back it reaches."""

from __future__ import annotations

from mooring.runway.rest.mirror.history import NumberedChange, TopicHistory
from mooring.runway.rest.mirror.topic import Topic, TopicSource


def test_it_tells_what_came_after_a_number() -> None:
    history = TopicHistory(10)
    for number in (11, 14, 15):
        history.add(NumberedChange(number, b"x"))
    assert [each.number for each in history.after(11)] == [14, 15]
    assert [each.number for each in history.after(10)] == [11, 14, 15]
    assert history.after(15) == []
    assert history.reaches(10)
    assert not history.reaches(9)


def test_it_forgets_the_oldest_when_there_are_too_many_or_they_are_too_large() -> None:
    history = TopicHistory(0, max_changes=2)
    for number in (1, 2, 3):
        history.add(NumberedChange(number, b"x"))
    assert [each.number for each in history.after(0)] == [2, 3]
    assert (history.reaches(0), history.reaches(1)) == (False, True)
    small = TopicHistory(0, max_bytes=10)
    small.add(NumberedChange(1, b"x" * 8))
    small.add(NumberedChange(2, b"x" * 8))
    assert [each.number for each in small.after(0)] == [2]


def test_a_topic_tells_what_went_before_what_came() -> None:
    """A name that is used again would vanish otherwise."""
    now = {"a": 1, "b": 2}
    changed = ["a", "b"]
    topic = Topic(TopicSource("things", (), lambda: changed, now.get), 0)
    topic.start()
    assert topic.list() == b"[1,2]"
    numbers = iter(range(1, 9))

    def next_id() -> tuple[int, str]:
        number = next(numbers)
        return number, f"e-{number}"

    topic.flush(next_id)
    assert topic.history.after(0) == []
    del now["b"]
    now["c"], now["a"] = 3, 4
    changed.append("c")
    topic.flush(next_id)
    frames = [each.frame.decode() for each in topic.history.after(0)]
    assert [line for frame in frames for line in frame.splitlines() if line.startswith("data")] == [
        'data: {"type":"DELETED","object":2}',
        'data: {"type":"MODIFIED","object":4}',
        'data: {"type":"ADDED","object":3}',
    ]
    assert topic.list() == b"[4,3]"


def test_a_snapshot_has_an_id_at_its_end_only() -> None:
    """Who is cut off in the middle of it must not resume after it."""
    now = {"a": 1, "b": 2}
    topic = Topic(TopicSource("things", (), lambda: list(now), now.get), 0)
    topic.start()
    frames = topic.snapshot("e-7").decode().split("\n\n")
    assert [("id:" in frame) for frame in frames[:-1]] == [False, False, True]
    assert '"RESET"' in frames[0]
    assert "id:" not in topic.snapshot("").decode()
